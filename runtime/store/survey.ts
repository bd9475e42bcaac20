import {
  BRANCH,
  LEAF,
  NO_PAGE,
  type Node,
  number64,
  OVERFLOW,
  type Page,
  PageFile,
  type Snapshot,
  type TableRoot,
  tableRoot,
} from './page-file.js';
import { decodeRecord, isIntact, isSealed, SEAL_BYTES } from './record-bytes.js';
import { TABLE_NAMES, type TableName } from './tables.js';

/** Problems that are told one by one. */
const MOST_PROBLEMS = 20;
/** Damaged records that are remembered, for a backup that may have them. */
const MOST_DAMAGED = 1_000;
/** No tree is deeper; one that seems so goes in circles. */
const MOST_DEPTH = 40;
const FREE = 1;
const USED = 2;

/** A record as it is stored, with the bytes of its key. */
export interface FoundRecord {
  table: TableName;
  key: Uint8Array;
  record: Uint8Array;
  /** It lies in a page that no other leads to: it counts only where nothing else has its key, and newer ones come first. */
  stray: boolean;
}

interface Counts {
  branchPages: number;
  leafPages: number;
  overflowPages: number;
  entries: number;
  depth: number;
}

/**
 * Reads every record of a data file that can be read, whatever happened to the file, and says what is wrong with it. Everything that LMDB
 * relies on is checked: that pages are what they say, lie within the file and are used once, that keys are in order, and that each record
 * fits its seal. Where a page that leads to others is damaged, these are found by being neither free nor reached.
 */
export class Survey {
  /** What is wrong, in words; none in a sound file. */
  readonly problems: string[] = [];
  /** How many records the tables say they have. */
  readonly told = new Map<TableName, number>();
  /** Records whose key could be read, and whose value does not fit the seal. */
  readonly damaged: Omit<FoundRecord, 'stray'>[] = [];
  readonly #file: PageFile;
  #marks = new Uint8Array(0);
  /** No page of a table was missed. Where one was, what lies in pages without an owner is looked at; else that was removed once. */
  #reachesAll = false;
  /** Pages that any snapshot says it has. */
  #pages = 0;
  /** The newest transaction whose pages count. */
  #txn = 0;

  /** Opens the data file; throws the system's error where it cannot be read. */
  constructor(path: string) {
    this.#file = new PageFile(path);
  }

  /** All readable records; call it once, and read `problems` after the last. */
  *records(): Generator<FoundRecord> {
    try {
      const chosen = this.#choose();
      this.#txn = chosen?.txn ?? 0;
      this.#marks = new Uint8Array(chosen ? this.#pages : this.#file.pages);
      if (chosen) {
        this.#reachesAll = true;
        this.#markFree(chosen.snapshot.free);
        // A list of free pages that is wrong somewhere may name pages that are in use.
        if (!this.#reachesAll) this.#marks.fill(0);
        this.#reachesAll = true;
        yield* this.#tables(chosen.snapshot.main);
      } else this.#note('none of its descriptions leads to a table');
      if (!this.#reachesAll) yield* this.#strays();
    } finally {
      this.#file.close();
    }
  }

  /** Whether every record that the tables have was read. */
  get isComplete(): boolean {
    return this.#reachesAll;
  }

  #note(problem: string, misses = true): void {
    if (misses) this.#reachesAll = false;
    if (this.problems.length < MOST_PROBLEMS) this.problems.push(problem);
  }

  /** The snapshot to read: the one that LMDB would take, unless its description cannot be right. */
  #choose(): { snapshot: Snapshot; txn: number } | undefined {
    const snapshots = this.#file.snapshots();
    const first = snapshots[0]!;
    const usable = snapshots.map((snapshot) => ({ snapshot, txn: this.#rootTxn(snapshot) })).filter(({ txn }) => txn > 0);
    const problems = snapshots.map(({ problem }) => problem).filter((problem) => problem !== undefined);
    if (usable[0]?.snapshot !== first || usable[0].txn !== first.txn) problems.push('its newest description leads nowhere');
    if (!isRow(snapshots)) problems.push('its descriptions do not follow one another');
    this.#pages = Math.max(...snapshots.map(({ pages }) => pages));
    if (problems.length === 0) return usable[0];
    for (const problem of problems) this.#note(problem);
    return usable.sort((a, b) => b.txn - a.txn)[0];
  }

  /** The transaction that wrote the list of tables; 0 when there is no such list. */
  #rootTxn({ main }: Snapshot): number {
    if (main.root >= this.#file.pages) return 0;
    const page = this.#file.page(main.root);
    const places = page.nodePlaces() ?? page.possiblePlaces();
    return places.some((place) => tableOf(page.node(place, true)) !== undefined) ? page.txn : 0;
  }

  #markFree(root: TableRoot): void {
    const counts = noCounts();
    for (const node of this.#tree(root, 'the list of free pages', counts)) {
      const value = node.overflow ? this.#overflow(node.overflow, counts, 'the list of free pages') : node.value;
      const size = value.length < 8 ? 0 : number64(value, 0);
      if (node.key.length !== 8 || value.length % 8 !== 0 || (size + 1) * 8 > value.length) {
        this.#note('an entry of the list of free pages has a wrong size');
        continue;
      }
      for (let at = 1, run = 1; at <= size; at += 1) {
        const entry = Number(Buffer.from(value.buffer, value.byteOffset, value.byteLength).readBigInt64LE(at * 8));
        if (entry < 0) run = -entry;
        else {
          if (entry > 0) this.#markFreeRun(entry, run);
          run = 1;
        }
      }
    }
    this.#compare(root, counts, 'the list of free pages');
  }

  #markFreeRun(first: number, count: number): void {
    if (first < 2 || first + count > this.#marks.length) {
      this.#note(`the list of free pages names page ${first}, which there is not`);
      return;
    }
    if (this.#marks.subarray(first, first + count).some((mark) => mark !== 0)) this.#note(`page ${first} is listed as free and is in use`);
    this.#marks.fill(FREE, first, first + count);
  }

  *#tables(main: TableRoot): Generator<FoundRecord> {
    const counts = noCounts();
    for (const node of this.#tree(main, 'the list of tables', counts)) {
      const table = tableOf(node);
      if (table === undefined) {
        this.#note('the list of tables has an entry that is not a table');
        continue;
      }
      yield* this.#records(table, tableRoot(node.value));
    }
    this.#compare(main, counts, 'the list of tables');
  }

  *#records(table: TableName, root: TableRoot): Generator<FoundRecord> {
    const counts = noCounts();
    this.told.set(table, root.entries);
    if (root.flags !== 0) this.#note(`the table ${table} is marked as something else`);
    for (const node of this.#tree(root, `the table ${table}`, counts)) {
      const record = node.overflow ? this.#overflow(node.overflow, counts, `the table ${table}`) : node.value;
      if (!node.subTable && isReadable(table, node.key, record)) {
        yield { table, key: node.key, record, stray: false };
        continue;
      }
      this.#note(`a record of the table ${table} does not fit its checksum`);
      // What the page says of the record may be wrong, and the record still be in it.
      this.#marks[node.page] = 0;
      if (this.damaged.length < MOST_DAMAGED) this.damaged.push({ table, key: node.key, record });
    }
    this.#compare(root, counts, `the table ${table}`);
  }

