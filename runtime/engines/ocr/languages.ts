/** What tesseract calls the languages of ISO 639-1; other codes are taken as they are. */
const TESSERACT = new Map(Object.entries({
  en: 'eng', de: 'deu', fr: 'fra', es: 'spa', it: 'ita', pt: 'por', nl: 'nld', ru: 'rus', zh: 'chi_sim', ja: 'jpn', ko: 'kor', ar: 'ara',
  hi: 'hin', pl: 'pol', tr: 'tur', vi: 'vie', th: 'tha', sv: 'swe', da: 'dan', no: 'nor', fi: 'fin', cs: 'ces', el: 'ell', he: 'heb',
  hu: 'hun', id: 'ind', ms: 'msa', ro: 'ron', sk: 'slk', uk: 'ukr',
})); // biome-ignore format: a table

/** Folders of language-dependent recognisers by the code they read, as collections of them are laid out. */
const SCRIPTS = new Map(Object.entries({
  en: 'english', zh: 'chinese', ja: 'chinese', ko: 'korean', ru: 'eslav', uk: 'eslav', el: 'greek', th: 'thai', hi: 'hindi', ar: 'arabic',
  de: 'latin', fr: 'latin', es: 'latin', it: 'latin', pt: 'latin', nl: 'latin', pl: 'latin', tr: 'latin', vi: 'latin', sv: 'latin',
  da: 'latin', no: 'latin', fi: 'latin', cs: 'latin', hu: 'latin', id: 'latin', ms: 'latin', ro: 'latin', sk: 'latin',
})); // biome-ignore format: a table

const ISO = new Map([...TESSERACT].map(([code, name]) => [name, code]));

/** One code for all that a language is called by: `EN` and `eng` are `en`. Codes that are not known stay as they are. */
export function languageCode(given: string): string {
  const code = given.trim();
  const lower = code.toLowerCase();
  return TESSERACT.has(lower) ? lower : (ISO.get(lower) ?? code);
}

/** tesseract's name of a language. */
export function tesseractLanguage(code: string): string {
  return TESSERACT.get(languageCode(code)) ?? code;
}

/** The script by which collections of recognisers name their folders; undefined for a code that is not known. */
export function scriptOf(code: string): string | undefined {
  return SCRIPTS.get(languageCode(code));
}
