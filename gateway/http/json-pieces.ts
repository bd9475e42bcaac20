import { isUtf8 } from 'node:buffer';
import { breathe } from '../../runtime/base/loop.js';
import type { Failure } from '../../schemas/errors.js';
import {
  type Expected,
  errorPosition,
  inspect,
  inspectMember,
  MAX_JSON_DEPTH,
  nameTooLong,
  parseJson,
  refused,
  syntaxFailure,
  tooDeep,
} from './json.js';

/** Bodies of fewer bytes are parsed at once, in less time than a stretch of work may take. */
const WHOLE_BYTES = 64 * 1024;
/** About so many bytes of a list or an object are parsed at once. */
const PIECE_BYTES = 32 * 1024;
/** Bytes looked at between two looks at the clock. Texts that are longer are read in parts of this size. */
const SCANNED_BYTES = 64 * 1024;
/** Each different name costs the heap about 200 bytes, which can be twenty times what it costs the body. */
const MAX_NAMES = 50_000;
/** Lists, objects and texts in a body, each of which takes memory of its own, up to 64 bytes; also the values in one list. */
const MAX_NODES = 2_000_000;
/** Longest text: a picture of 64 MiB in Base64 fits. To put one together from its parts takes 0.5 ms for each MiB, at once. */
const MAX_TEXT_BYTES = 88 * 1024 * 1024;
/** Longest stretch of blanks or digits. */
const MAX_STRETCH_BYTES = 64 * 1024;
/** A power of two, so that 50,000 names seldom fall on the same bit. */
const NAME_BITS = 2 ** 20;

const [QUOTE, COMMA, BACKSLASH, LETTER_U] = [0x22, 0x2c, 0x5c, 0x75];
const [OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT] = [0x5b, 0x5d, 0x7b, 0x7d];
const BYTE_ORDER_MARK = Buffer.from('\ufeff');
const BLANK = /^[ \t\r\n]*$/;

/** 1 for the bytes that say where lists, objects, their parts and texts begin and end. */
const IS_MARK = new Uint8Array(256);
for (const mark of [QUOTE, COMMA, OPEN_LIST, CLOSE_LIST, OPEN_OBJECT, CLOSE_OBJECT]) IS_MARK[mark] = 1;

/**
 * Parses a request body as `parseJson` does, with the same failures, and in turns where it is large. Large bodies have more limits, since what a
 * body costs is more than its bytes: `MAX_NODES`, `MAX_NAMES`, `MAX_TEXT_BYTES` and `MAX_STRETCH_BYTES`.
 */
export async function parseJsonInTurns(bytes: Buffer): Promise<unknown> {
  if (bytes.length < WHOLE_BYTES || !isUtf8(bytes)) return parseJson(bytes);
  const hasMark = bytes.subarray(0, BYTE_ORDER_MARK.length).equals(BYTE_ORDER_MARK);
  const reader = new PieceReader(hasMark ? bytes.subarray(BYTE_ORDER_MARK.length) : bytes);
  try {
    return await reader.read();
  } catch (error) {
    if (error instanceof SyntaxFault) throw await reader.located(error);
    throw error;
  }
}

/** The body stops being JSON at `position` of `text`, which begins at byte `start` of the body. */
class SyntaxFault extends Error {
  constructor(
    readonly start: number,
    readonly text: string,
    readonly position: number,
  ) {
    super('no JSON');
  }
}

/** A list or an object whose end is not reached. */
interface Frame {
  readonly isObject: boolean;
  /** Place of the bracket. */
  readonly start: number;
  /** What has been read of it; undefined while it may be parsed with what stands around it. */
  value: unknown[] | Record<string, unknown> | undefined;
  /** Where what has not been read begins. */
  from: number;
  /** A value that has been read stands before `from`, so that a comma or the end must follow. */
  isAfterValue: boolean;
  /** The next text is the name of a member. */
  needsName: boolean;
  /** Place of the last name, quotes included. */
  name: readonly [start: number, end: number];
}

