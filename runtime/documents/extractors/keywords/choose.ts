/** A phrase with its score. */
export interface Keyword {
  readonly phrase: string;
  readonly score: number;
}

/** A phrase that may become a keyword. */
export interface Candidate extends Keyword {
  /** How often the text has it. */
  readonly count: number;
}

/** What decides among candidates. */
export interface Choice {
  readonly max_keywords: number;
  readonly min_frequency: number;
  readonly deduplication_threshold: number;
}

/** The best candidates that are looked at; comparing them costs the square of their lengths. */
const CONSIDERED = 500;
/** Longest phrase. */
const PHRASE_UNITS = 128;
const DECIMALS = 1e6;

/** Likeness of two texts from 0 to 1: one less Levenshtein's distance over the longer length. */
export function likeness(a: string, b: string): number {
  const longer = Math.max(a.length, b.length);
  if (longer === 0) return 1;
  let above = Uint16Array.from({ length: b.length + 1 }, (_, column) => column);
  let row = new Uint16Array(b.length + 1);
  for (let i = 1; i <= a.length; i += 1) {
    row[0] = i;
    const letter = a.charCodeAt(i - 1);
    for (let j = 1; j <= b.length; j += 1) {
      const replaced = above[j - 1]! + (letter === b.charCodeAt(j - 1) ? 0 : 1);
      row[j] = Math.min(replaced, above[j]! + 1, row[j - 1]! + 1);
    }
    [above, row] = [row, above];
  }
  return 1 - above[b.length]! / longer;
}

function isRepeat(phrase: string, chosen: readonly Keyword[], threshold: number): boolean {
  return chosen.some((one) => {
    const shorter = Math.min(phrase.length, one.phrase.length);
    const longer = Math.max(phrase.length, one.phrase.length);
    return shorter / longer > threshold && likeness(phrase, one.phrase) > threshold;
  });
}

/** The best candidates without those too like a better one; equal scores keep the order of the text. `lowFirst` where low is good. */
export function choose(candidates: Iterable<Candidate>, choice: Choice, lowFirst = false): Keyword[] {
  const sorted = [...candidates]
    .filter((one) => one.count >= choice.min_frequency && one.phrase.length <= PHRASE_UNITS)
    .sort((a, b) => (lowFirst ? a.score - b.score : b.score - a.score))
    .slice(0, CONSIDERED);
  const chosen: Keyword[] = [];
  for (const { phrase, score } of sorted) {
    if (chosen.length === choice.max_keywords) break;
    if (isRepeat(phrase, chosen, choice.deduplication_threshold)) continue;
    chosen.push({ phrase, score: Math.round(score * DECIMALS) / DECIMALS });
  }
  return chosen;
}
