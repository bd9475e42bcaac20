import type { Candidate } from './choose.js';
import { type Fragments, phraseOf, runsOf } from './tokens.js';

/**
 * Rapid automatic keyword extraction (Rose, Engel, Cramer and Cowley 2010): phrases are the runs of words between stop words and marks;
 * a word scores its degree (words in the phrases it is in) over its frequency, a phrase the sum of its words. High is good.
 */
export function rake({ fragments }: Fragments, least: number, most: number): Candidate[] {
  const words = new Map<string, { frequency: number; degree: number }>();
  const runs = [...runsOf(fragments, (token) => !token.stop)];
  for (const run of runs) {
    for (const { lower } of run) {
      const word = words.get(lower) ?? { frequency: 0, degree: 0 };
      word.frequency += 1;
      word.degree += run.length;
      words.set(lower, word);
    }
  }
  const found = new Map<string, { score: number; count: number }>();
  for (const run of runs.filter((one) => one.length >= least && one.length <= most)) {
    const phrase = phraseOf(run);
    const known = found.get(phrase);
    if (known) known.count += 1;
    else {
      const score = run.reduce((sum, { lower }) => sum + words.get(lower)!.degree / words.get(lower)!.frequency, 0);
      found.set(phrase, { score, count: 1 });
    }
  }
  return [...found].map(([phrase, one]) => ({ phrase, ...one }));
}
