/**
 * The GPT-2 byte alphabet: a printable character for each byte. Printable Latin-1 bytes stand for themselves,
 * the other 68 become U+0100 and up in byte order; a space is thus U+0120.
 */
export const BYTE_CHARS: readonly string[] = (() => {
  const printable = (byte: number): boolean => (byte >= 33 && byte <= 126) || (byte >= 161 && byte <= 172) || byte >= 174;
  let next = 0x100;
  return Array.from({ length: 256 }, (_, byte) => {
    if (printable(byte)) return String.fromCharCode(byte);
    next += 1;
    return String.fromCharCode(next - 1);
  });
})();

/** The byte behind each character of the alphabet. */
export const BYTE_OF_CHAR: ReadonlyMap<string, number> = new Map(BYTE_CHARS.map((char, byte) => [char, byte]));

/** Text (as UTF-8) or bytes spelled in the byte alphabet, as a vocabulary stores them. */
export function spell(source: string | Uint8Array): string {
  const bytes = typeof source === 'string' ? Buffer.from(source, 'utf8') : source;
  return Array.from(bytes, (byte) => BYTE_CHARS[byte]!).join('');
}

/** The bytes behind a spelled token; throws RangeError at a character outside the alphabet. */
export function unspell(spelled: string): Buffer {
  return Buffer.from(
    Array.from(spelled, (char) => {
      const byte = BYTE_OF_CHAR.get(char);
      if (byte === undefined) throw new RangeError(`"${char}" is not in the byte alphabet`);
      return byte;
    }),
  );
}
