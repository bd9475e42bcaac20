import { Failure } from '../../schemas/errors.js';
import type { MemoryStore as StoreConfig } from '../../schemas/generated/config/memory.js';
import { log } from '../base/log.js';
import { breathe } from '../base/loop.js';
import type { MemoryKey, MemoryStoreRecord } from '../store/records.js';
import type { Store } from '../store/store.js';
import { Changes } from './changes.js';
import type {
  GraphReads,
  KindName,
  MemoryChange,
  MemoryChanged,
  MemoryCounts,
  MemoryRecord,
  MemoryStore,
  NewMemory,
  PlaceReads,
  ReadFilter,
  SeriesReads,
  Who,
  WorkingReads,
} from './contract.js';
import { addCounts, linesOf, lostCounts } from './draft.js';
import { firstOf, passesFilter } from './filter.js';
import type { KindSpace, MemoryKind, RecordChange } from './kind.js';
import { MEMORY_KINDS } from './kinds/index.js';
import { Lines, lineKey } from './lines.js';
import { holdAgain } from './removal.js';

/** Records of one `write`. */
const MOST_CHANGED = 1_000;
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
  /** Takes the bytes of all that was removed and cleared off the disk. */
  scrub(): Promise<void>;
}

/** How the names of notes begin that tell of records which are added together. */
const UNDER_WAY = 'adding ';

/** Numbers that were set aside for records, and when those count as having come. */
interface Reserved {
  readonly firstSeq: number;
  readonly count: number;
  readonly addedMs: number;
}

/** What the indexes are made by: of another shape they are made anew. A repair of the file may have lost lines of them. */
function shapeOf({ config, store }: StoreParts): string {
  return `2 ${config.spatial?.index_type ?? 'rtree'} ${store.repairs}`;
}

/** One memory store. */
export class OpenStore implements MemoryStore {
  readonly #parts: StoreParts;
  readonly #lines: Lines;
  readonly #changes: Changes;
  #reads: Partial<Record<KindName, object>> = {};
  #indexes: ((changes: readonly RecordChange[]) => void)[] = [];
  readonly #listeners = new Set<(changed: MemoryChanged) => void>();