  /** The nodes of a tree's leaves, in order. */
  *#tree(root: TableRoot, name: string, counts: Counts): Generator<Node & { page: number }> {
    if (root.root !== NO_PAGE) yield* this.#below(root.root, 1, {}, name, counts);
  }

  *#below(
    number: number,
    depth: number,
    bounds: { from?: Uint8Array | undefined; to?: Uint8Array | undefined },
    name: string,
    counts: Counts,
  ): Generator<Node & { page: number }> {
    const page = this.#checkedPage(number, depth, name);
    if (page === undefined) return;
    const isLeaf = page.flags === LEAF;
    counts.depth = Math.max(counts.depth, depth);
    if (isLeaf) counts.leafPages += 1;
    else counts.branchPages += 1;
    const nodes = (page.nodePlaces() ?? []).map((place) => page.node(place, isLeaf));
    let before = bounds.from;
    for (const [index, node] of nodes.entries()) {
      if (node === undefined) {
        this.#note(`page ${number} of ${name} has an entry that does not fit into it`);
        this.#marks[number] = 0;
        continue;
      }
      // The first key of a branch stands for everything in front of the second.
      const isFirst = !isLeaf && index === 0;
      if (!isFirst && !inOrder(before, node.key, bounds.to, name)) this.#note(`the keys of page ${number} of ${name} are out of order`);
      if (!isFirst) before = node.key;
      if (isLeaf) {
        counts.entries += 1;
        yield { ...node, page: number };
      } else {
        const next = nodes[index + 1];
        yield* this.#below(node.child, depth + 1, { from: before, to: next ? next.key : bounds.to }, name, counts);
      }
    }
  }

  /** A page of a tree, now in use; undefined, with a note, where it cannot be one: its records, if it has some, are strays then. */
  #checkedPage(number: number, depth: number, name: string): Page | undefined {
    if (!(number >= 2 && number < this.#marks.length) || depth > MOST_DEPTH) {
      this.#note(`${name} refers to page ${number}, which there is not`);
      return undefined;
    }
    if (this.#marks[number] !== 0) {
      this.#note(`${name} refers to page ${number}, which is in use elsewhere`);
      return undefined;
    }
    const page = this.#file.page(number);
    const isKnown = page.flags === LEAF || page.flags === BRANCH;
    if (page.number !== number || !isKnown || page.nodePlaces() === undefined || page.txn > this.#txn) {
      this.#note(`page ${number} of ${name} is damaged`);
      return undefined;
    }
    this.#marks[number] = USED;
    return page;
  }

  #overflow({ page, pages, valueBytes }: NonNullable<Node['overflow']>, counts: Counts, name: string): Uint8Array {
    const needed = Math.ceil((valueBytes + 24) / this.#file.pageSize);
    if (!(page >= 2 && page + needed <= this.#marks.length)) {
      this.#note(`${name} refers to page ${page}, which there is not`);
      return new Uint8Array(0);
    }
    const first = this.#file.page(page);
    if (first.number !== page || first.flags !== OVERFLOW || first.overflowPages !== pages || pages < needed || first.txn > this.#txn)
      this.#note(`page ${page} of ${name} is damaged`);
    const marks = this.#marks.subarray(page, page + needed);
    if (marks.some((mark) => mark !== 0)) this.#note(`${name} refers to page ${page}, which is in use elsewhere`);
    marks.fill(USED);
    counts.overflowPages += needed;
    return this.#file.overflow(page, valueBytes);
  }

  #compare(root: TableRoot, counts: Counts, name: string): void {
    for (const part of ['branchPages', 'leafPages', 'overflowPages', 'entries', 'depth'] as const) {
      if (root[part] !== counts[part]) this.#note(`${name} should have ${part} ${root[part]} and has ${counts[part]}`, false);
    }
  }

  /** Sealed records in pages that are neither free nor reached, newest pages first: each belongs to the table that its seal fits. */
  *#strays(): Generator<FoundRecord> {
    const pages: { number: number; txn: number }[] = [];
    for (let number = 2; number < this.#marks.length; number += 1) {
      if (this.#marks[number] !== 0) continue;
      const page = this.#file.page(number);
      if (page.number === number && page.flags === OVERFLOW) number += Math.max(0, page.overflowPages - 1);
      else pages.push({ number, txn: page.txn });
    }
    pages.sort((a, b) => b.txn - a.txn);
    for (const { number } of pages) {
      const page = this.#file.page(number);
      yield* this.#sealedIn(page);
    }
  }

  *#sealedIn(page: Page): Generator<FoundRecord> {
    for (const place of page.possiblePlaces()) {
      const node = page.node(place, true);
      if (node === undefined || node.subTable) continue;
      const { overflow } = node;
      if (overflow && !(overflow.page >= 2 && overflow.page * this.#file.pageSize + overflow.valueBytes <= this.#file.sizeBytes)) continue;
      const record = overflow ? this.#file.overflow(overflow.page, overflow.valueBytes) : node.value;
      if (!isSealed(record)) continue;
      const table = TABLE_NAMES.find((name) => isIntact(name, node.key, record));
      if (table !== undefined) yield { table, key: node.key, record, stray: true };
    }
  }
}

/** Whether the two descriptions that are written by turns are one transaction apart, and the third is the same as one of them, or older. */
function isRow(snapshots: readonly Snapshot[]): boolean {
  const [newest, older] = snapshots.filter(({ isFlushed }) => !isFlushed).sort((a, b) => b.txn - a.txn) as [Snapshot, Snapshot];
  const flushed = snapshots.find(({ isFlushed }) => isFlushed);
  if (newest.txn !== older.txn + 1) return false;
  const same = [newest, older].find(({ txn }) => txn === flushed?.txn);
  const content = ({ free, main, pages }: Snapshot): string => JSON.stringify([{ ...free, flags: 0 }, main, pages]);
  return flushed === undefined || (same === undefined ? flushed.txn < older.txn : content(same) === content(flushed));
}

function noCounts(): Counts {
  return { branchPages: 0, leafPages: 0, overflowPages: 0, entries: 0, depth: 0 };
}

function tableOf(node: Node | undefined): TableName | undefined {
  if (!node?.subTable || node.overflow) return undefined;
  const name = Buffer.from(node.key).toString('latin1');
  return TABLE_NAMES.find((known) => `${known}\0` === name);
}

function isReadable(table: TableName, key: Uint8Array, record: Uint8Array): boolean {
  if (isSealed(record)) return isIntact(table, key, record);
  // A record of format 2, unless the mark of its seal is what was damaged.
  if (record.length >= SEAL_BYTES && isIntact(table, key, record)) return false;
  try {
    decodeRecord(record);
    return true;
  } catch {
    return false;
  }
}

/** Keys of tables are compared byte by byte; those of the list of free pages are numbers. */
function inOrder(before: Uint8Array | undefined, key: Uint8Array, to: Uint8Array | undefined, name: string): boolean {
  const number = name === 'the list of free pages';
  const compare = (a: Uint8Array, b: Uint8Array): number =>
    number && a.length === 8 && b.length === 8 ? number64(a, 0) - number64(b, 0) : Buffer.compare(a, b);
  return (before === undefined || compare(before, key) <= 0) && (to === undefined || compare(key, to) < 0);
}
