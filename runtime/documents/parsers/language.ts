/** Frequent small words by ISO 639-1 code. */
const SMALL_WORDS: Readonly<Record<string, string>> = {
  en: 'the of and to in is that for it with as was on are this be by not from or',
  de: 'der die und das ist nicht von zu mit den ein eine auf für dem sich des auch werden wird',
  fr: 'le la les de et des est un une dans que pour qui pas sur plus par avec ce au',
  es: 'el la los de que y en un una es por con para no las del se su al como',
  it: 'il di che la e in un una per non sono del con della le si da al come nel',
  pt: 'o de que a e do da em um para não uma com os no se na por mais as',
  nl: 'de het een van en in is dat op te voor met niet zijn aan er ook als bij door',
};
const LISTS = Object.entries(SMALL_WORDS).map(([code, words]) => ({ code, words: new Set(words.split(' ')) }));
const LOOKED_AT = 10_000;
const LEAST_SHARE = 0.08;

/** The language of a text by its small words, or by its script; undefined where neither tells. */
export function languageOf(text: string): string | undefined {
  const sample = text.slice(0, LOOKED_AT);
  const letters = sample.match(/\p{L}/gu)?.length ?? 0;
  const share = (script: RegExp): number => (sample.match(script)?.length ?? 0) / Math.max(1, letters);
  if (share(/[\p{Script=Hiragana}\p{Script=Katakana}]/gu) > 0.1) return 'ja';
  if (share(/\p{Script=Hangul}/gu) > 0.3) return 'ko';
  if (share(/\p{Script=Han}/gu) > 0.3) return 'zh';
  const words = sample.toLowerCase().match(/\p{L}+/gu) ?? [];
  const counted = LISTS.map((list) => ({ code: list.code, hits: words.filter((word) => list.words.has(word)).length }));
  const best = counted.reduce((one, other) => (other.hits > one.hits ? other : one));
  return best.hits >= Math.max(2, words.length * LEAST_SHARE) ? best.code : undefined;
}