  constructor(parts: StoreParts) {
    this.#parts = parts;
    const { store, key } = parts;
    const known = store.memoryStores.get(key);
    const state = known ?? { owner: parts.newOwner(), nextSeq: 1, newestMs: 0, shape: shapeOf(parts), counts: {} };
    this.#lines = new Lines(store, state.owner);
    this.#changes = new Changes({ ...parts, lines: this.#lines, state, changed: (changes) => this.#tell(changes) });
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

  /** Makes its indexes anew where they were made by another configuration, and takes back what was left half added. To be awaited before it is used. */
  async ready(): Promise<void> {
    if (this.#changes.state.shape !== shapeOf(this.#parts)) await this.#changes.alone(() => this.#reindex());
    for (const name of this.#lines.notes(UNDER_WAY)) await this.#takeBack(name);
  }

  /** Makes its indexes anew of its records, and counts those. */
  async #reindex(): Promise<void> {
    const { store } = this.#parts;
    const { owner } = this.#changes.state;
    const { reserved = 0, ...known } = this.#changes.state.counts;
    const counts: Record<string, number> = { ...Object.fromEntries(Object.keys(known).map((name) => [name, 0])), reserved };
    await removeLines(store, owner);
    for await (const page of recordPages(this.#lines.records())) {
      await store.write(async (batch) => {
        for (const record of page) {
          for (const line of linesOf(record, this.config)) batch.put('memoryLines', lineKey(owner, line, record.seq), line.value ?? null);
          addCounts(counts, record, 1);
          await breathe();
        }
      });
    }
    await this.#changes.replace({ ...this.#changes.state, counts, shape: shapeOf(this.#parts) });
    this.#openKinds();
  }

  async write(change: MemoryChange): Promise<MemoryRecord[]> {
    const count = (change.add?.length ?? 0) + (change.end?.length ?? 0) + (change.remove?.length ?? 0);
    if (count > MOST_CHANGED)
      throw new Failure('too_large', `A change of ${count} memories is too large: ${MOST_CHANGED} is the most.`, {
        code: 'ChangeTooLarge',
      });
    return this.#changes.make(change);
  }

  get(id: string): MemoryRecord | undefined {
    const [line] = this.#lines.first('id', [id], 1);
    return line && this.#lines.record(line.seq);
  }

  shows(record: MemoryRecord): boolean {
    const nowMs = this.#parts.nowMs();
    const on = (MEMORY_KINDS as readonly MemoryKind[]).filter(({ name, isOn }) => record.kinds.includes(name) && isOn(this.config));
    return on.some((kind) => (kind.keeps ?? kind.takes)(record, this.config, nowMs));
  }

  bySeq(seqs: readonly number[]): MemoryRecord[] {
    return seqs.map((seq) => this.#lines.record(seq)).filter((record) => record !== undefined);
  }

  withHash(hash: string): MemoryRecord[] {
    const found = this.#lines.first('hash', [hash], MOST_EQUAL).map(({ seq }) => seq);
    return this.bySeq(found.reverse());
  }

  async *naming(id: string, as: 'source' | 'successor'): AsyncGenerator<MemoryRecord> {
    for await (const page of this.#lines.pages(as, { prefix: [id] })) yield* this.bySeq(page.map(({ seq }) => seq));
  }

  newest(filter: ReadFilter): Promise<MemoryRecord[]> {
    const who = whoOf(filter);
    const found = who ? this.#lines.pages(who.index, { prefix: who.prefix, newestFirst: true }) : this.#lines.newest();
    const record = (seq: number): MemoryRecord | undefined => {
      const one = this.#lines.record(seq);
      return one && this.shows(one) ? one : undefined;
    };
    return firstOf(found, { record }, filter);
  }

  async *records({ afterSeq = 0, ...filter }: ReadFilter & { afterSeq?: number } = {}): AsyncGenerator<MemoryRecord> {
    const who = whoOf(filter);
    if (!who) {
      for await (const record of this.#lines.records(afterSeq)) if (passesFilter(record, filter)) yield record;
      return;
    }
    for await (const page of this.#lines.pages(who.index, { prefix: who.prefix, from: afterSeq + 1 })) {
      for (const { seq } of page) {
        const record = this.#lines.record(seq);
        if (record && passesFilter(record, filter)) yield record;
        await breathe();
      }
    }
  }

  settledSeq(): number {
    const reserved = this.#lines.notes(UNDER_WAY).map((name) => (this.note(name) as Reserved).firstSeq);
    return Math.min(this.#changes.state.nextSeq, ...reserved) - 1;
  }

  note(name: string): unknown {
    return this.#lines.note(name);
  }

  counts(): MemoryCounts {
    const { records = 0, bytes = 0, nodes = 0, edges = 0, links = 0, reserved: _reserved, ...kinds } = this.#changes.state.counts;
    return { records, bytes, nodes, edges, links, kinds };
  }

  async clear(kind: KindName | 'all'): Promise<MemoryCounts> {
    const before = this.counts();
    if (kind === 'all') await this.#changes.alone(() => this.#startAnew());
    else {
      const emptied = MEMORY_KINDS.find(({ name }) => name === kind)!;
      await this.#drop(emptied, () => this.#lines.first(emptied.index, [], PAGE).map(({ seq }) => seq));
    }
    return lostCounts(before, this.counts());
  }

  async prune(): Promise<number> {
    const nowMs = this.#parts.nowMs();
    if (this.#changes.state.newestMs > nowMs + MOST_AHEAD_MS) await this.#changes.alone(() => this.#setClockBack(nowMs));
    let dropped = 0;
    const space = this.#space();
    for (const kind of MEMORY_KINDS as readonly MemoryKind[]) {
      const { expired } = kind;
      if (expired && kind.isOn(this.config)) dropped += await this.#drop(kind, () => expired(space, this.#surely(kind.name)));
    }
    return dropped;
  }

  async forget(who: Who): Promise<number> {
    const facts = new Set<string>();
    for await (const { id } of this.records({ ...who, types: ['fact'] })) facts.add(id);
    await holdAgain(this, facts);
    let forgotten = 0;
    for await (const page of recordPages(this.records(who))) {
      await this.#changes.make({ remove: page.map(({ id }) => id) });
      forgotten += page.length;
    }
    await this.scrub();
    return forgotten;
  }

  scrub(): Promise<void> {
    return this.#parts.scrub();
  }

  admit(memory: NewMemory): void {
    this.#changes.draft().take({ add: [memory] });
  }

  async addTogether(count: number, batches: AsyncIterable<readonly NewMemory[]>): Promise<void> {
    const { name, given } = await this.#changes.alone(async () => {
      const { nextSeq: firstSeq, newestMs } = this.#changes.state;
      const reserved: Reserved = { firstSeq, count, addedMs: Math.max(newestMs, this.#parts.nowMs()) };
      const under = `${UNDER_WAY}${firstSeq}`;
      await this.#changes.apply({ notes: { [under]: reserved }, reserve: count });
      return { name: under, given: reserved };
    });
    let { firstSeq } = given;
    try {
      for await (const add of batches) {
        await this.#changes.make({ add, given: { firstSeq, addedMs: given.addedMs } });
        firstSeq += add.length;
      }
      await this.#changes.make({ notes: { [name]: null }, reserve: -count });
    } catch (failure) {
      await this.#takeBack(name).catch((cause: unknown) =>
        log('warn', 'an import could not be taken back yet; the next start does', { cause }),
      );
      throw failure;
    }
    // Only now others may go for what came.
    await this.prune();
  }

  watch(listener: (changed: MemoryChanged) => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  /** Refuses all changes from now on, and waits for those under way. */
  async close(): Promise<void> {
    await this.#changes.close();
  }

  #tell(changes: readonly RecordChange[]): void {
    for (const index of this.#indexes) index(changes);
    if (this.#listeners.size === 0) return;
    const added = changes.filter(({ before, after }) => !before && after).map(({ after }) => after!);
    const ended = changes.filter(({ before, after }) => before && after).map(({ after }) => after!);
    const removed = changes.filter(({ after }) => !after).map(({ before }) => before!.seq);
    for (const listener of this.#listeners) listener({ added, ended, removed });
  }

  /** Lets records leave a kind, those that `next` names, until it names none; returns how many did. */
  async #drop(kind: MemoryKind, next: () => readonly number[]): Promise<number> {
    let dropped = 0;
    let last: number | undefined;
    for (let seqs = next(); seqs.length > 0; seqs = next()) {
      // A line without a record would come again and again; the next repair of the file sees to it.
      if (seqs[0] === last) break;
      last = seqs[0];
      await this.#changes.make({ drop: { kind: kind.name, seqs } });
      dropped += seqs.length;
    }
    return dropped;
  }

  /** Records of a kind, without those that may still be taken back. */
  #surely(kind: KindName): number {
    const { reserved = 0, [kind]: count = 0 } = this.#changes.state.counts;
    return count - reserved;
  }

  /** Removes what was added under a note, and the note. */
  async #takeBack(name: string): Promise<void> {
    const reserved = this.note(name) as Reserved | undefined;
    // All was cleared meanwhile.
    if (!reserved) return;
    const { firstSeq, count } = reserved;
    for (let from = firstSeq; from < firstSeq + count; from += PAGE) {
      const seqs = Array.from({ length: Math.min(PAGE, firstSeq + count - from) }, (_none, at) => from + at);
      await this.#changes.make({ remove: this.bySeq(seqs).map(({ id }) => id) });
    }
    await this.#changes.make({ notes: { [name]: null }, reserve: -count });
  }

  /** Leaves all records behind under the old number, from where they are removed in the background. */
  async #startAnew(): Promise<void> {
    const { newOwner, nowMs } = this.#parts;
    const { owner } = this.#changes.state;
    const state: MemoryStoreRecord = { ...this.#changes.state, owner: newOwner(), counts: {} };
    await this.#changes.replace(state, (batch) => batch.put('memoryTrash', owner, nowMs()));
    this.#lines.owner = state.owner;
    this.#openKinds();
    for (const listener of this.#listeners) listener({ added: [], ended: [], removed: [], isCleared: true });
  }

  /** Records that came while the clock was ahead count as having come now: else they would stay until it gets there. */
  async #setClockBack(nowMs: number): Promise<void> {
    log('warn', 'the clock was set back; memories that came later than now count as new', { store: this.name });
    for (let above = this.#changes.state.nextSeq; ; ) {
      const seqs = this.#lines.seqsBelow(above, PAGE);
      const ahead = this.bySeq(seqs).filter(({ addedMs }) => addedMs > nowMs);
      if (ahead.length === 0) break;
      await this.#changes.apply({ stamp: { seqs: ahead.map(({ seq }) => seq), addedMs: nowMs } });
      above = seqs.at(-1)!;
    }
    await this.#changes.apply({ newestMs: nowMs });
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

/** The index of the session or the user that a filter asks for. */
function whoOf({ user, session }: ReadFilter): { index: string; prefix: [string] } | undefined {
  if (session !== undefined) return { index: 'session', prefix: [session] };
  return user === undefined ? undefined : { index: 'user', prefix: [user] };
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
async function* recordPages(records: AsyncIterable<MemoryRecord>): AsyncGenerator<MemoryRecord[]> {
  let page: MemoryRecord[] = [];
  for await (const record of records) {
    page.push(record);
    if (page.length < PAGE) continue;
    yield page;
    page = [];
  }
  if (page.length > 0) yield page;
}
