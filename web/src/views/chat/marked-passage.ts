/** Where a passage stands in the text of its document. Parsers change spaces and line ends, so words are compared and what is between them is not. */

/** The text before, of and behind a passage, at most `most` characters around it. Where the passage is not found, all is before it. */
export function markedIn(text: string, passage: string, most: number): { before: string; passage: string; after: string } {
  const words = passage.split(/\s+/).filter((word) => word !== '');
  const start = placeOf(text, words.slice(0, 8));
  if (start === undefined) return { before: text.slice(0, most), passage: '', after: '' };
  const endWords = words.slice(-8);
  const end = placeOf(text.slice(start.from), endWords);
  const to = end === undefined || end.to > passage.length * 2 + 200 ? start.to : start.from + end.to;
  return {
    before: text.slice(Math.max(0, start.from - most / 2), start.from),
    passage: text.slice(start.from, to),
    after: text.slice(to, to + most / 2),
  };
}

/** Where words stand one behind the other, with nothing but spaces between them. */
function placeOf(text: string, words: readonly string[]): { from: number; to: number } | undefined {
  if (words.length === 0) return undefined;
  const match = new RegExp(words.map((word) => word.replaceAll(/[.*+?^${}()|[\]\\]/g, '\\$&')).join('\\s+')).exec(text);
  return match ? { from: match.index, to: match.index + match[0].length } : undefined;
}
