import { closeSync, fstatSync, openSync, readFileSync, readSync } from 'node:fs';

/** Of LMDB's file, all little-endian: bytes before a page's content, and where in them the fields are. */
const HEADER_BYTES = 24;
const PAGE_TXN = 8;
const PAGE_FLAGS = 18;
const PAGE_LOWER = 20;
const PAGE_UPPER = 22;
/** The flag of a page that leads to others. */
export const BRANCH = 1;
/** The flag of a page of records. */
export const LEAF = 2;
/** The flag of the first page of a large value. */
export const OVERFLOW = 4;
/** Node flags: the value lies in overflow pages; the value is a table. */
const BIG_VALUE = 1;
const SUB_TABLE = 2;
const NODE_BYTES = 8;
/** Number, transaction and count of the overflow pages. */
const OVERFLOW_NODE_BYTES = 24;
const TABLE_BYTES = 48;

/** Of a page that describes a snapshot. */
const MAGIC = 0xbeefc0de;
const DATA_VERSION = 2;
const MAGIC_BYTES = 24;
const MAP_SIZE = 40;
const FREE_TABLE = 48;
const MAIN_TABLE = 96;
const LAST_PAGE = 144;
const TXN = 152;
const BOOT = 160;
/** Flags of the list of free pages, of which the second says that the snapshot may not have reached the disk. */
const FREE_FLAGS = 0x08;
const UNFLUSHED = 0x1000;
const MOST_MAP_BYTES = 2 ** 46;
/** A table without pages. */
export const NO_PAGE = 2 ** 64;

/** LMDB's description of a table. */
export interface TableRoot {
  flags: number;
  depth: number;
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  /** `NO_PAGE` when the table is empty. */
  root: number;
}

/** A snapshot of the whole file. */
export interface Snapshot {
  txn: number;
  free: TableRoot;
  main: TableRoot;
  /** Pages that the snapshot may use. */
  pages: number;
  unflushed: boolean;
  /** The third description. */
  isFlushed: boolean;
  /** It was written since the machine was started. */
  thisBoot: boolean;
  /** What is wrong with its description; undefined for the flushed one where there is none. */
  problem: string | undefined;
}

/** One entry of a page. `child` is set in branches; a leaf's value is in the page, or in overflow pages. */
export interface Node {
  key: Uint8Array;
  child: number;
  value: Uint8Array;
  subTable: boolean;
  overflow: { page: number; pages: number; valueBytes: number } | undefined;
}

/** LMDB's file, read page by page without LMDB, which ends a process on a damaged one. Whatever is read may be damaged: nothing throws for it. */
export class PageFile {
  readonly pageSize: number;
  readonly sizeBytes: number;
  readonly #file: number;

