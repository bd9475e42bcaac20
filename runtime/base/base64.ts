import { open } from 'node:fs/promises';
import { breathe } from './loop.js';

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

/** What a data: URL holds. */
export interface DataUrl {
  /** In lower case; empty where it says none. */
  readonly mediaType: string;
  readonly isBase64: boolean;
  /** Base64, or text with percent codes. */
  readonly data: string;
}

/** What stands before the data: at most a media type and four parameters. */
const DATA_URL_HEAD = /^data:([^;,]{0,200})(?:;[^;,]{0,100}){0,4}?(;base64)?,/i;
const HEAD_CHARACTERS = 1_000;

/** Takes a data: URL apart; undefined for any other text. */
export function readDataUrl(text: string): DataUrl | undefined {
  const [head, mediaType = '', isBase64] = DATA_URL_HEAD.exec(text.slice(0, HEAD_CHARACTERS)) ?? [];
  if (head === undefined) return undefined;
  return { mediaType: mediaType.toLowerCase(), isBase64: isBase64 !== undefined, data: text.slice(head.length) };
}

/** The base64 of a text that is base64 itself or a data: URL with base64, of a media type that begins with `kind`. Any other text comes back as it is. */
export function base64In(text: string, kind = ''): string {
  const url = readDataUrl(text);
  return (url?.isBase64 && url.mediaType.startsWith(kind) ? url.data : text).trim();
}

/** Bytes that become one piece of text; a multiple of three. */
const READ = 192 * 1024;

/** The base64 of so many bytes, in bytes. */
export const base64Length = (bytes: number): number => 4 * Math.ceil(bytes / 3);

/** A file as base64, in pieces that are read when they are asked for. */
export async function* base64OfFile(path: string): AsyncGenerator<Buffer, void, undefined> {
  const file = await open(path);
  try {
    const bytes = Buffer.allocUnsafe(READ);
    for (let size = READ; size === READ; ) {
      size = 0;
      for (let read = READ; read > 0 && size < READ; size += read) ({ bytesRead: read } = await file.read(bytes, size, READ - size));
      if (size > 0) yield Buffer.from(bytes.toString('base64', 0, size), 'latin1');
    }
  } finally {
    await file.close();
  }
}
