import { type FileHandle, open } from 'node:fs/promises';
import { Failure } from '../../schemas/errors.js';
import { breathe } from '../base/loop.js';
import type { Environment } from './environment.js';
import { BRANCH, LEAF, NO_PAGE, PageFile, type TableRoot, tableRoot } from './page-file.js';
import { encodeRecord, sealRecord } from './record-bytes.js';
import type { Change, Writer } from './writer.js';

/** Transactions that write nothing new: behind them neither of the two newest snapshots knows a page that was free before. */
const EMPTY_COMMITS = 3;
/** The key of a record that those rewrite. */
const MARK = 'scrubbed';
/** Bytes that are overwritten at once. */
const PIECE = Buffer.alloc(65_536);

/**
 * Overwrites with zeros what removed records have left in the file of an environment: pages that no snapshot has, and the gaps between the records of
 * others. LMDB leaves both as they are. Nothing that is reachable is touched, so that the end of the process meanwhile costs nothing.
 */
export function scrub(writer: Writer, environment: Environment): Promise<void> {
  return writer.between(async (commit) => {
    for (let count = 1; count <= EMPTY_COMMITS; count += 1) await commit([mark(count)]);
    environment.refresh();
    const pages = new PageFile(environment.file);
    const file = await open(environment.file, 'r+');
    try {
      await new Scrubbing(pages, file).run();
      await file.sync();
    } finally {
      pages.close();
      await file.close();
    }
  });
}

function mark(count: number): Change {
  return { table: 'meta', key: MARK, value: sealRecord('meta', MARK, encodeRecord('meta', count)) };
}

class Scrubbing {
  readonly #pages: PageFile;
  readonly #file: FileHandle;
  /** 1 = in use, by page. */
  readonly #used: Uint8Array;

  constructor(pages: PageFile, file: FileHandle) {
    this.#pages = pages;
    this.#file = file;
    this.#used = new Uint8Array(pages.pages);
  }

  async run(): Promise<void> {
    const described = this.#pages.snapshots();
    const wrong = described.find(({ problem }) => problem !== undefined);
    if (wrong) throw damaged(wrong.problem!);
    for (const { free, main, txn } of described) {
      if (txn === 0) continue;
      await this.#walk(free, false);
      await this.#walk(main, true);
    }
    // The first two pages describe the snapshots.
    for (let page = 2; page < this.#used.length; page += 1) {
      if (this.#used[page] === 0) await this.#clear(page * this.#pages.pageSize, (page + 1) * this.#pages.pageSize);
      await breathe();
    }
  }

  /** Goes through a tree: its pages are in use, and their gaps are cleared. */
  async #walk({ root }: TableRoot, hasTables: boolean): Promise<void> {
    const open = root === NO_PAGE ? [] : [root];
    while (open.length > 0) {
      const number = open.pop()!;
      // Snapshots share most of their pages, and what lies below a shared one is shared.
      if (this.#used[number] === 1) continue;
      const page = this.#pages.page(number);
      const places = page.number === number && [BRANCH, LEAF].includes(page.flags) ? page.nodePlaces() : undefined;
      if (!places) throw damaged(`page ${number} is not a page of a tree`);
      this.#used[number] = 1;
      for (const place of places) {
        const node = page.node(place, page.flags === LEAF);
        if (!node) throw damaged(`page ${number} has an entry that does not fit into it`);
        if (page.flags === BRANCH) open.push(node.child);
        else if (hasTables && node.subTable) await this.#walk(tableRoot(node.value), false);
        else if (node.overflow) await this.#keepOverflow(node.overflow);
      }
      const { from, to } = page.gap;
      const start = number * this.#pages.pageSize;
      await this.#clear(start + from, start + to);
      await breathe();
    }
  }

  async #keepOverflow({ page, pages, valueBytes }: { page: number; pages: number; valueBytes: number }): Promise<void> {
    this.#used.fill(1, page, page + pages);
    await this.#clear(this.#pages.overflowEnd(page, valueBytes), (page + pages) * this.#pages.pageSize);
  }

  /** Overwrites a part of the file, unless it is zeros already. */
  async #clear(from: number, to: number): Promise<void> {
    if (to <= from || this.#pages.isZero(from, to)) return;
    for (let at = from; at < to; ) {
      const { bytesWritten } = await this.#file.write(PIECE, 0, Math.min(PIECE.length, to - at), at);
      at += bytesWritten;
    }
  }
}

function damaged(what: string): Failure {
  return new Failure(
    'internal',
    `The state file is damaged (${what}), so that removed records cannot be overwritten. Start the daemon again: it then repairs the file.`,
  );
}
