import { Failure } from '../../schemas/errors.js';
import type { MemoryStore as StoreConfig } from '../../schemas/generated/config/memory.js';
import { log } from '../base/log.js';
import { breathe } from '../base/loop.js';
import type { MemoryKey, MemoryStoreRecord, Store } from '../store/store.js';
import type {
  GraphReads,
  KindName,
  MemoryChange,
  MemoryChanged,
  MemoryCounts,
  MemoryRecord,
  MemoryStore,
  PlaceReads,
  ReadFilter,
  SeriesReads,
  Who,
  WorkingReads,
} from './contract.js';
import { Draft, type DraftChange, linesOf } from './draft.js';
import { passes } from './filter.js';
import type { KindSpace, MemoryKind, RecordChange } from './kind.js';
import { MEMORY_KINDS } from './kinds/index.js';
import { Lines, lineKey } from './lines.js';

/** Records of one `write`, and records that one transaction takes before it is written. */
const MOST_CHANGED = 1_000;
const FULL_DRAFT = 256;
/** Records removed at once. */
const PAGE = 256;
/** A newest record that lies so far in the future comes from a clock that was wrong. */
const MOST_AHEAD_MS = 60_000;
/** Records with one hash in an answer. */
const MOST_EQUAL = 100;

/** What memory stores are opened with. */
export interface StoreParts {
  readonly store: Store;
  readonly key: MemoryKey;
  readonly config: StoreConfig;
  /** Milliseconds since 1970. */
  nowMs(): number;
  /** A number that no store has or had. */
  newOwner(): number;
}

interface Waiting {
  readonly change: DraftChange;
  resolve(added: MemoryRecord[]): void;
  reject(failure: unknown): void;
}

/** Work that no change may come between. It settles its own promise and never rejects. */
type Exclusive = () => Promise<void>;

/** What the indexes are made by: of another shape they are made anew. */
function shapeOf(config: StoreConfig): string {
  return `1 ${config.spatial?.index_type ?? 'rtree'}`;
}

