import { Failure } from '../../schemas/errors.js';
import type { MemoryStore as StoreConfig } from '../../schemas/generated/config/memory.js';
import { sameJson } from '../base/json.js';
import { breathe } from '../base/loop.js';
import type { MemoryStoreRecord } from '../store/records.js';
import type { Batch } from '../store/store.js';
import { checkedMemory, checkTime } from './check.js';
import type { KindName, MemoryChange, MemoryCounts, MemoryRecord, NewMemory } from './contract.js';
import type { RecordChange } from './kind.js';
import { MEMORY_KINDS } from './kinds/index.js';
import { workingMemory } from './kinds/working.js';
import { type Line, type Lines, lineKey } from './lines.js';

/** Records that leave working memory with one change, at most. */
const MOST_EVICTED = 2_048;

/** A change, and what kinds let go of beside it. */
export interface DraftChange extends MemoryChange {
  /** Records that leave a kind, by number. */
  readonly drop?: { readonly kind: KindName; readonly seqs: readonly number[] };
  /** Records that count as having come at another moment. */
  readonly stamp?: { readonly seqs: readonly number[]; readonly addedMs: number };
  /** When the newest record came, where that was wrong. */
  readonly newestMs?: number;
  /** Numbers to set aside for records that are added together; negative where those are all there, or taken back. */
  readonly reserve?: number;
  /** The number of the first record of `add`, and when they came, where numbers were set aside for them. */
  readonly given?: { readonly firstSeq: number; readonly addedMs: number };
}

/** The lines of all indexes for a record. */
export function linesOf(record: MemoryRecord, config: StoreConfig): Line[] {
  const { id, type, who, hash, kinds, provenance, valid, supersededBy } = record;
  const lines: Line[] = [{ index: 'id', key: [id] }];
  if (who?.user !== undefined) lines.push({ index: 'user', key: [who.user] });
  if (who?.session !== undefined) lines.push({ index: 'session', key: [who.session] });
  if (hash !== undefined) lines.push({ index: 'hash', key: [hash] });
  if (type === 'fact' || type === 'node') for (const source of new Set(provenance?.records)) lines.push({ index: 'source', key: [source] });
  if (valid && supersededBy !== undefined) lines.push({ index: 'successor', key: [supersededBy] });
  for (const kind of MEMORY_KINDS) if (kinds.includes(kind.name)) lines.push(...kind.lines(record, config));
  return lines;
}

/** What a record adds to the counts of its store. */
function countsOf(record: MemoryRecord): Record<string, number> {
  const { seq: _seq, ...stored } = record;
  return {
    records: 1,
    bytes: Buffer.byteLength(JSON.stringify(stored)),
    nodes: record.node ? 1 : 0,
    edges: record.edge ? 1 : 0,
    links: record.kinds.length > 1 ? 1 : 0,
    ...Object.fromEntries(record.kinds.map((kind) => [kind, 1])),
  };
}

/** Adds a record to the counts of its store, or takes it out. */
export function addCounts(counts: Record<string, number>, record: MemoryRecord, sign: 1 | -1): void {
  for (const [name, count] of Object.entries(countsOf(record))) counts[name] = (counts[name] ?? 0) + sign * count;
}

