/** Longest word that is compared, in characters. */
const WORD_LIMIT = 40;

/** How many letters must be added, taken away or changed to make one word of the other. */
function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_none, index) => index);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (let index = 0; index < other.length; index += 1)
      next.push(Math.min(next[index]! + 1, row[index + 1]! + 1, row[index]! + (letter === other[index] ? 0 : 1)));
    row = next;
  }
  return row.at(-1)!;
}

/** Which of the known words was meant by one that is none of them: the nearest one, where a letter in three differs at most; undefined where none is near. */
export function nearest(word: string, known: readonly string[]): string | undefined {
  if (word.length > WORD_LIMIT) return undefined;
  const [best] = known.map((name) => ({ name, steps: distance(word, name) })).sort((a, b) => a.steps - b.steps);
  return best && best.steps <= Math.max(1, Math.floor(word.length / 3)) ? best.name : undefined;
}
