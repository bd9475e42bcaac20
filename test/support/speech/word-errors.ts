const wordsOf = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}']+/gu) ?? [];

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
