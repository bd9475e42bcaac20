import type { Pixels } from './picture.js';

/** Reads an uncompressed BMP of 1, 4, 8, 24 or 32 bits a pixel as RGB; undefined for other kinds and for files that are cut off. */
export function readBmp(content: Uint8Array): Pixels | undefined {
  const view = new DataView(content.buffer, content.byteOffset, content.byteLength);
  const [offset, headerBytes] = [view.getUint32(10, true), view.getUint32(14, true)];
  const [width, signedHeight] = [view.getInt32(18, true), view.getInt32(22, true)];
  const [bits, compression] = [view.getUint16(28, true), view.getUint32(30, true)];
  const height = Math.abs(signedHeight);
  // 3 gives masks of the channels, which are the usual ones wherever 32 bits are written.
  const readable = compression === 0 || (compression === 3 && bits === 32);
  if (!readable || ![1, 4, 8, 24, 32].includes(bits)) return undefined;
  const rowBytes = Math.ceil((width * bits) / 32) * 4;
  if (width <= 0 || height <= 0 || offset + rowBytes * height > content.length) return undefined;
  const palette = 14 + headerBytes;
  const data = new Uint8Array(width * height * 3);
  for (let row = 0; row < height; row += 1) {
    // Rows stand from the bottom unless the height is negative.
    const from = offset + (signedHeight < 0 ? row : height - 1 - row) * rowBytes;
    for (let column = 0; column < width; column += 1) {
      const at =
        bits >= 24
          ? from + column * (bits / 8)
          : palette + 4 * ((content[from + ((column * bits) >> 3)]! >> (8 - bits - ((column * bits) & 7))) & (2 ** bits - 1));
      const to = (row * width + column) * 3;
      data[to] = content[at + 2] ?? 0;
      data[to + 1] = content[at + 1] ?? 0;
      data[to + 2] = content[at] ?? 0;
    }
  }
  return { width, height, channels: 3, data };
}
