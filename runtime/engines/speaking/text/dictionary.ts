import { dictionary as cmu } from 'cmu-pronouncing-dictionary';

/** A sound of ARPABET; vowels end in 0, 1 or 2 for none, the main or another stress. */
export type Phone = string;

/** Words that the dictionary lacks or tells otherwise than most people say them. */
const OWN: Readonly<Record<string, string>> = {
  thirty: 'TH ER1 T IY0', a: 'AH0', 'an': 'AE0 N', the: 'DH AH0', to: 'T AH0', okay: 'OW2 K EY1', app: 'AE1 P', apps: 'AE1 P S', blog: 'B L AO1 G', email: 'IY1 M EY2 L', wifi: 'W AY1 F AY2',
  online: 'AA1 N L AY1 N', offline: 'AO1 F L AY1 N', website: 'W EH1 B S AY2 T', smartphone: 'S M AA1 R T F OW2 N', laptop: 'L AE1 P T AA2 P', download: 'D AW1 N L OW2 D',
  upload: 'AH1 P L OW2 D', login: 'L AO1 G IH2 N', username: 'Y UW1 Z ER0 N EY2 M', dataset: 'D EY1 T AH0 S EH2 T', runtime: 'R AH1 N T AY2 M', chatbot: 'CH AE1 T B AA2 T',
  podcast: 'P AA1 D K AE2 S T', selfie: 'S EH1 L F IY0', google: 'G UW1 G AH0 L', emoji: 'IH0 M OW1 JH IY0', kokoro: 'K OW1 K ER0 OW2', quern: 'K W ER1 N', linux: 'L IH1 N AH0 K S',
  unix: 'Y UW1 N IH0 K S', python: 'P AY1 TH AA2 N', async: 'EY2 S IH1 NG K', byte: 'B AY1 T', regex: 'R EH1 JH EH2 K S', localhost: 'L OW1 K AH0 L HH OW2 S T', config: 'K AA1 N F IH2 G',
  admin: 'AE1 D M IH2 N', auth: 'AO1 TH', cache: 'K AE1 SH', queue: 'K Y UW1', tuple: 'T AH1 P AH0 L', gif: 'G IH1 F', covid: 'K OW1 V IH2 D', yeah: 'Y AE1', hmm: 'HH AH1 M', uh: 'AH1', um: 'AH1 M',
  mm: 'AH1 M', shh: 'SH AH1', ok: 'OW2 K EY1', et: 'EH1 T', cetera: 'S EH1 T ER0 AH0', celsius: 'S EH1 L S IY0 AH0 S', per: 'P ER1', percent: 'P ER0 S EH1 N T', 'oh': 'OW1', hertz: 'HH ER1 T S',
  kelvin: 'K EH1 L V AH0 N', kibibyte: 'K IH1 B IY0 B AY2 T', mebibyte: 'M EH1 B IY0 B AY2 T', gibibyte: 'G IH1 B IY0 B AY2 T', terabyte: 'T EH1 R AH0 B AY2 T', kilobyte: 'K IH1 L AH0 B AY2 T',
}; // biome-ignore format: a table

const split = new Map<string, readonly Phone[]>();

function phones(text: string): readonly Phone[] {
  let found = split.get(text);
  if (!found) {
    found = text.split(' ');
    split.set(text, found);
  }
  return found;
}

/** How a word in lower case is said: its `variant`, counted from 1, or undefined where there is none. */
export function lookUp(word: string, variant = 1): readonly Phone[] | undefined {
  const own = variant === 1 && Object.hasOwn(OWN, word) ? OWN[word] : undefined;
  const name = variant === 1 ? word : `${word}(${variant})`;
  const text = own ?? (Object.hasOwn(cmu, name) ? cmu[name] : undefined);
  return text === undefined ? undefined : phones(text);
}