/**
 * Reads a body from front to back: finds where its parts begin and end, and has `JSON.parse` read some 32 KiB of neighbours at a time. A list or an
 * object that is longer is put together from such pieces, and so is what it stands in.
 */
class PieceReader {
  readonly #bytes: Buffer;
  /** The first holds the whole body, as a list of one value; those that have a `value` come before those that have none. */
  readonly #frames: Frame[] = [newFrame(false, -1, [])];
  #at = 0;
  /** Where the text that is being read begins; -1 outside of texts. */
  #text = -1;
  /** The parts of a long text that have been read, up to `#partsEnd`. */
  #parts: string[] = [];
  #partsEnd = 0;
  #lastMark = 0;
  #nodes = 0;
  readonly #names = new NameCounter();

  constructor(bytes: Buffer) {
    this.#bytes = bytes;
  }

  async read(): Promise<unknown> {
    const { length } = this.#bytes;
    while (this.#at < length) {
      this.#advance(Math.min(length, this.#at + SCANNED_BYTES));
      await breathe();
    }
    if (this.#parts.length > 0) throw this.#textFault(length);
    if (this.#text >= 0 || this.#frames.length > 1) throw this.#fault(length);
    const [root] = this.#frames as [Frame];
    if (!root.isAfterValue) this.#readRun(root, length);
    else this.#expectBlank(root, length);
    const [value, ...more] = root.value as unknown[];
    if (value === undefined || more.length > 0) throw this.#fault(length);
    return value;
  }

  /** The failure that names the place of a fault. */
  async located({ start, text, position }: SyntaxFault): Promise<Failure> {
    let chars = 0;
    let line = 1;
    let column = 1;
    for (let from = 0; from < start; from += SCANNED_BYTES) {
      const end = Math.min(start, from + SCANNED_BYTES);
      for (let at = from; at < end; at += 1) {
        const byte = this.#bytes[at]!;
        // Two units of UTF-16 for what takes four bytes; nothing for a byte that goes on.
        const units = byte >= 0xf0 ? 2 : (byte & 0xc0) === 0x80 ? 0 : 1;
        chars += units;
        column += units;
        if (byte !== 0x0a) continue;
        line += 1;
        column = 1;
      }
      await breathe();
    }
    return syntaxFailure(text, position, { chars, line, column });
  }

  /** Looks at the bytes up to about `until`. */
  #advance(until: number): void {
    const bytes = this.#bytes;
    while (this.#at < until) {
      if (this.#text >= 0) {
        this.#scanText(until);
        continue;
      }
      const at = this.#at;
      const byte = bytes[at]!;
      this.#at += 1;
      if (IS_MARK[byte] === 0) continue;
      if (at - this.#lastMark > MAX_STRETCH_BYTES) throw stretchTooLong();
      this.#lastMark = at;
      if (byte === COMMA) this.#comma(at);
      else if (byte === CLOSE_LIST || byte === CLOSE_OBJECT) this.#close(byte === CLOSE_OBJECT, at);
      else if (this.#frames.at(-1)!.isAfterValue) throw this.#fault(at);
      else if (byte === QUOTE) this.#text = at;
      else this.#open(byte === OPEN_OBJECT, at);
    }
    if (this.#text < 0 && this.#at - this.#lastMark > MAX_STRETCH_BYTES) throw stretchTooLong();
  }

  #scanText(until: number): void {
    const bytes = this.#bytes;
    let at = this.#parts.length > 0 && this.#isPlain(this.#at, until) ? until : this.#at;
    while (at < until) {
      const byte = bytes[at];
      if (byte === QUOTE) {
        this.#at = at + 1;
        this.#lastMark = at;
        this.#endText(at);
        return;
      }
      at += byte !== BACKSLASH ? 1 : bytes[at + 1] === LETTER_U ? 6 : 2;
    }
    this.#at = Math.min(at, bytes.length);
    if (this.#at - Math.max(this.#text, this.#partsEnd) < SCANNED_BYTES) return;
    if (this.#frames.at(-1)!.needsName) throw nameTooLong();
    // A character is not cut.
    while (((bytes[this.#at] ?? 0) & 0xc0) === 0x80) this.#at += 1;
    this.#readPart(this.#at);
  }

  /** Whether a stretch of text neither ends nor escapes anything; tells long pictures in base64 in a fraction of the time. */
  #isPlain(start: number, end: number): boolean {
    const stretch = this.#bytes.subarray(start, end);
    return !stretch.includes(QUOTE) && !stretch.includes(BACKSLASH);
  }

  #endText(end: number): void {
    const frame = this.#frames.at(-1)!;
    const start = this.#text;
    if (frame.needsName) {
      this.#names.add(this.#bytes, start + 1, end);
      frame.name = [start, end + 1];
      frame.needsName = false;
    } else this.#countNode();
    if (this.#parts.length > 0) {
      this.#readPart(end);
      this.#attach(frame, this.#parts.join(''), end + 1);
      this.#parts = [];
    }
    this.#text = -1;
  }

  /** Reads a long text on, up to `end`. */
  #readPart(end: number): void {
    if (this.#parts.length === 0) {
      this.#frames.forEach((_frame, depth) => void this.#unfold(depth));
      this.#readRun(this.#frames.at(-1)!, this.#text, true);
      this.#partsEnd = this.#text + 1;
    }
    try {
      this.#parts.push(JSON.parse(`"${this.#bytes.toString('utf8', this.#partsEnd, end)}"`) as string);
    } catch {
      throw this.#textFault(end);
    }
    this.#partsEnd = end;
    if (end - this.#text > MAX_TEXT_BYTES) throw refused('json_text_too_long', `a text has more than ${MAX_TEXT_BYTES} bytes`);
  }

  #comma(at: number): void {
    const depth = this.#frames.length - 1;
    const frame = this.#frames[depth]!;
    if (depth === 0) throw this.#fault(at);
    frame.needsName = frame.isObject;
    if (frame.isAfterValue) this.#expectBlank(frame, at);
    else if (at - frame.from < PIECE_BYTES) return;
    else {
      for (let i = 1; i <= depth; i += 1) this.#unfold(i);
      this.#readRun(frame, at);
    }
    frame.isAfterValue = false;
    frame.from = at + 1;
  }

  #open(isObject: boolean, at: number): void {
    this.#countNode();
    if (this.#frames.length > MAX_JSON_DEPTH) throw tooDeep();
    this.#frames.push(newFrame(isObject, at));
  }

  #close(isObject: boolean, at: number): void {
    const frame = this.#frames.at(-1)!;
    if (this.#frames.length === 1 || frame.isObject !== isObject) throw this.#fault(at);
    if (frame.value) {
      if (frame.isAfterValue) this.#expectBlank(frame, at);
      else this.#readRun(frame, at);
    }
    this.#frames.pop();
    if (!frame.value) return;
    const parent = this.#frames.at(-1)!;
    this.#attach(parent, frame.value, at + 1);
  }

  /** Gives a list or an object a value of its own, and reads what stands before it in the one around it, which has one. */
  #unfold(depth: number): void {
    const frame = this.#frames[depth]!;
    if (frame.value) return;
    this.#readRun(this.#frames[depth - 1]!, frame.start, true);
    frame.value = frame.isObject ? {} : [];
  }

  /** Reads the parts of a list or an object from `from` to `end`; with `hasNext` a value follows that is read by itself. */
  #readRun(frame: Frame, end: number, hasNext = false): void {
    const [open, close] = frame.isObject ? ['{', '}'] : ['[', ']'];
    const text = this.#bytes.toString('utf8', frame.from, end);
    let parts: unknown;
    try {
      parts = JSON.parse(`${open}${text}${hasNext ? '0' : ''}${close}`);
    } catch {
      throw this.#fault(end);
    }
    inspect(parts as object, this.#frames.indexOf(frame));
    const { value } = frame;
    let count = 0;
    if (Array.isArray(value)) {
      for (const part of parts as unknown[]) value.push(part);
      if (value.length > MAX_NODES) throw refused('json_too_large', `a list has more than ${MAX_NODES} values`);
      count = (parts as unknown[]).length;
      if (hasNext) value.pop();
    } else {
      for (const key in parts as Record<string, unknown>) {
        value![key] = (parts as Record<string, unknown>)[key];
        count += 1;
      }
    }
    // Nothing between two commas, or between the last one and the end.
    if (count === 0 && frame.from > frame.start + 1) throw this.#fault(end);
  }

  /** Puts a value that has been read, and ends before `end`, where it belongs. */
  #attach(parent: Frame, value: unknown, end: number): void {
    if (Array.isArray(parent.value)) parent.value.push(value);
    else {
      const name = JSON.parse(this.#bytes.toString('utf8', ...parent.name)) as string;
      parent.value![name] = value;
      inspectMember(name, value);
    }
    parent.isAfterValue = true;
    parent.from = end;
  }

  #expectBlank(frame: Frame, end: number): void {
    if (!BLANK.test(this.#bytes.toString('latin1', frame.from, end))) throw this.#fault(end);
  }

  #countNode(): void {
    this.#nodes += 1;
    if (this.#nodes > MAX_NODES) throw refused('json_too_large', `more than ${MAX_NODES} lists, objects and texts`);
  }

  /** The first fault of a long text between its last part and `end`. */
  #textFault(end: number): SyntaxFault {
    const text = this.#bytes.toString('utf8', this.#partsEnd, end);
    return new SyntaxFault(this.#partsEnd, text, errorPosition(`"${text}`) - 1);
  }

  /** The first fault of what has not been read, which lies before or at `end`. */
  #fault(end: number): SyntaxFault {
    const folded = this.#frames.findIndex((frame) => frame.value === undefined);
    const frames = folded < 0 ? this.#frames : this.#frames.slice(0, folded);
    const { isObject, start, from, isAfterValue } = frames.at(-1)!;
    const text = this.#bytes.toString('utf8', from, end + 1);
    const open = frames.slice(1).map((frame) => (frame.isObject ? '}' : ']'));
    const first: Expected = frames.length > 1 && from === start + 1 ? 'first' : isObject ? 'key' : 'value';
    return new SyntaxFault(from, text, errorPosition(text, open, isAfterValue ? 'after' : first));
  }
}

function newFrame(isObject: boolean, start: number, value?: unknown[]): Frame {
  return { isObject, start, value, from: start + 1, isAfterValue: false, needsName: isObject, name: [0, 0] };
}

function stretchTooLong(): Failure {
  return refused('json_stretch_too_long', `more than ${MAX_STRETCH_BYTES} blanks or digits stand in a row`);
}

/** Counts the different names of a body, about: from the first 50,000 members on. */
class NameCounter {
  #members = 0;
  #names = 0;
  #seen: Uint32Array | undefined;

  add(bytes: Buffer, start: number, end: number): void {
    this.#members += 1;
    if (this.#members <= MAX_NAMES) return;
    this.#seen ??= new Uint32Array(NAME_BITS / 32);
    let hash = 0x811c9dc5;
    for (let at = start; at < end; at += 1) hash = Math.imul(hash ^ bytes[at]!, 0x01000193);
    const bit = (hash ^ (hash >>> 15)) & (NAME_BITS - 1);
    const mask = 1 << (bit & 31);
    if (this.#seen[bit >>> 5]! & mask) return;
    this.#seen[bit >>> 5]! |= mask;
    this.#names += 1;
    if (this.#names > MAX_NAMES) throw refused('json_too_many_names', `more than ${MAX_NAMES} different names of members`);
  }
}
