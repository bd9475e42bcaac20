import { isAscii } from 'node:buffer';
import { randomUUID } from 'node:crypto';
import { breathe } from '../../runtime/loop.js';
import { parseJson } from './json.js';

/** Texts of fewer bytes are read with the rest. */
const LONG_BYTES = 64 * 1024;
/** Bytes looked at between two looks at the clock: some 0.2 ms. */
const PIECE_BYTES = 256 * 1024;

const [QUOTE, BACKSLASH] = [0x22, 0x5c];
// biome-ignore lint/suspicious/noControlCharactersInRegex: JSON texts may not hold them
const CONTROL = /[\u0000-\u001f]/;

type Place = readonly [start: number, end: number];

/**
 * Parses a body as `parseJson` does where it is little but long texts of ASCII without escapes, such as pictures in base64: those are only copied, in
 * a quarter of the time, and the rest may have `restBytes`. Undefined for others, and where the body is no JSON.
 */
export async function parseBesideTexts(bytes: Buffer, restBytes: number): Promise<unknown> {
  const token = randomUUID();
  const texts = new Map<string, string>();
  const rest: Buffer[] = [];
  let from = 0;
  for (const [start, end] of longTexts(bytes, restBytes)) {
    const text = await plainText(bytes.subarray(start, end));
    if (text === undefined) continue;
    const stand = `${token}${texts.size}`;
    texts.set(stand, text);
    rest.push(bytes.subarray(from, start), Buffer.from(stand));
    from = end;
  }
  if (texts.size === 0) return undefined;
  rest.push(bytes.subarray(from));
  try {
    const whole = restored(parseJson(Buffer.concat(rest)), texts);
    // One that is a key, or whose member comes twice, is left.
    return texts.size === 0 ? whole : undefined;
  } catch {
    return undefined;
  }
}

/**
 * What stands between two quotes, where it is long; nothing where there is more beside it. Where a quote is escaped these may be no texts: what
 * stands for them is not found again then, or the rest is no JSON.
 */
function longTexts(bytes: Buffer, restBytes: number): Place[] {
  const places: Place[] = [];
  let rest = 0;
  let after = 0;
  for (let open = bytes.indexOf(QUOTE); open >= 0 && rest <= restBytes; open = bytes.indexOf(QUOTE, after)) {
    const close = bytes.indexOf(QUOTE, open + 1);
    if (close < 0) return [];
    const isLong = close - open > LONG_BYTES;
    if (isLong && bytes[close - 1] !== BACKSLASH) places.push([open + 1, close]);
    rest += (isLong ? open : close) - after;
    after = close + 1;
  }
  return rest + bytes.length - after <= restBytes ? places : [];
}

/** A text as it stands; undefined where JSON writes it in another way. */
async function plainText(bytes: Buffer): Promise<string | undefined> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) {
    const piece = bytes.subarray(at, at + PIECE_BYTES);
    if (!isAscii(piece) || piece.includes(BACKSLASH)) return undefined;
    await breathe();
  }
  const text = bytes.toString('latin1');
  for (let at = 0; at < text.length; at += PIECE_BYTES) {
    await breathe();
    if (CONTROL.test(text.slice(at, at + PIECE_BYTES))) return undefined;
  }
  return text;
}

/** A value with the texts in their places, taken out of `texts`. */
function restored(value: unknown, texts: Map<string, string>): unknown {
  if (typeof value === 'string') {
    const text = texts.get(value);
    texts.delete(value);
    return text ?? value;
  }
  if (value === null || typeof value !== 'object') return value;
  const members = value as Record<string, unknown>;
  for (const key in members) members[key] = restored(members[key], texts);
  return value;
}
