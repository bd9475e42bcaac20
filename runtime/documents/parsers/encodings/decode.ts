import iconv from 'iconv-lite';
import { hzText, iso2022Text } from './escapes.js';

/** The names by which the library knows the encodings that it calls otherwise. */
const LIBRARY_NAMES: Readonly<Record<string, string>> = { 'x-mac-cyrillic': 'maccyrillic', 'armscii-8': 'armscii8' };

const libraryText = (bytes: Uint8Array, encoding: string): string =>
  iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), LIBRARY_NAMES[encoding] ?? encoding);

/**
 * The text of bytes in an encoding that `encodingOf` or `encodingOfCodePage` names; bytes that mean nothing become U+FFFD, a byte order mark is
 * dropped. Node's own decoders are not asked: several versions read windows-1252 as Latin-1.
 */
export function decodedAs(bytes: Uint8Array, encoding: string): string {
  if (encoding.startsWith('iso-2022-')) return iso2022Text(bytes, libraryText);
  return encoding === 'hz-gb-2312' ? hzText(bytes, libraryText) : libraryText(bytes, encoding);
}
