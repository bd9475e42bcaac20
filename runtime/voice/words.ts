/** What somebody says who listens: no reason to fall silent. */
const BACK_CHANNEL: ReadonlySet<string> = new Set([
  ...['uh huh', 'uhhuh', 'uh', 'huh', 'mm', 'mmm', 'mhm', 'mm hmm', 'mmhmm', 'hm', 'hmm', 'hmmm', 'um', 'ah', 'aha', 'oh', 'ooh', 'er'],
  ...[
    'yeah',
    'yes',
    'yep',
    'yup',
    'ok',
    'okay',
    'right',
    'sure',
    'i see',
    'got it',
    'really',
    'wow',
    'cool',
    'nice',
    'great',
    'good',
    'true',
  ],
]);
/** What somebody says who wants silence and no answer. */
const STOP: ReadonlySet<string> = new Set([
  ...['stop', 'stop it', 'stop that', 'stop talking', 'please stop', 'stop please', 'be quiet', 'quiet', 'silence', 'shut up', 'hush'],
  ...['enough', 'that is enough', "that's enough", 'cancel', 'never mind', 'nevermind', 'pause', 'ok stop', 'okay stop', 'no stop'],
]);
/** What a recogniser writes for sounds that are no words. */
const ANNOTATION = /\[[^\]]{0,80}\]|\([^)]{0,80}\)|\*[^*]{0,80}\*|[♪♫]+/g;

/** A transcript without what stands for music, noise and silence in it. */
export function wordsOf(transcript: string): string {
  const text = transcript.replace(ANNOTATION, ' ').replace(/\s+/g, ' ').trim();
  return /[\p{L}\p{N}]/u.test(text) ? text : '';
}

/** Whether all that was said only shows that somebody listens. */
export function isBackChannel(text: string): boolean {
  return consistsOf(plain(text), BACK_CHANNEL);
}

/** Whether what was said only asks for silence. */
export function isStop(text: string): boolean {
  return consistsOf(plain(text), STOP);
}

/** Whether a text is one of the phrases, or some of them in a row. */
function consistsOf(text: string, phrases: ReadonlySet<string>): boolean {
  if (text === '' || text.length > 60) return false;
  if (phrases.has(text)) return true;
  const words = text.split(' ');
  for (let count = words.length - 1; count > 0; count -= 1)
    if (phrases.has(words.slice(0, count).join(' ')) && consistsOf(words.slice(count).join(' '), phrases)) return true;
  return false;
}

function plain(text: string): string {
  return text
    .toLowerCase()
    .replace(/’/g, "'")
    .replace(/[^\p{L}\p{N}']+/gu, ' ')
    .trim();
}
