import { readColumns } from '../../../native/columns.js';
import type { ColumnFrame, ColumnKind, NativeColumns } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { quote } from '../../base/names.js';
import type { Batch, Store, TableRecord } from '../../store/store.js';
import { appendTo, bytesOf, type Cells, cellsOf, joinedKind, type Row } from '../cells.js';
import { SegmentLog } from '../segment-log.js';
import type { Appended, BufferStats, ReadAsk } from './contract.js';

const isNumeric = (kind: ColumnKind): boolean => kind === 'i64' || kind === 'f64';

/** One buffer: rows in a native table, and on the disk. What it answers is on the disk. */
export class DataBuffer {
  readonly name: string;
  readonly record: TableRecord;
  readonly #native: NativeColumns;
  readonly #log: SegmentLog;
  /** What columns hold, those of appends that are under way included. */
  #kinds = new Map<string, ColumnKind>();
  /** Ends when everything that was begun has ended; never rejects. */
  #last: Promise<unknown> = Promise.resolve();
  #converting: Promise<unknown> = Promise.resolve();
  #underWay = 0;
  #appends = 0;
  #appendMs = 0;
  #gone = false;

  constructor(store: Store, name: string, record: TableRecord) {
    this.name = name;
    this.record = record;
    this.#native = loadCore().openColumns({ capacity: record.windowSize });
    this.#log = new SegmentLog(store, record.owner, this.#native);
  }

  /** Reads its rows from the disk. */
  async load(): Promise<void> {
    await this.#log.load();
    this.#learnKinds();
  }

  /** Memory of its rows. */
  get bytes(): number {
    return this.#native.stats().bytes;
  }

  /** Memory of what reads of features go on from. */
  get liveBytes(): number {
    return this.#native.stats().liveBytes;
  }

  /** Lets go of what reads of features go on from; the next one is made from the rows. */
  forgetFeatures(): void {
    this.#native.forgetFeatures();
  }

  stats(): BufferStats {
    const { first, next, bytes, liveBytes, columns } = this.#native.stats();
    return {
      name: this.name,
      size: next - first,
      windowSize: this.record.windowSize,
      columns: columns.map(({ name }) => name),
      numericColumns: columns.filter(({ kind }) => isNumeric(kind)).map(({ name }) => name),
      rowBytes: bytes,
      memoryBytes: bytes + liveBytes,
      appendCount: this.#log.next,
      avgAppendMs: this.#appends === 0 ? 0 : this.#appendMs / this.#appends,
    };
  }

  /** `admit` sees what memory the rows will take in all, and throws to refuse them. */
  async append(rows: readonly Row[], admit: (bytesAfter: number) => void): Promise<Appended> {
    const began = performance.now();
    const converted = this.#converting.then(() => this.#convert(rows, admit));
    this.#converting = converted.catch(() => undefined);
    const { written, cells } = await converted;
    const done = Promise.all([written, this.#last]).then(() => this.#apply(cells));
    this.#last = done.catch(() => undefined);
    try {
      await done;
    } finally {
      this.#underWay -= 1;
      if (this.#underWay === 0) this.#learnKinds();
    }
    this.#appends += 1;
    this.#appendMs += performance.now() - began;
    const { size, avgAppendMs } = this.stats();
    return { appended: cells.rows, size, avgAppendMs };
  }

  async #convert(rows: readonly Row[], admit: (bytesAfter: number) => void): Promise<{ written: Promise<void>; cells: Cells }> {
    const cells = await cellsOf(rows, this.#kinds);
    this.#checkThere();
    admit(this.#bytesAfter(cells));
    for (const { name, kind } of cells.columns) this.#kinds.set(name, joinedKind(this.#kinds.get(name) ?? 'null', kind)!);
    this.#underWay += 1;
    const written = this.#log.append(cells);
    // The caller awaits it later.
    written.catch(() => undefined);
    return { written, cells };
  }

  async #apply(cells: Cells): Promise<void> {
    await appendTo(this.#native, cells);
    this.#log.noteApplied(cells.rows);
  }

  /** Rows that are pushed out make room for those that come. */
  #bytesAfter(cells: Cells): number {
    const { first, next, bytes } = this.#native.stats();
    const kept = Math.max(0, Math.min(next - first, this.record.windowSize - cells.rows));
    return (
      (next === first ? 0 : (bytes * kept) / (next - first)) +
      bytesOf(cells) * Math.min(1, this.record.windowSize / Math.max(1, cells.rows))
    );
  }

  /** The rows of this moment. */
  async read({ tail, features }: ReadAsk, mostCells: number): Promise<ColumnFrame> {
    const { first, next, columns } = this.#native.stats();
    const rows = Math.min(next - first, tail ?? Number.POSITIVE_INFINITY);
    const numeric = columns.filter(({ kind }) => isNumeric(kind)).length;
    const { windows = [], statistics, lags = [], rates = [], spans = [] } = features ?? {};
    const made = numeric * (windows.length * (statistics?.length ?? 4) + lags.length + rates.length + spans.length);
    const cells = rows * (columns.length + made);
    if (cells > mostCells)
      throw new Failure(
        'too_large',
        `${rows} rows of ${columns.length + made} columns are ${cells} cells, and an answer holds ${mostCells}: ask for the last rows only with tail, or for fewer features.`,
        { fields: { rows, columns: columns.length + made, cells, allowed_cells: mostCells } },
      );
    return readColumns(this.#native, { ...(tail === undefined ? {} : { tail }), ...(features ? { features } : {}) });
  }

  /** Takes all rows away, in one transaction with what `also` adds. `forGood` refuses everything afterwards. */
  async clear(also: (batch: Batch) => void, forGood: boolean): Promise<void> {
    this.#gone ||= forGood;
    const clearing = Promise.all([this.#converting, this.#last]).then(async () => {
      await this.#log.clear(also);
      this.#native.clear();
      this.#appends = 0;
      this.#appendMs = 0;
      this.#learnKinds();
    });
    // What comes meanwhile waits.
    this.#converting = clearing.catch(() => undefined);
    await clearing;
  }

  /** Waits for everything that was begun. */
  async settled(): Promise<void> {
    await this.#converting;
    await this.#last;
    await this.#log.settled();
  }

  #learnKinds(): void {
    if (this.#underWay === 0) this.#kinds = new Map(this.#native.stats().columns.map(({ name, kind }) => [name, kind]));
  }

  #checkThere(): void {
    if (this.#gone) throw new Failure('not_found', `Buffer ${quote(this.name)} was deleted meanwhile.`);
  }
}
