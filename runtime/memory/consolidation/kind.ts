import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { ItemOutcome } from '../../store/records.js';
import type { RunContext, TaskItem, TaskKind } from '../../tasks/contract.js';
import type { MemoryChange, MemoryRecord, MemoryStore } from '../contract.js';
import { removeMade } from '../removal.js';
import { type BatchMeans, type BatchOutcome, isSaid, readBatch } from './batch.js';

/** The kind of the tasks that consolidate a memory store. */
export const CONSOLIDATION_KIND = 'memory_consolidation';

/** What a task of consolidation is about; the input of its one item. */
export interface ConsolidationInput {
  readonly store: string;
  /** Where the store stood when the task was started; a cancelled task goes back there. */
  readonly after_seq: number;
  /** Names the run in what it makes. */
  readonly run: string;
  /** Whether the chat model reads too. */
  readonly use_llm: boolean;
}

/** The input of an item of such a task. */
export function inputOf({ input }: TaskItem): ConsolidationInput {
  return input as unknown as ConsolidationInput;
}

/** A store is consolidated by one task at a time. */
export function consolidationLock(item: TaskItem): string {
  return [CONSOLIDATION_KIND, item.namespace, item.project, inputOf(item).store].join('\n');
}

/** The longest time that a timer of Node takes; a longer interval looks more often. */
const LONGEST_MS = 2 ** 31 - 1;

/** Looks every `interval_seconds` of a store whether it is to be consolidated, and waits for that. */
export class ConsolidationTimer {
  readonly #timer: NodeJS.Timeout;
  #isLooking = false;

  constructor({ name, config }: MemoryStore, look: () => Promise<void>) {
    const everyMs = Math.min((config.consolidation?.interval_seconds ?? 300) * 1000, LONGEST_MS);
    this.#timer = setInterval(() => void this.#look(name, look), everyMs);
    this.#timer.unref();
  }

