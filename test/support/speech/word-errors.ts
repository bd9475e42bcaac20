import { readText } from '../../../runtime/engines/speaking/text/read.js';

/** The words of an English text as they are said, so that "12" and "twelve" are the same. */
const wordsOf = (text: string): string[] =>
  readText(text.replace(/\b(\d{1,2})\.(\d{2})(?=\s*[ap]\.?m)/gi, '$1:$2')).flatMap(({ words }) => words.map((word) => word.toLowerCase()));

/** How many words of a text were heard wrong, left out or added, by the fewest changes (Levenshtein). */
export function wordErrors(said: string, heard: string): { wrong: number; words: number } {
  const [from, to] = [wordsOf(said), wordsOf(heard)];
  let row = Array.from({ length: to.length + 1 }, (_none, at) => at);
  for (const [index, word] of from.entries()) {
    const next = [index + 1];
    for (let at = 0; at < to.length; at += 1) next.push(Math.min(row[at]! + Number(word !== to[at]), row[at + 1]! + 1, next[at]! + 1));
    row = next;
  }
  return { wrong: row.at(-1)!, words: from.length };
}