/** What a store has lost between two counts. */
export function lostCounts(before: MemoryCounts, after: MemoryCounts): MemoryCounts {
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

/** Changes of one transaction, collected until they are written. Each change is taken whole or, where it throws, not at all. */
export class Draft {
  readonly state: MemoryStoreRecord;
  readonly #lines: Lines;
  readonly #config: StoreConfig;
  readonly #nowMs: number;
  /** By number. */
  readonly #changes = new Map<number, RecordChange>();
  readonly #notes = new Map<string, unknown>();
  /** Numbers by id, of records that were added here; null for those that went. */
  readonly #ids = new Map<string, number | null>();

  constructor(state: MemoryStoreRecord, lines: Lines, config: StoreConfig, nowMs: number) {
    this.state = { ...state, counts: { ...state.counts } };
    this.#lines = lines;
    this.#config = config;
    this.#nowMs = nowMs;
  }

  /** How much the transaction holds. */
  get size(): number {
    return this.#changes.size;
  }

  get changes(): RecordChange[] {
    return [...this.#changes.values()].filter(({ before, after }) => before || after);
  }

  /** Takes a change in; returns the records that it adds. */
  take(change: DraftChange): MemoryRecord[] {
    this.#expect(change.expected ?? {});
    const { add = [], end = [] } = change.onlySourced ? this.#sourced(change) : change;
    const { remove = [], notes = {}, drop, stamp, newestMs, reserve = 0, given } = change;
    const checked = this.#checked(add);
    for (const { toMs } of end) checkTime('valid_to', toMs, this.#nowMs);
    for (const one of end) this.#end(one);
    for (const id of remove) {
      const record = this.#byId(id);
      if (record) this.#set(record.seq, undefined);
    }
    for (const seq of drop?.seqs ?? []) this.#drop(seq, drop!.kind);
    for (const seq of stamp?.seqs ?? []) {
      const record = this.#current(seq);
      if (record) this.#set(seq, { ...record, addedMs: stamp!.addedMs });
    }
    this.state.newestMs = newestMs ?? this.state.newestMs;
    for (const [name, value] of Object.entries(notes)) this.#notes.set(name, value);
    const addedMs = given?.addedMs ?? Math.max(this.state.newestMs, this.#nowMs);
    const added = checked.map((record, place) => this.#add({ ...record, addedMs }, given && given.firstSeq + place));
    this.state.nextSeq += Math.max(0, reserve);
    // All may have been cleared since they were set aside.
    this.state.counts.reserved = Math.max(0, (this.state.counts.reserved ?? 0) + reserve);
    this.#keepWithin();
    return added;
  }

  /** Puts everything into one transaction. */
  async fill(batch: Batch, key: readonly [string, string, string]): Promise<void> {
    const { owner } = this.state;
    for (const { before, after } of this.#changes.values()) {
      if (before) {
        for (const line of linesOf(before, this.#config)) batch.remove('memoryLines', lineKey(owner, line, before.seq));
        if (!after) batch.remove('memories', [owner, before.seq]);
      }
      if (after) {
        const { seq, ...stored } = after;
        batch.put('memories', [owner, seq], stored);
        for (const line of linesOf(after, this.#config)) batch.put('memoryLines', lineKey(owner, line, seq), line.value ?? null);
      }
      await breathe();
    }
    for (const [name, value] of this.#notes) {
      if (value === null) batch.remove('memoryNotes', [owner, name]);
      else batch.put('memoryNotes', [owner, name], value);
    }
    batch.put('memoryStores', key, this.state);
  }

  #expect(expected: NonNullable<MemoryChange['expected']>): void {
    for (const [name, value] of Object.entries(expected)) {
      const now = this.#notes.has(name) ? (this.#notes.get(name) ?? undefined) : this.#lines.note(name);
      if (!sameJson(now, value))
        throw new Failure('conflict', `Memory store '${this.#config.name}' was changed meanwhile. Try again.`, { code: 'NoteChanged' });
    }
  }

  /** What of a change comes from records that are still there; what a left out record would have ended goes on to hold. */
  #sourced({ add = [], end = [] }: MemoryChange): Required<Pick<MemoryChange, 'add' | 'end'>> {
    const kept = add.filter(({ provenance }) => provenance?.records?.some((id) => this.#byId(id)) ?? true);
    const ids = new Set(kept.map(({ id }) => id));
    const isThere = (id: string | undefined): boolean => id === undefined || ids.has(id) || this.#byId(id) !== undefined;
    const still = kept.map(({ supersededBy, ...rest }): NewMemory => {
      if (isThere(supersededBy)) return { ...rest, ...(supersededBy === undefined ? {} : { supersededBy }) };
      return { ...rest, ...(rest.valid ? { valid: { fromMs: rest.valid.fromMs } } : {}) };
    });
    return { add: still, end: end.filter(({ supersededBy }) => isThere(supersededBy)) };
  }

  #end({ id, toMs, supersededBy }: NonNullable<MemoryChange['end']>[number]): void {
    const record = this.#byId(id);
    if (!record?.valid) return;
    const { supersededBy: _former, ...rest } = record;
    const { fromMs } = record.valid;
    const by = toMs === undefined ? undefined : (supersededBy ?? record.supersededBy);
    this.#set(record.seq, {
      ...rest,
      valid: toMs === undefined ? { fromMs } : { fromMs: Math.min(fromMs, toMs), toMs },
      ...(by === undefined ? {} : { supersededBy: by }),
    });
  }

  /** Nothing is changed before everything was checked. */
  #checked(add: readonly NewMemory[]) {
    const checked = add.map((given) => {
      const record = checkedMemory(given, this.#nowMs);
      return { ...record, kinds: this.#kindsFor(record) };
    });
    const ids = new Set<string>();
    for (const { id } of checked) {
      if (ids.has(id) || this.#seqOf(id) !== undefined)
        throw new Failure(
          'conflict',
          `There is a memory ${id} in store '${this.#config.name}' already. Remove it first, or leave the id out.`,
          {
            code: 'MemoryExists',
          },
        );
      ids.add(id);
    }
    return checked;
  }

  #kindsFor(record: NewMemory & { timeMs: number }): KindName[] {
    const on = MEMORY_KINDS.filter((kind) => kind.isOn(this.#config));
    const kinds = on.filter((kind) => kind.takes(record, this.#config, this.#nowMs)).map(({ name }) => name);
    if (kinds.length > 0) return kinds;
    const time = new Date(record.timeMs).toISOString();
    throw new Failure(
      'conflict',
      `No part of memory store '${this.#config.name}' keeps ${record.type} records of ${time}; it has ${on.map(({ name }) => name).join(', ') || 'none turned on'}. Turn on what should keep it in the project's memory section, or see to its retention_days.`,
      { code: 'MemoryKindOff' },
    );
  }

  #add(record: Omit<MemoryRecord, 'seq'>, given: number | undefined): MemoryRecord {
    const { state } = this;
    const seq = given ?? state.nextSeq;
    state.nextSeq = Math.max(state.nextSeq, seq + 1);
    state.newestMs = Math.max(state.newestMs, record.addedMs);
    const added = { ...record, seq };
    this.#set(seq, added);
    return added;
  }

  #drop(seq: number, kind: KindName): void {
    const record = this.#current(seq);
    if (!record?.kinds.includes(kind)) return;
    const kinds = record.kinds.filter((one) => one !== kind);
    this.#set(seq, kinds.length === 0 ? undefined : { ...record, kinds });
  }

  /** Working memory has no more records than it may, also for a moment. */
  #keepWithin(): void {
    if (!workingMemory.isOn(this.#config)) return;
    // A cap that was lowered far is reached over several transactions, and by pruning.
    // What is added together may still be taken back, and others must not have gone for it.
    const { working_memory: count = 0, reserved = 0 } = this.state.counts;
    const excess = Math.min(MOST_EVICTED, count - reserved - this.#config.working_memory!.max_records!);
    if (excess <= 0) return;
    // What lies on the disk is older than what is added here, which a cap below a transaction's size can reach.
    let left = excess;
    const evict = (seq: number): void => {
      if (left > 0 && this.#current(seq)?.kinds.includes('working_memory')) {
        this.#drop(seq, 'working_memory');
        left -= 1;
      }
    };
    // Some of the oldest may have gone in this transaction.
    for (const { seq } of this.#lines.first('working', [], excess + this.#changes.size)) evict(seq);
    for (const seq of [...this.#changes.keys()].sort((a, b) => a - b)) evict(seq);
  }

  #current(seq: number): MemoryRecord | undefined {
    const change = this.#changes.get(seq);
    return change ? change.after : this.#lines.record(seq);
  }

  #seqOf(id: string): number | undefined {
    const known = this.#ids.get(id);
    return known === undefined ? this.#lines.first('id', [id], 1)[0]?.seq : (known ?? undefined);
  }

  #byId(id: string): MemoryRecord | undefined {
    const seq = this.#seqOf(id);
    return seq === undefined ? undefined : this.#current(seq);
  }

  #set(seq: number, after: MemoryRecord | undefined): void {
    const current = this.#current(seq);
    const change = this.#changes.get(seq);
    this.#changes.set(seq, { before: change ? change.before : current, after });
    if (current) this.#count(current, -1);
    if (after) this.#count(after, 1);
    const { id } = (after ?? current)!;
    this.#ids.set(id, after ? seq : null);
  }

  #count(record: MemoryRecord, sign: 1 | -1): void {
    addCounts(this.state.counts, record, sign);
  }
}
