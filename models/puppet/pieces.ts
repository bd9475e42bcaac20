import { spell } from '../../runtime/engines/tokenizers/byte-alphabet.js';
import { splitWords } from '../writers/bpe.js';

/** Ends of the cuts that may be made, in bytes from the start. */
function boundaries(source: string, bytesPerToken: number | undefined): number[] {
  const total = Buffer.byteLength(source);
  if (bytesPerToken !== undefined) {
    const ends = Array.from({ length: Math.floor(total / bytesPerToken) }, (_, index) => (index + 1) * bytesPerToken);
    return ends.at(-1) === total ? ends : [...ends, total];
  }
  let end = 0;
  return splitWords(source).map((word) => {
    end += Buffer.byteLength(word);
    return end;
  });
}

/**
 * Cuts a text into token texts (spelled) that no vocabulary entry has yet, and adds them to `taken`: each token then
 * occurs in one place of one answer, and what follows it is certain. A piece has at least two bytes, since single
 * bytes are tokens of their own. Throws RangeError where the text as a whole is taken.
 */
export function privatePieces(source: string, taken: Set<string>, bytesPerToken?: number): string[] {
  const bytes = Buffer.from(source, 'utf8');
  const cuts: number[] = [0];
  const pieceTo = (end: number): string => spell(bytes.subarray(cuts.at(-1), end));
  const claim = (end: number): void => {
    const piece = pieceTo(end);
    if (end - cuts.at(-1)! < 2 || taken.has(piece)) return;
    taken.add(piece);
    cuts.push(end);
  };
  for (const end of boundaries(source, bytesPerToken)) claim(end);
  // What is left at the end joins the pieces before it until the whole is free.
  while (cuts.at(-1)! < bytes.length) {
    const start = cuts.pop();
    if (cuts.length === 0) throw new RangeError(`"${source}" cannot be cut into tokens of its own`);
    taken.delete(pieceTo(start!));
    claim(bytes.length);
  }
  return cuts.slice(1).map((end, index) => spell(bytes.subarray(cuts[index]!, end)));
}
