import { breathe } from '../../../base/loop.js';

/** Cells that are written before others get their turn. */
const CELLS_AT_ONCE = 2_000;

/** The bytes of `before`, of every row by `write`, and of `after`. */
export async function rowsAsBytes(
  rows: number,
  width: number,
  signal: AbortSignal,
  parts: { before: string; write: (row: number) => string; after: string },
): Promise<Uint8Array> {
  const at = Math.max(1, Math.floor(CELLS_AT_ONCE / Math.max(1, width)));
  const chunks: Buffer[] = [];
  let text = parts.before;
  for (let row = 0; row < rows; row += 1) {
    text += parts.write(row);
    if (row % at !== at - 1) continue;
    chunks.push(Buffer.from(text));
    text = '';
    await breathe();
    signal.throwIfAborted();
  }
  chunks.push(Buffer.from(text + parts.after));
  return chunks.length === 1 ? chunks[0]! : Buffer.concat(chunks);
}
