import iconv from 'iconv-lite';

/** The names by which the library knows the encodings that it calls otherwise. */
const LIBRARY_NAMES: Readonly<Record<string, string>> = { 'x-mac-cyrillic': 'maccyrillic', 'armscii-8': 'armscii8' };

const libraryText = (bytes: Uint8Array, encoding: string): string =>
  iconv.decode(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length), LIBRARY_NAMES[encoding] ?? encoding);

/**
 * The text of bytes in an encoding that `encodingOf` or `encodingOfCodePage` names; bytes that mean nothing become U+FFFD, a byte order mark is
 * dropped. Node's own decoders are not asked: several versions read windows-1252 as Latin-1.
 */
export function decodeBytes(bytes: Uint8Array, encoding: string): string {
  if (encoding.startsWith('iso-2022-')) return iso2022Text(bytes, libraryText);
  return encoding === 'hz-gb-2312' ? hzText(bytes, libraryText) : libraryText(bytes, encoding);
}

/** Character sets of two bytes that a text of seven bits may switch to, by the encoding of eight bits that has the same bytes with the top bit set. */
type Wide = 'euc-jp' | 'gb18030' | 'euc-kr';

/** What the next bytes mean: letters of their own, or pairs of a set behind a prefix of its encoding. */
interface Shift {
  readonly set: Wide | 'ascii';
  readonly prefix?: number;
  readonly single?: boolean;
}

const ASCII: Shift = { set: 'ascii' };
const KANJI: Shift = { set: 'euc-jp' };
const KATAKANA: Shift = { set: 'euc-jp', prefix: 0x8e, single: true };
/** Designations of ISO 2022 behind the escape character; those behind `$)` wait for a shift-out. */
const DESIGNATIONS: readonly (readonly [string, Shift])[] = [
  ['(B', ASCII],
  ['(J', ASCII],
  ['(I', KATAKANA],
  ['$@', KANJI],
  ['$B', KANJI],
  ['$(B', KANJI],
  ['$(D', { set: 'euc-jp', prefix: 0x8f }],
  ['$A', { set: 'gb18030' }],
  ['$(A', { set: 'gb18030' }],
  ['$(C', { set: 'euc-kr' }],
];
const SHIFTED: readonly (readonly [string, Shift])[] = [
  ['$)A', { set: 'gb18030' }],
  ['$)C', { set: 'euc-kr' }],
];
const ESCAPE = 0x1b;
const SHIFT_OUT = 0x0e;
const SHIFT_IN = 0x0f;
const LINE_END = 0x0a;
const TILDE = 0x7e;

/** Decodes bytes of a set of two bytes; the door to the library stays elsewhere. */
type DecodeWide = (bytes: Uint8Array, encoding: Wide) => string;

/** Collects bytes by the set they belong to, each run decoded when the set changes. */
class Runs {
  #text = '';
  #set: Wide | 'ascii' = 'ascii';
  #bytes: number[] = [];

  constructor(readonly decode: DecodeWide) {}

  add(byte: number, set: Wide | 'ascii'): void {
    if (set !== this.#set) this.#flush(set);
    this.#bytes.push(byte);
  }

  end(): string {
    this.#flush('ascii');
    return this.#text;
  }

  #flush(next: Wide | 'ascii'): void {
    const bytes = Uint8Array.from(this.#bytes);
    this.#text += this.#set === 'ascii' ? Buffer.from(bytes).toString('latin1') : this.decode(bytes, this.#set);
    this.#bytes = [];
    this.#set = next;
  }
}

function designation(bytes: Uint8Array, at: number, among: typeof DESIGNATIONS): readonly [string, Shift] | undefined {
  return among.find(([sequence]) => [...sequence].every((sign, index) => bytes[at + index] === sign.charCodeAt(0)));
}

/** Reads ISO-2022-JP, -KR or -CN: sets are chosen by escape sequences and shifts, and every line begins in ASCII. */
function iso2022Text(bytes: Uint8Array, decode: DecodeWide): string {
  const runs = new Runs(decode);
  let shift = ASCII;
  let shifted = ASCII;
  let isOut = false;
  for (let at = 0; at < bytes.length; at += 1) {
    const byte = bytes[at]!;
    const found = byte === ESCAPE ? designation(bytes, at + 1, DESIGNATIONS) : undefined;
    const waiting = byte === ESCAPE && !found ? designation(bytes, at + 1, SHIFTED) : undefined;
    if (found) shift = found[1];
    if (waiting) shifted = waiting[1];
    if (byte === LINE_END) isOut = false;
    if (byte === LINE_END) shift = ASCII;
    if (found ?? waiting) at += (found ?? waiting)![0].length;
    else if (byte === SHIFT_OUT || byte === SHIFT_IN) isOut = byte === SHIFT_OUT;
    else at += addSigns(runs, bytes, at, isOut ? shifted : shift);
  }
  return runs.end();
}

/** Adds the sign at a place; the number of bytes that it takes beyond the first. */
function addSigns(runs: Runs, bytes: Uint8Array, at: number, { set, prefix, single }: Shift): number {
  const byte = bytes[at]!;
  if (set === 'ascii' || byte <= 0x20 || byte > TILDE) {
    runs.add(byte, 'ascii');
    return 0;
  }
  if (prefix !== undefined) runs.add(prefix, set);
  runs.add(byte | 0x80, set);
  const second = bytes[at + 1];
  if (single || second === undefined || second <= 0x20 || second > TILDE) return 0;
  runs.add(second | 0x80, set);
  return 1;
}

/** Reads HZ: Chinese stands between `~{` and `~}`, a tilde is doubled, and one at the end of a line joins it to the next. */
function hzText(bytes: Uint8Array, decode: DecodeWide): string {
  const runs = new Runs(decode);
  let shift = ASCII;
  for (let at = 0; at < bytes.length; at += 1) {
    const next = String.fromCharCode(bytes[at + 1] ?? 0);
    if (bytes[at] === LINE_END) shift = ASCII;
    if (bytes[at] !== TILDE || !'{}~\n'.includes(next)) {
      at += addSigns(runs, bytes, at, shift);
      continue;
    }
    at += 1;
    if (next === '{') shift = { set: 'gb18030' };
    else if (next === '}') shift = ASCII;
    else if (next === '~') runs.add(TILDE, 'ascii');
  }
  return runs.end();
}

/** Which encoding of seven bits a text without bytes beyond ASCII is; undefined for plain ASCII. */
export function escapedEncoding(bytes: Uint8Array): 'iso-2022-jp' | 'iso-2022-kr' | 'iso-2022-cn' | 'hz-gb-2312' | undefined {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const has = (sequence: string): boolean => buffer.includes(`\u001b${sequence}`, 0, 'latin1');
  if (has('$)C')) return 'iso-2022-kr';
  if (has('$)A')) return 'iso-2022-cn';
  // What ends a colour on a terminal is `(B` alone.
  if (has('$B') || has('$@') || has('$(') || has('$A') || has('(I')) return 'iso-2022-jp';
  return isHz(buffer) ? 'hz-gb-2312' : undefined;
}

/** True where every tilde is one of HZ, and between a pair stand whole letters of the Chinese set. */
function isHz(buffer: Buffer): boolean {
  if (!buffer.includes('~{')) return false;
  const text = buffer.toString('latin1');
  const rest = text.replace(/~\{(?:[!-w][!-~])*?~\}|~~|~\r?\n/g, '');
  return rest !== text && !rest.includes('~');
}
