import { setImmediate as turn } from 'node:timers/promises';

/** Texts of more characters are not counted but estimated from two samples of half as many, one at their beginning and one in their middle. */
const SAMPLE_CHARS = 32 * 1024;

/** Tokens of each text by `count`, exact for texts of up to 32,768 characters; others get their turn after each. */
export async function countedTokens(texts: readonly string[], count: (text: string) => number): Promise<number[]> {
  const counts: number[] = [];
  let since = 0;
  for (const text of texts) {
    counts.push(text.length <= SAMPLE_CHARS ? count(text) : estimate(text, count));
    since += Math.min(text.length, SAMPLE_CHARS);
    if (since < SAMPLE_CHARS) continue;
    since = 0;
    await turn();
  }
  return counts;
}

function estimate(text: string, count: (text: string) => number): number {
  const half = SAMPLE_CHARS / 2;
  const middle = Math.floor((text.length - half) / 2);
  const sampled = count(text.slice(0, half)) + count(text.slice(middle, middle + half));
  return Math.ceil((sampled * text.length) / SAMPLE_CHARS);
}
