/** The formats that are decoded. */
export type PictureFormat = 'png' | 'jpeg' | 'gif' | 'webp' | 'bmp' | 'tiff';

/** What the first bytes of an image say. */
export interface PictureHead {
  readonly format: PictureFormat;
  readonly width: number;
  readonly height: number;
}

/** Start-of-frame markers of JPEG; C4, C8 and CC are tables and an extension. */
const FRAMES = new Set([0xc0, 0xc1, 0xc2, 0xc3, 0xc5, 0xc6, 0xc7, 0xc9, 0xca, 0xcb, 0xcd, 0xce, 0xcf]);
const TIFF_ENTRIES = 4096;

type Reader = (bytes: DataView) => PictureHead | undefined;

const startsWith = (bytes: DataView, text: string, at = 0): boolean =>
  bytes.byteLength >= at + text.length && [...text].every((letter, index) => bytes.getUint8(at + index) === letter.charCodeAt(0));

const png: Reader = (bytes) =>
  startsWith(bytes, '\x89PNG\r\n\x1a\n') && startsWith(bytes, 'IHDR', 12)
    ? { format: 'png', width: bytes.getUint32(16), height: bytes.getUint32(20) }
    : undefined;

const gif: Reader = (bytes) =>
  startsWith(bytes, 'GIF8') ? { format: 'gif', width: bytes.getUint16(6, true), height: bytes.getUint16(8, true) } : undefined;

const bmp: Reader = (bytes) =>
  startsWith(bytes, 'BM') && bytes.getUint32(14, true) >= 40
    ? { format: 'bmp', width: bytes.getInt32(18, true), height: Math.abs(bytes.getInt32(22, true)) }
    : undefined;

const jpeg: Reader = (bytes) => {
  if (!startsWith(bytes, '\xff\xd8\xff')) return undefined;
  for (let at = 2; at + 9 < bytes.byteLength; ) {
    if (bytes.getUint8(at) !== 0xff) return undefined;
    const marker = bytes.getUint8(at + 1);
    if (FRAMES.has(marker)) return { format: 'jpeg', height: bytes.getUint16(at + 5), width: bytes.getUint16(at + 7) };
    // Fill bytes and markers without content have no length.
    at += marker === 0xff ? 1 : marker === 0x01 || (marker >= 0xd0 && marker <= 0xd8) ? 2 : 2 + bytes.getUint16(at + 2);
  }
  return undefined;
};

const webp: Reader = (bytes) => {
  if (!startsWith(bytes, 'RIFF') || !startsWith(bytes, 'WEBP', 8)) return undefined;
  if (startsWith(bytes, 'VP8 ', 12))
    return { format: 'webp', width: bytes.getUint16(26, true) & 0x3fff, height: bytes.getUint16(28, true) & 0x3fff };
  if (startsWith(bytes, 'VP8L', 12)) {
    const bits = bytes.getUint32(21, true);
    return { format: 'webp', width: (bits & 0x3fff) + 1, height: ((bits >>> 14) & 0x3fff) + 1 };
  }
  if (!startsWith(bytes, 'VP8X', 12)) return undefined;
  const size = (at: number): number => 1 + bytes.getUint16(at, true) + (bytes.getUint8(at + 2) << 16);
  return { format: 'webp', width: size(24), height: size(27) };
};

const tiff: Reader = (bytes) => {
  const little = startsWith(bytes, 'II*\0');
  if (!little && !startsWith(bytes, 'MM\0*')) return undefined;
  const directory = bytes.getUint32(4, little);
  const count = Math.min(bytes.getUint16(directory, little), TIFF_ENTRIES);
  const sizes = new Map<number, number>();
  for (let index = 0; index < count; index += 1) {
    const at = directory + 2 + index * 12;
    const tag = bytes.getUint16(at, little);
    // Type 3 is a 16-bit number, 4 a 32-bit one.
    if (tag === 256 || tag === 257)
      sizes.set(tag, bytes.getUint16(at + 2, little) === 3 ? bytes.getUint16(at + 8, little) : bytes.getUint32(at + 8, little));
  }
  return sizes.size === 2 ? { format: 'tiff', width: sizes.get(256)!, height: sizes.get(257)! } : undefined;
};

/** Format and size of an image by its first bytes, nothing decoded; undefined for what is none of the formats or is cut off. */
export function pictureHead(content: Uint8Array): PictureHead | undefined {
  const bytes = new DataView(content.buffer, content.byteOffset, content.byteLength);
  for (const read of [png, jpeg, gif, webp, bmp, tiff]) {
    try {
      const head = read(bytes);
      if (head) return head;
    } catch (error) {
      // Reading past the end: the file is shorter than its kind needs.
      if (!(error instanceof RangeError)) throw error;
    }
  }
  return undefined;
}
