import { breathe } from '../loop.js';

/** Characters of one piece, some 0.3 ms. */
const PIECE = 128 * 1024;
const PLAIN = /^[A-Za-z0-9+/_-]*={0,2}$/;

/** The bytes of base64, also of its form for URLs and with white space; undefined for what is neither. 2 ns a character, in turns with others. */
export async function bytesOfBase64(text: string): Promise<Buffer | undefined> {
  const bytes = Buffer.allocUnsafe(Math.ceil((text.length * 3) / 4));
  let size = 0;
  let rest = '';
  for (let at = 0; at < text.length; at += PIECE) {
    const plain = rest + text.slice(at, at + PIECE).replace(/\s+/g, '');
    if (!PLAIN.test(plain)) return undefined;
    // The last group stays, so that a `=` inside is seen with what follows.
    const whole = Math.max(0, plain.length - 4) & ~3;
    size += bytes.write(plain.slice(0, whole), size, 'base64');
    rest = plain.slice(whole);
    await breathe();
  }
  size += bytes.write(rest, size, 'base64');
  return size === 0 ? undefined : bytes.subarray(0, size);
}

/** Bytes that become one piece of text; a multiple of three. */
const READ = 96 * 1024;

/** The base64 of so many bytes, in bytes. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** Writes bytes as base64 into `into` from `at` on; returns where it ended. 1 ns a byte, in turns with others. */
export async function writeBase64(bytes: Uint8Array, into: Buffer, at: number): Promise<number> {
  let end = at;
  for (let from = 0; from < bytes.length; from += READ) {
    const piece = bytes.subarray(from, from + READ);
    end += into.write(Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength).toString('base64'), end, 'latin1');
    await breathe();
  }
  return end;
}
