import { deflateSync } from 'node:zlib';
import { renderPages } from '../../../runtime/documents/parsers/pdf/render.js';
import type { Pixels } from '../../../runtime/pictures/picture.js';
import { drawn, pdf } from '../documents.js';

/** A BMP of 24 bits a pixel. */
export function bmpOf({ width, height, data }: Pixels): Uint8Array {
  const row = Math.ceil((width * 3) / 4) * 4;
  const out = Buffer.alloc(54 + row * height);
  out.write('BM');
  out.writeUInt32LE(out.length, 2);
  out.writeUInt32LE(54, 10);
  out.writeUInt32LE(40, 14);
  out.writeInt32LE(width, 18);
  out.writeInt32LE(height, 22);
  out.writeUInt16LE(1, 26);
  out.writeUInt16LE(24, 28);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const [from, to] = [(y * width + x) * 3, 54 + (height - 1 - y) * row + x * 3];
      out.set([data[from + 2]!, data[from + 1]!, data[from]!], to);
    }
  }
  return out;
}

const chunk = (name: string, content: Buffer): Buffer => {
  const head = Buffer.alloc(8);
  head.writeUInt32BE(content.length);
  head.write(name, 4, 'latin1');
  return Buffer.concat([head, content, Buffer.alloc(4)]);
};

/** A PNG of a few bytes that claims a size. */
export function lyingPng(width: number, height: number): Uint8Array {
  const head = Buffer.alloc(13);
  head.writeUInt32BE(width, 0);
  head.writeUInt32BE(height, 4);
  head.set([8, 2], 8);
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', deflateSync(Buffer.alloc(64))), chunk('IEND', Buffer.alloc(0))]);
}

/** Lines of real text as an image: size in points, distance from the line above, text. */
export async function textImage(lines: Parameters<typeof drawn>[0], dpi = 150): Promise<Uint8Array> {
  const bytes = pdf([drawn(lines)]);
  let png: Uint8Array | undefined;
  await renderPages(
    { name: 'text.pdf', path: '', mimeType: '', sizeBytes: bytes.length, bytes },
    { pages: [1], dpi },
    async (_page, image) => {
      png = image;
    },
  );
  return png!;
}