/** One memory store. One transaction at a time takes all changes that wait, so that what it decides by is on the disk. */
export class OpenStore implements MemoryStore {
  readonly #parts: StoreParts;
  readonly #lines: Lines;
  #state: MemoryStoreRecord;
  #reads: Partial<Record<KindName, object>> = {};
  #indexes: ((changes: readonly RecordChange[]) => void)[] = [];
  readonly #listeners = new Set<(changed: MemoryChanged) => void>();
  #waiting: (Waiting | Exclusive)[] = [];
  #running: Promise<void> | undefined;
  #gone = false;

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { store, key, config } = parts;
    const known = store.memoryStores.get(key);
    this.#state = known ?? { owner: parts.newOwner(), nextSeq: 1, newestMs: 0, shape: shapeOf(config), counts: {} };
    this.#lines = new Lines(store, this.#state.owner);
    this.#openKinds();
  }

  get namespace(): string {
    return this.#parts.key[0];
  }
  get project(): string {
    return this.#parts.key[1];
  }
  get name(): string {
    return this.#parts.key[2];
  }
  get config(): StoreConfig {
    return this.#parts.config;
  }
  get working(): WorkingReads | undefined {
    return this.#reads.working_memory as WorkingReads | undefined;
  }
  get series(): SeriesReads | undefined {
    return this.#reads.timeseries as SeriesReads | undefined;
  }
  get places(): PlaceReads | undefined {
    return this.#reads.spatial as PlaceReads | undefined;
  }
  get graph(): GraphReads | undefined {
    return this.#reads.graph as GraphReads | undefined;
  }

  /** Makes its indexes anew where they were made by another configuration. To be awaited before it is used. */
  async ready(): Promise<void> {
    const shape = shapeOf(this.config);
    if (this.#state.shape === shape) return;
    await this.#alone(() => this.#reindex());
  }

  /** Makes its indexes anew of its records. */
  async #reindex(): Promise<void> {
    const { store, key } = this.#parts;
    const { owner } = this.#state;
    await removeLines(store, owner);
    for await (const page of paged(this.#lines.records())) {
      await store.write(async (batch) => {
        for (const record of page) {
          for (const line of linesOf(record, this.config)) batch.put('memoryLines', lineKey(owner, line, record.seq), line.value ?? null);
          await breathe();
        }
      });
    }
    const state = { ...this.#state, shape: shapeOf(this.config) };
    await store.write((batch) => batch.put('memoryStores', key, state));
    this.#state = state;
    this.#openKinds();
  }

  async write(change: MemoryChange): Promise<MemoryRecord[]> {
    const count = (change.add?.length ?? 0) + (change.end?.length ?? 0) + (change.remove?.length ?? 0);
    if (count > MOST_CHANGED)
      throw new Failure('too_large', `A change of ${count} memories is too large: ${MOST_CHANGED} is the most.`, {
        code: 'ChangeTooLarge',
      });
    return this.#change(change);
  }

  get(id: string): MemoryRecord | undefined {
    const [line] = this.#lines.first('id', [id], 1);
    return line && this.#lines.record(line.seq);
  }

  bySeq(seqs: readonly number[]): MemoryRecord[] {
    return seqs.map((seq) => this.#lines.record(seq)).filter((record) => record !== undefined);
  }

  withHash(hash: string): MemoryRecord[] {
    const found = this.#lines.first('hash', [hash], MOST_EQUAL).map(({ seq }) => seq);
    return this.bySeq(found.reverse());
  }

  async *records({ afterSeq = 0, ...filter }: ReadFilter & { afterSeq?: number } = {}): AsyncGenerator<MemoryRecord> {
    const { user, session } = filter;
    const who = session !== undefined ? (['session', session] as const) : user !== undefined ? (['user', user] as const) : undefined;
    if (!who) {
      for await (const record of this.#lines.records(afterSeq)) if (passes(record, filter)) yield record;
      return;
    }
    for await (const { seq } of this.#lines.all(who[0], { prefix: [who[1]], from: afterSeq + 1 })) {
      const record = this.#lines.record(seq);
      if (record && passes(record, filter)) yield record;
      await breathe();
    }
  }

  note(name: string): unknown {
    return this.#lines.note(name);
  }

  counts(): MemoryCounts {
    const { records = 0, bytes = 0, nodes = 0, edges = 0, links = 0, ...kinds } = this.#state.counts;
    return { records, bytes, nodes, edges, links, kinds };
  }

  async clear(kind: KindName | 'all'): Promise<MemoryCounts> {
    const before = this.counts();
    if (kind === 'all') await this.#alone(() => this.#startAnew());
    else await this.#dropAll(MEMORY_KINDS.find(({ name }) => name === kind)!);
    return difference(before, this.counts());
  }

  async prune(): Promise<number> {
    const nowMs = this.#parts.nowMs();
    if (this.#state.newestMs > nowMs + MOST_AHEAD_MS) await this.#alone(() => this.#setClockBack(nowMs));
    let dropped = 0;
    const space = this.#space();
    for (const kind of MEMORY_KINDS as readonly MemoryKind[]) {
      if (!kind.expired || !kind.isOn(this.config)) continue;
      for (;;) {
        const seqs = kind.expired(space, this.#state.counts[kind.name] ?? 0);
        if (seqs.length === 0) break;
        await this.#change({ drop: { kind: kind.name, seqs } });
        dropped += seqs.length;
      }
    }
    return dropped;
  }

  async forget(who: Who): Promise<number> {
    let forgotten = 0;
    for await (const page of paged(this.records(who))) {
      await this.#change({ remove: page.map(({ id }) => id) });
      forgotten += page.length;
    }
    return forgotten;
  }

  watch(listener: (changed: MemoryChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refuses all changes from now on, and waits for those under way. */
  async close(): Promise<void> {
    this.#gone = true;
    await this.#running;
  }

  #change(change: DraftChange): Promise<MemoryRecord[]> {
    if (this.#gone)
      return Promise.reject(
        new Failure('unavailable', `Memory store '${this.name}' was closed or changed meanwhile. Try again.`, { retryAfterS: 1 }),
      );
    return new Promise((resolve, reject) => {
      this.#waiting.push({ change, resolve, reject });
      this.#running ??= this.#run();
    });
  }

  /** Does work when all changes in front of it are made, and before those behind it. */
  #alone<Result>(work: () => Promise<Result>): Promise<Result> {
    return new Promise((resolve, reject) => {
      this.#waiting.push(() => work().then(resolve, reject));
      this.#running ??= this.#run();
    });
  }

  async #run(): Promise<void> {
    // Lets changes of the same event turn join the first transaction.
    await Promise.resolve();
    for (;;) {
      const [next] = this.#waiting;
      if (next === undefined) break;
      if (typeof next !== 'function') await this.#writeSome();
      else {
        this.#waiting.shift();
        await next();
      }
    }
    this.#running = undefined;
  }

  /** One transaction of what waits. */
  async #writeSome(): Promise<void> {
    const draft = this.#draft();
    const taken: { waiting: Waiting; added: MemoryRecord[] }[] = [];
    for (;;) {
      const [waiting] = this.#waiting;
      if (waiting === undefined || typeof waiting === 'function' || draft.size >= FULL_DRAFT) break;
      this.#waiting.shift();
      try {
        taken.push({ waiting, added: draft.take(waiting.change) });
      } catch (failure) {
        waiting.reject(failure);
      }
      await breathe();
    }
    if (taken.length === 0) return;
    try {
      await this.#commit(draft);
      for (const { waiting, added } of taken) waiting.resolve(added);
    } catch (failure) {
      if (taken.length === 1) taken[0]!.waiting.reject(failure);
      // One that does not fit takes no other down with it.
      else for (const { waiting } of taken) await this.#apply(waiting.change).then(waiting.resolve, waiting.reject);
    }
  }

  /** Makes a change at once; only for who is alone. */
  async #apply(change: DraftChange): Promise<MemoryRecord[]> {
    const draft = this.#draft();
    const added = draft.take(change);
    await this.#commit(draft);
    return added;
  }

  #draft(): Draft {
    return new Draft(this.#state, this.#lines, this.config, this.#parts.nowMs());
  }

  async #commit(draft: Draft): Promise<void> {
    await this.#parts.store.write((batch) => draft.fill(batch, this.#parts.key));
    this.#state = draft.state;
    this.#tell(draft.changes);
  }

  #tell(changes: readonly RecordChange[]): void {
    for (const index of this.#indexes) index(changes);
    if (this.#listeners.size === 0) return;
    const added = changes.filter(({ before, after }) => !before && after).map(({ after }) => after!);
    const ended = changes.filter(({ before, after }) => before && after).map(({ after }) => after!);
    const removed = changes.filter(({ after }) => !after).map(({ before }) => before!.seq);
    for (const listener of this.#listeners) listener({ added, ended, removed });
  }

  async #dropAll(kind: MemoryKind): Promise<void> {
    for (;;) {
      const seqs = this.#lines.first(kind.index, [], PAGE).map(({ seq }) => seq);
      if (seqs.length === 0) return;
      await this.#change({ drop: { kind: kind.name, seqs } });
    }
  }

  /** Leaves all records behind under the old number, from where they are removed in the background. */
  async #startAnew(): Promise<void> {
    const { store, key, newOwner, nowMs } = this.#parts;
    const { owner } = this.#state;
    const state: MemoryStoreRecord = { ...this.#state, owner: newOwner(), counts: {} };
    await store.write((batch) => {
      batch.put('memoryStores', key, state);
      batch.put('memoryTrash', owner, nowMs());
    });
    this.#state = state;
    this.#lines.owner = state.owner;
    this.#openKinds();
    for (const listener of this.#listeners) listener({ added: [], ended: [], removed: [], isCleared: true });
  }

  /** Records that came while the clock was ahead count as having come now: else they would stay until it gets there. */
  async #setClockBack(nowMs: number): Promise<void> {
    log('warn', 'the clock was set back; memories that came later than now count as new', { store: this.name });
    for (let above = this.#state.nextSeq; ; ) {
      const seqs = this.#lines.seqsBelow(above, PAGE);
      const ahead = this.bySeq(seqs).filter(({ addedMs }) => addedMs > nowMs);
      if (ahead.length === 0) break;
      await this.#apply({ stamp: { seqs: ahead.map(({ seq }) => seq), addedMs: nowMs } });
      above = seqs.at(-1)!;
    }
    await this.#apply({ newestMs: nowMs });
  }

  #space(): KindSpace {
    return {
      lines: this.#lines,
      config: this.config,
      nowMs: this.#parts.nowMs,
      changed: (listener) => this.#indexes.push(listener),
    };
  }

  #openKinds(): void {
    this.#indexes = [];
    this.#reads = {};
    for (const kind of MEMORY_KINDS as readonly MemoryKind[]) if (kind.isOn(this.config)) this.#reads[kind.name] = kind.open(this.#space());
  }
}

/** Removes all lines of indexes below a number. */
async function removeLines(store: Store, owner: number): Promise<void> {
  for (;;) {
    const keys = store.memoryLines.keys({ start: [owner], end: [owner + 1], limit: PAGE * 4 });
    if (keys.length === 0) return;
    await store.write((batch) => {
      for (const key of keys) batch.remove('memoryLines', key);
    });
  }
}

/** Records in pages. */
async function* paged(records: AsyncIterable<MemoryRecord>): AsyncGenerator<MemoryRecord[]> {
  let page: MemoryRecord[] = [];
  for await (const record of records) {
    page.push(record);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}

function difference(before: MemoryCounts, after: MemoryCounts): MemoryCounts {
  const kinds = Object.fromEntries(
    Object.entries(before.kinds).map(([kind, count]) => [kind, count - (after.kinds[kind as KindName] ?? 0)]),
  );
  return {
    records: before.records - after.records,
    bytes: before.bytes - after.bytes,
    nodes: before.nodes - after.nodes,
    edges: before.edges - after.edges,
    links: before.links - after.links,
    kinds,
  };
}
