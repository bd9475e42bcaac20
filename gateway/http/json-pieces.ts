import { randomUUID } from 'node:crypto';
import { breathe } from '../../runtime/loop.js';
import { parseJson } from './json.js';
import { parseBesideTexts } from './json-texts.js';

/** Bodies of fewer bytes are parsed at once, in less time than a stretch of work may take. */
const WHOLE_BYTES = 128 * 1024;
/** About so many bytes of a long list are parsed at once. */
const PIECE_BYTES = 32 * 1024;
/** Bytes looked at between two looks at the clock. */
const SCANNED_BYTES = 128 * 1024;

const [QUOTE, COMMA, BACKSLASH, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x22, 0x2c, 0x5c, 0x5b, 0x5d, 0x7b, 0x7d];

/** 1 for the bytes that say where lists, objects and texts begin and end. */
const IS_MARK = new Uint8Array(256);
for (const mark of [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) IS_MARK[mark] = 1;

/** A long list that is a member of the body: its key, and the commas between its pieces; the first and last entries are its brackets. */
interface LongList {
  readonly key: string;
  readonly cuts: readonly number[];
}

/**
 * Parses a request body as `parseJson` does, with the same failures, but in turns where it is large and most of it is in a few long texts, or in
 * lists that are members of the whole, such as rows or texts: those are parsed some elements at a time.
 */
export async function parseJsonInTurns(bytes: Buffer): Promise<unknown> {
  if (bytes.length < WHOLE_BYTES) return parseJson(bytes);
  const value = await parseBesideTexts(bytes, WHOLE_BYTES);
  if (value !== undefined) return value;
  const lists = await new Scanner(bytes).lists();
  if (lists.length === 0) return parseJson(bytes);
  try {
    return await assembled(bytes, lists);
  } catch {
    // The failure of the whole names the position in it.
    return parseJson(bytes);
  }
}

async function assembled(bytes: Buffer, lists: readonly LongList[]): Promise<unknown> {
  const rest: Buffer[] = [];
  const token = randomUUID();
  let from = 0;
  for (const [index, { cuts }] of lists.entries()) {
    rest.push(bytes.subarray(from, cuts[0]! + 1), Buffer.from(`"${token}${index}"`));
    from = cuts.at(-1)!;
  }
  rest.push(bytes.subarray(from));
  const whole = parseJson(Buffer.concat(rest)) as Record<string, unknown>;
  for (const [index, { key, cuts }] of lists.entries()) {
    const list = whole[key];
    // Where a key comes twice, the last one counts.
    if (!Array.isArray(list) || list.pop() !== `${token}${index}`) throw new Error('another member has this key');
    for (let i = 1; i < cuts.length; i += 1) {
      const [piece] = parseJson(bracketed(bytes.subarray(cuts[i - 1]! + 1, cuts[i]))) as [unknown[]];
      if (piece.length === 0) throw new Error('nothing lies between two commas');
      for (const one of piece) list.push(one);
      await breathe();
    }
  }
  return whole;
}

/** In a list in a list: as deep as they are in the body. */
function bracketed(elements: Buffer): Buffer {
  const piece = Buffer.allocUnsafe(elements.length + 4);
  piece.fill(OPEN_LIST, 0, 2);
  elements.copy(piece, 2);
  piece.fill(CLOSE_LIST, elements.length + 2);
  return piece;
}

/** Finds the long lists of a body, without telling whether it is JSON. */
class Scanner {
  readonly #bytes: Buffer;
  readonly #lists: LongList[] = [];
  #depth = 0;
  #isObject = false;
  /** Where the last text of the outermost object lies; the key when a list opens. */
  #key: [start: number, end: number] = [0, 0];
  #cuts: number[] | undefined;

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  /** In their order. Works in turns. */
  async lists(): Promise<LongList[]> {
    const bytes = this.#bytes;
    let look = SCANNED_BYTES;
    for (let at = 0; at < bytes.length; at += 1) {
      const byte = bytes[at]!;
      if (IS_MARK[byte] === 0) continue;
      if (byte === QUOTE) at = this.#afterText(at);
      else if (byte === COMMA) this.#comma(at);
      else if (byte === OPEN_LIST || byte === OPEN_OBJECT) this.#open(byte, at);
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#close(at);
      if (at >= look) {
        look = at + SCANNED_BYTES;
        await breathe();
      }
    }
    return this.#lists;
  }

  /** The place of the quote that ends a text. */
  #afterText(start: number): number {
    const bytes = this.#bytes;
    let end = start;
    do {
      end = bytes.indexOf(QUOTE, end + 1);
      if (end < 0) return bytes.length;
    } while (isEscaped(bytes, end));
    if (this.#depth === 1) this.#key = [start, end + 1];
    return end;
  }

  #comma(at: number): void {
    const cuts = this.#cuts;
    if (cuts && this.#depth === 2 && at - cuts.at(-1)! >= PIECE_BYTES) cuts.push(at);
  }

  #open(byte: number, at: number): void {
    if (this.#depth === 0) this.#isObject = byte === OPEN_OBJECT;
    if (this.#depth === 1 && byte === OPEN_LIST && this.#isObject) this.#cuts = [at];
    this.#depth += 1;
  }

  #close(at: number): void {
    this.#depth -= 1;
    if (this.#depth !== 1 || !this.#cuts) return;
    if (this.#cuts.length > 1) this.#lists.push({ key: this.#keyText(), cuts: [...this.#cuts, at] });
    this.#cuts = undefined;
  }

  #keyText(): string {
    try {
      return String(parseJson(this.#bytes.subarray(...this.#key)));
    } catch {
      return '';
    }
  }
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let before = at;
  while (bytes[before - 1] === BACKSLASH) before -= 1;
  return (at - before) % 2 === 1;
}
