/** A text in pieces that are spoken one after the other. */
import { blocksOf } from '../../lib/markdown/parse';

/** Up to 600 letters, which are spoken in a moment: to the end of a sentence where one ends in them. */
const PIECE = /[\s\S]{1,600}(?:$|(?<=[.!?。！？:;\n]))|[\s\S]{1,600}/g;
/** What nobody wants to hear. */
const SILENT = ['code', 'space', 'hr', 'html', 'def'];

/** The pieces of a Markdown text that are worth hearing. */
export function piecesOf(text: string): string[] {
  return blocksOf(text)
    .filter(({ type }) => !SILENT.includes(type))
    .flatMap(({ raw }) => raw.match(PIECE) ?? [])
    .map((piece) => piece.trim())
    .filter((piece) => /[\p{L}\p{N}]/u.test(piece));
}
