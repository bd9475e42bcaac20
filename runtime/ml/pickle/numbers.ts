import { notPlain } from './bytes.js';
import { HALF_CHARACTER, MAX_INTEGER_BYTES } from './plain.js';

/** Longest line of a number in protocol 0. */
export const MAX_NUMBER_CHARACTERS = 100;

const DECIMAL = /^[+-]?\d+$/;
const FLOAT = /^[+-]?(?:\d+\.?\d*|\.\d+)(?:[eE][+-]?\d+)?$/;
const SPECIAL: Readonly<Record<string, number>> = { nan: Number.NaN, inf: Infinity, '-inf': -Infinity };

/** As a number where that is exact. */
function narrowed(value: bigint): number | bigint {
  return value >= BigInt(Number.MIN_SAFE_INTEGER) && value <= BigInt(Number.MAX_SAFE_INTEGER) ? Number(value) : value;
}

/** An integer as protocol 0 writes it; `L` at the end marks Python's long ones. */
export function integerOf(line: string, at: number): number | bigint {
  const digits = line.replace(/L$/, '');
  if (!DECIMAL.test(digits)) throw notPlain(`${JSON.stringify(line)} at byte ${at} is no integer`);
  return narrowed(BigInt(digits.replace('+', '')));
}

/** A float as protocol 0 writes it. */
export function floatOf(line: string, at: number): number {
  const special = SPECIAL[line];
  if (special !== undefined) return special;
  if (!FLOAT.test(line)) throw notPlain(`${JSON.stringify(line)} at byte ${at} is no number`);
  return Number(line);
}

/** Little-endian two's complement; no byte at all is 0. */
export function longOf(bytes: Uint8Array, at: number): number | bigint {
  if (bytes.length > MAX_INTEGER_BYTES)
    throw notPlain(`the integer at byte ${at} has ${bytes.length} bytes; ${MAX_INTEGER_BYTES} are allowed`);
  let value = 0n;
  for (let i = bytes.length - 1; i >= 0; i -= 1) value = (value << 8n) | BigInt(bytes[i]!);
  return narrowed(BigInt.asIntN(bytes.length * 8, value));
}

/** What `longOf` reads. Throws for an integer that is longer than it takes. */
export function longBytes(value: bigint): Uint8Array {
  const bytes: number[] = [];
  let rest = value;
  for (;;) {
    const low = Number(BigInt.asUintN(8, rest));
    bytes.push(low);
    rest >>= 8n;
    if ((rest === 0n && low < 0x80) || (rest === -1n && low >= 0x80)) break;
  }
  if (bytes.length > MAX_INTEGER_BYTES) throw notPlain(`an integer of ${bytes.length} bytes is too long`);
  return Uint8Array.from(bytes);
}

/** `\u1234` and `\U00012345` in Latin-1 text, as protocol 0 writes texts. */
export function unescaped(line: string, at: number): string {
  const text = line.replace(/\\(?:u([0-9a-fA-F]{4})|U([0-9a-fA-F]{8}))/g, (_all, four: string, eight: string) => {
    const point = Number.parseInt(four ?? eight, 16);
    if (point > 0x10ffff) throw notPlain(`the text at byte ${at} has a character beyond Unicode`);
    return String.fromCodePoint(point);
  });
  if (HALF_CHARACTER.test(text)) throw notPlain(`the text at byte ${at} has half a character`);
  return text;
}