  /** Ends it. */
  stop(): void {
    clearInterval(this.#timer);
  }

  async #look(store: string, look: () => Promise<void>): Promise<void> {
    if (this.#isLooking) return;
    this.#isLooking = true;
    try {
      await look();
    } catch (cause) {
      // A queue that is full, or a store that closes, is asked again at the next time; one that is gone is asked no more.
      if (cause instanceof Failure && cause.kind === 'not_found') this.stop();
      else if (!(cause instanceof Failure) && (cause as Error).name !== 'AbortError')
        log('warn', 'a memory store could not be consolidated', { store, cause });
    } finally {
      this.#isLooking = false;
    }
  }
}

/** The note that says how far a store is consolidated. */
const CURSOR = 'consolidated';

/** Records of one batch, whatever the project says, and changes that one transaction takes. */
const MOST_READ = 256;
const CHANGES = 900;

/** How far a store is consolidated, and what the last run has come to so far. */
interface Cursor {
  /** Records up to this `seq` are done. */
  readonly seq: number;
  readonly run: string;
  readonly records: number;
  readonly facts: number;
  readonly nodes: number;
}

/** Records that consolidation reads; facts and nodes are what it makes. */
const READ = { types: ['text', 'chat', 'audio'] as const };

/** How far a store is consolidated, as a `seq`. */
export function cursorOf(store: MemoryStore): number {
  return (store.note(CURSOR) as Cursor | undefined)?.seq ?? 0;
}

/** Lets the next consolidation read everything that is there anew. */
export async function readAnew(store: MemoryStore): Promise<void> {
  await store.write({ notes: { [CURSOR]: null } });
}

/** How many records wait for consolidation, counted up to `most`. */
export async function waitingRecords(store: MemoryStore, most: number): Promise<number> {
  let count = 0;
  const settled = store.settledSeq();
  for await (const record of store.records({ ...READ, afterSeq: cursorOf(store) })) {
    if (record.seq > settled) break;
    if (isSaid(record)) count += 1;
    if (count >= most) break;
  }
  return count;
}

/** What a project reads its records with. */
export type ProjectMeans = Pick<BatchMeans, 'likeness' | 'byEncoder' | 'byModel'>;

/** What runs of consolidation need. */
export interface ConsolidationParts {
  store(namespace: string, project: string, name: string): Promise<MemoryStore>;
  /** Embedder, encoder of names and chat model of the project. */
  means(store: MemoryStore, useModel: boolean, signal: AbortSignal): Promise<ProjectMeans>;
}

/**
 * Consolidates a store, one item per task. Each batch stores its facts together with the cursor, so that a run goes on where the process ended, and
 * no record is read twice or passed over.
 */
export function consolidationKind(parts: ConsolidationParts, record: RecordRun = (_item, work) => work()): TaskKind {
  const open = (item: TaskItem): Promise<MemoryStore> => parts.store(item.namespace, item.project, inputOf(item).store);
  return {
    run: (item, context) => record(item, async () => consolidate(await open(item), inputOf(item), parts, context)),
    revert: async (item) => revert(await open(item), inputOf(item)),
    lock: consolidationLock,
  };
}

/** Keeps an event of a run. */
export type RecordRun = (item: TaskItem, work: () => Promise<ItemOutcome>) => Promise<ItemOutcome>;

async function consolidate(
  store: MemoryStore,
  input: ConsolidationInput,
  parts: ConsolidationParts,
  context: RunContext,
): Promise<ItemOutcome> {
  const { signal } = context;
  const means = await parts.means(store, input.use_llm, signal);
  const batchSize = Math.min(store.config.consolidation?.batch_size ?? 100, MOST_READ);
  let known = store.note(CURSOR) as Cursor | undefined;
  let done: Cursor = known?.run === input.run ? known : { seq: known?.seq ?? 0, run: input.run, records: 0, facts: 0, nodes: 0 };
  await context.touch();
  for (;;) {
    signal.throwIfAborted();
    const all = await nextBatch(store, done.seq, batchSize);
    if (all.length === 0) break;
    const { batch, add, end, facts, nodes } = await readFitting(all, { ...means, store, signal, run: input.run });
    const { seq } = batch.at(-1)!;
    const next = { seq, run: input.run, records: done.records + batch.length, facts: done.facts + facts, nodes: done.nodes + nodes };
    if (await isTaken(store, { add, end, notes: { [CURSOR]: next }, expected: { [CURSOR]: known }, onlySourced: true })) {
      known = next;
      done = next;
    } else {
      known = store.note(CURSOR) as Cursor | undefined;
      done = { ...done, seq: known?.seq ?? 0 };
    }
    context.report({ done: done.records, stored: done.facts });
  }
  const pruned = store.config.consolidation?.prune_after_consolidate === false ? 0 : await store.prune();
  const info = {
    store: store.name,
    records_processed: done.records,
    facts_extracted: done.facts,
    nodes_created: done.nodes,
    pruned,
    synthesis_method: means.byModel ? 'llm' : 'rule_based',
  };
  return { status: 'success', stored: done.facts, skipped: 0, info };
}

/** Stores what a batch came to; false where the store was cleared since the batch was read. */
async function isTaken(store: MemoryStore, change: MemoryChange): Promise<boolean> {
  try {
    await store.write(change);
    return true;
  } catch (failure) {
    if (failure instanceof Failure && failure.code === 'NoteChanged') return false;
    throw failure;
  }
}

/** Reads a batch, or as much of its beginning as one transaction takes. */
async function readFitting(all: readonly MemoryRecord[], means: BatchMeans): Promise<BatchOutcome & { batch: readonly MemoryRecord[] }> {
  for (let batch = all; ; batch = batch.slice(0, Math.ceil(batch.length / 2))) {
    const outcome = await readBatch(batch, means);
    if (batch.length === 1 || outcome.add.length + outcome.end.length <= CHANGES) return { ...outcome, batch };
  }
}

/** What stands behind an import under way waits for its end: the cursor must not pass what is still to come. */
async function nextBatch(store: MemoryStore, afterSeq: number, size: number): Promise<MemoryRecord[]> {
  const batch: MemoryRecord[] = [];
  const settled = store.settledSeq();
  for await (const record of store.records({ ...READ, afterSeq })) {
    if (record.seq > settled) break;
    batch.push(record);
    if (batch.length >= size) break;
  }
  return batch;
}

/** Takes back what a run has made: its facts and nodes go, and what they ended holds again; the cursor goes back when all is done. Returns how many there were. */
async function revert(store: MemoryStore, { run, after_seq: afterSeq }: ConsolidationInput): Promise<number> {
  const made = new Set<string>();
  for await (const record of store.records({ types: ['fact', 'node'] })) if (record.metadata?.run === run) made.add(record.id);
  await removeMade(store, made);
  const cursor = store.note(CURSOR) as Cursor | undefined;
  if (cursor?.run === run) await store.write({ notes: { [CURSOR]: { ...cursor, seq: afterSeq } } });
  return made.size;
}

/** Failure of a store that does not consolidate, or has no place for facts. */
export function consolidationOff(store: MemoryStore): Failure {
  const { consolidation } = store.config;
  const part = consolidation !== undefined && consolidation.enabled !== false ? 'graph' : 'consolidation';
  return new Failure(
    'conflict',
    `Memory store ${store.name} of ${store.namespace}/${store.project} has no ${part}. Add "${part}: {}" to it in the project file.`,
    { code: 'ConsolidationOff' },
  );
}