  constructor(
    path: string,
    readonly bootId = thisBootId(),
  ) {
    this.#file = openSync(path, 'r');
    this.sizeBytes = fstatSync(this.#file).size;
    // Both descriptions say it, and a page is as large as the machine's pages, 4 KB or a small multiple.
    const told = this.#read(0, HEADER_BYTES + 32).readUInt32LE(FREE_TABLE);
    this.pageSize = told >= 4096 && told <= 65_536 && (told & (told - 1)) === 0 ? told : 4096;
  }

  /** Whole pages that the file has. */
  get pages(): number {
    return Math.floor(this.sizeBytes / this.pageSize);
  }

  close(): void {
    closeSync(this.#file);
  }

  /** One page; zeros where the file has none. */
  page(number: number): Page {
    return new Page(this.#read(number * this.pageSize, this.pageSize));
  }

  /** Whether a part of the file has nothing but zeros. */
  isZero(from: number, to: number): boolean {
    const bytes = this.#read(from, to - from);
    // Every byte is as the first, which is zero.
    return bytes[0] === 0 && bytes.subarray(1).equals(bytes.subarray(0, -1));
  }

  /** Where in the file the value of overflow pages ends. */
  overflowEnd(page: number, valueBytes: number): number {
    return page * this.pageSize + HEADER_BYTES + valueBytes;
  }

  /** What overflow pages hold. */
  overflow(page: number, valueBytes: number): Uint8Array {
    return this.#read(page * this.pageSize + HEADER_BYTES, valueBytes);
  }

  /**
   * The snapshots that the file describes, the one that LMDB would use first. There are two by turns, and a third of what has reached the
   * disk for certain, which is the newest again most of the time.
   */
  snapshots(): Snapshot[] {
    const [zeroth, first] = [this.#snapshot(0), this.#snapshot(this.pageSize)];
    const flushed = this.#snapshot(this.pageSize / 2);
    const [newest, older] = zeroth.txn > first.txn ? [zeroth, first] : [first, zeroth];
    if (flushed.txn === 0) return [newest, older];
    // When the machine was started anew since, the newest may never have reached the disk.
    const isSafe = newest.thisBoot || !newest.unflushed;
    const others = flushed.txn >= older.txn ? [flushed, older] : [older, flushed];
    return isSafe ? [newest, ...others] : [...others, newest];
  }

  #snapshot(at: number): Snapshot {
    const bytes = this.#read(at, HEADER_BYTES + BOOT);
    const main = tableRoot(bytes.subarray(MAIN_TABLE));
    const free = tableRoot(bytes.subarray(FREE_TABLE));
    const pages = number64(bytes, LAST_PAGE) + 1;
    const mapBytes = number64(bytes, MAP_SIZE);
    const isPage = at % this.pageSize === 0;
    const txn = number64(bytes, TXN);
    let problem: string | undefined;
    if (!isPage && txn === 0) problem = undefined;
    else if (isPage && (bytes.readUInt32LE(MAGIC_BYTES) !== MAGIC || bytes.readUInt32LE(MAGIC_BYTES + 4) !== DATA_VERSION))
      problem = 'it does not begin like a state file';
    else if (isPage && bytes.readUInt16LE(PAGE_FLAGS) !== 8) problem = 'its description is marked as something else';
    else if (bytes.readUInt32LE(FREE_TABLE) !== this.pageSize) problem = 'the size of its pages is wrong';
    else if (pages > this.pages || pages < 2) problem = `it should have ${pages} pages and has ${this.pages}`;
    else if (mapBytes > MOST_MAP_BYTES || mapBytes < pages * this.pageSize) problem = 'the size of its map is wrong';
    else if ((free.flags & ~UNFLUSHED) !== FREE_FLAGS || main.flags !== 0) problem = 'its tables are marked as something else';
    return {
      txn,
      free,
      main,
      pages: Math.min(pages, this.pages),
      isFlushed: !isPage,
      unflushed: (free.flags & UNFLUSHED) !== 0,
      thisBoot: bytes.readBigInt64LE(BOOT) === this.bootId,
      problem,
    };
  }

  #read(at: number, length: number): Buffer {
    const bytes = Buffer.alloc(length);
    if (Number.isSafeInteger(at) && at < this.sizeBytes) readSync(this.#file, bytes, 0, length, at);
    return bytes;
  }
}

/** One page of the file. */
export class Page {
  constructor(readonly bytes: Buffer) {}

  /** Its own number, as it says. */
  get number(): number {
    return number64(this.bytes, 0);
  }

  /** The transaction that wrote it. */
  get txn(): number {
    return number64(this.bytes, PAGE_TXN);
  }

  get flags(): number {
    return this.bytes.readUInt16LE(PAGE_FLAGS);
  }

  /** Of an overflow page: how many belong together. */
  get overflowPages(): number {
    return this.bytes.readUInt32LE(PAGE_LOWER);
  }

  /** Where in a page of nodes the bytes lie that none of them has: what was removed may still be there. */
  get gap(): { from: number; to: number } {
    return { from: HEADER_BYTES + this.bytes.readUInt16LE(PAGE_LOWER), to: HEADER_BYTES + this.bytes.readUInt16LE(PAGE_UPPER) };
  }

  /** Where each node lies, or undefined when the page's own account of them cannot be right. */
  nodePlaces(): number[] | undefined {
    const lower = this.bytes.readUInt16LE(PAGE_LOWER);
    const upper = this.bytes.readUInt16LE(PAGE_UPPER);
    const most = this.bytes.length - HEADER_BYTES;
    if (lower % 2 !== 0 || lower > upper || upper > most) return undefined;
    const places: number[] = [];
    let lowest = most;
    let filled = 0;
    for (let at = 0; at < lower; at += 2) {
      const place = this.bytes.readUInt16LE(HEADER_BYTES + at);
      if (place % 2 !== 0 || place + NODE_BYTES > most) return undefined;
      lowest = Math.min(lowest, place);
      filled += this.#nodeBytes(place + HEADER_BYTES);
      places.push(place + HEADER_BYTES);
    }
    // Nodes lie close together at the end of their page, so one that is not counted leaves a gap.
    return lowest === upper && filled === most - upper ? places : undefined;
  }

  /** What a node takes of its page, by its own account. */
  #nodeBytes(place: number): number {
    const isBranch = this.flags === BRANCH;
    const keyBytes = this.bytes.readUInt16LE(place + 6);
    const isBig = (this.bytes.readUInt16LE(place + 4) & BIG_VALUE) !== 0;
    const valueBytes = isBranch ? 0 : isBig ? OVERFLOW_NODE_BYTES : this.bytes.readUInt32LE(place);
    const bytes = NODE_BYTES + keyBytes + valueBytes;
    return bytes + (bytes % 2);
  }

  /** Every place where a node of a page may begin whose account of them is wrong. What lies in front of the first was removed once. */
  possiblePlaces(): number[] {
    const last = this.bytes.length - NODE_BYTES;
    const lower = Math.min(this.bytes.readUInt16LE(PAGE_LOWER), last - HEADER_BYTES);
    let lowest = last;
    for (let at = 0; at + 1 < lower; at += 2) lowest = Math.min(lowest, HEADER_BYTES + this.bytes.readUInt16LE(HEADER_BYTES + at));
    const upper = HEADER_BYTES + this.bytes.readUInt16LE(PAGE_UPPER);
    const first = [upper, lowest].find((place) => this.#isFilledFrom(place)) ?? Math.min(upper, lowest, last);
    const places: number[] = [];
    for (let place = first + (first % 2); place <= last; place += 2) places.push(place);
    return places;
  }

  /** Whether one node lies behind the other from a place up to the end of the page. */
  #isFilledFrom(first: number): boolean {
    let place = first;
    while (place % 2 === 0 && place + NODE_BYTES <= this.bytes.length) {
      const node = this.node(place, true);
      if (node === undefined) return false;
      const end = node.value.byteOffset - this.bytes.byteOffset + node.value.length;
      place = end + (end % 2);
    }
    return place === this.bytes.length;
  }

  /** The node at a place; undefined when it does not fit into the page. */
  node(place: number, leaf: boolean): Node | undefined {
    const { bytes } = this;
    const low = bytes.readUInt32LE(place);
    const flags = bytes.readUInt16LE(place + 4);
    const keyEnd = place + NODE_BYTES + bytes.readUInt16LE(place + 6);
    if (keyEnd > bytes.length) return undefined;
    const key = bytes.subarray(place + NODE_BYTES, keyEnd);
    const node: Node = { key, child: low + flags * 2 ** 32, value: bytes.subarray(0, 0), subTable: false, overflow: undefined };
    if (!leaf) return node;
    const big = (flags & BIG_VALUE) !== 0;
    const end = keyEnd + (big ? OVERFLOW_NODE_BYTES : low);
    if (end > bytes.length || flags > BIG_VALUE + SUB_TABLE) return undefined;
    node.value = bytes.subarray(keyEnd, end);
    node.subTable = (flags & SUB_TABLE) !== 0;
    if (big) node.overflow = { page: number64(node.value, 0), pages: number64(node.value, 16), valueBytes: low };
    return node;
  }
}

/** The description of a table; one that is too short describes an empty one. */
export function tableRoot(bytes: Uint8Array): TableRoot {
  const from = Buffer.alloc(TABLE_BYTES, 0xff);
  from.set(bytes.subarray(0, TABLE_BYTES));
  return {
    flags: from.readUInt16LE(4),
    depth: from.readUInt16LE(6),
    branchPages: number64(from, 8),
    leafPages: number64(from, 16),
    overflowPages: number64(from, 24),
    entries: number64(from, 32),
    root: number64(from, 40),
  };
}

/** A number of 64 bits; those above 2^53 are only good for comparing. */
export function number64(bytes: Uint8Array, at: number): number {
  return Number(Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).readBigUInt64LE(at));
}

/** What LMDB notes of the machine's last start; -1n where the system does not tell. */
function thisBootId(): bigint {
  try {
    return BigInt(`0x${readFileSync('/proc/sys/kernel/random/boot_id', 'utf8').split('-')[0]}`);
  } catch {
    return -1n;
  }
}
