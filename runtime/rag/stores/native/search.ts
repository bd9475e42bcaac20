import { Failure } from '../../../../schemas/errors.js';
import { turn } from '../../../base/loop.js';
import type { Metadata } from '../../../documents/contract.js';
import type { Store } from '../../../store/store.js';
import type { Hit } from '../../contract.js';
import type { Metric, StoreAnswer, StoreQuery } from '../contract.js';
import { conditionsOf } from '../metadata.js';
import { scoreOf, similarity } from '../vectors.js';
import type { Collection } from './collection.js';
import type { FilterColumns } from './filter-columns.js';
import type { Indexes } from './indexes.js';
import { ROWS_PER_TURN } from './pacing.js';
import { type Bitmap, vectorPages } from './rows.js';

/** A row that was found; a higher raw score is the better one. */
interface FoundRow {
  readonly row: number;
  readonly raw: number;
}

const byScore = (a: FoundRow, b: FoundRow): number => b.raw - a.raw || a.row - b.row;

/** The `k` best of several rankings, each row once. */
function bestOf(k: number, ...rankings: readonly (readonly FoundRow[])[]): FoundRow[] {
  const best = new Map<number, FoundRow>();
  for (const found of rankings.flat()) if (!best.has(found.row)) best.set(found.row, found);
  return [...best.values()].sort(byScore).slice(0, k);
}

/** The `k` best of the rows from `first` to before `end` that are allowed, by their stored vectors: exact, and slower than the index. */
async function scanVectors(
  store: Store,
  { collection, first, end }: { collection: number; first: number; end: number },
  { metric, vector, k, allowed, signal }: { metric: Metric; vector: Float32Array; k: number; allowed: Bitmap; signal: AbortSignal },
): Promise<FoundRow[]> {
  let best: FoundRow[] = [];
  for await (const page of vectorPages(store, collection, first, end)) {
    signal.throwIfAborted();
    const found = page
      .filter(({ row, vector: candidate }) => allowed.has(row) && candidate.length === vector.length)
      .map(({ row, vector: candidate }) => ({ row, raw: similarity(metric, vector, candidate) }));
    best = [...best, ...found].sort(byScore).slice(0, k);
  }
  return best;
}

/** With fewer rows to go, waiting for the index is quicker than reading them. */
const WAIT_ROWS = 2_048;
/** Of a lexical question; 16 KiB in UTF-8. */
const MAX_QUESTION_CHARACTERS = 4_096;
const NOTHING: { found: FoundRow[]; plan: Metadata } = { found: [], plan: { plan: 'none' } };

/** What a search looks at. */
interface SearchedStore {
  readonly store: Store;
  readonly collection: Collection;
  readonly indexes: Indexes;
  readonly columns: FilterColumns;
  readonly metric: Metric;
}

interface SearchBounds {
  readonly k: number;
  /** Rows before this one are searched. */
  readonly end: number;
  /** Rows that may be found, when the question has a filter. */
  readonly allowed: Bitmap | undefined;
  readonly signal: AbortSignal;
}

/** Answers a question that was checked. */
export async function search(searched: SearchedStore, query: StoreQuery, signal: AbortSignal): Promise<StoreAnswer> {
  const { collection, columns, metric } = searched;
  const end = collection.settled;
  const conditions = query.filter === undefined ? [] : conditionsOf(query.filter);
  const allowed = conditions.length === 0 ? undefined : await columns.allowed(conditions, end);
  signal.throwIfAborted();
  const bounds = { k: query.k, end, allowed, signal };
  const empty = (allowed ?? collection.alive).size === 0;
  const [dense, lexical] = await Promise.all([
    query.vector === undefined || empty ? NOTHING : findDense(searched, query.vector, bounds),
    query.text === undefined || empty ? NOTHING : findLexical(searched, query.text, bounds),
  ]);
  const filter = { conditions: conditions.length, rows_allowed: (allowed ?? collection.alive).size, rows: collection.alive.size };
  return {
    dense: await hitsOf(collection, dense.found, (raw) => scoreOf(metric, raw)),
    lexical: await hitsOf(collection, lexical.found, (raw) => raw),
    plan: { dense: dense.plan, lexical: lexical.plan, filter },
  };
}

/** The bits for the index: none when every row that it has may be found. */
function rowFilter({ collection, indexes }: SearchedStore, allowed: Bitmap | undefined): { filter?: Uint8Array } {
  if (allowed !== undefined) return { filter: allowed.bytes };
  return indexes.hasDead ? { filter: collection.alive.bytes } : {};
}

async function findDense(
  searched: SearchedStore,
  vector: Float32Array,
  bounds: SearchBounds,
): Promise<{ found: FoundRow[]; plan: Metadata }> {
  const { store, collection, indexes, metric } = searched;
  const { k, end, signal } = bounds;
  // A failure of the index does not stop an exact scan.
  const caughtUp = async (row: number): Promise<void> => indexes.reached(row, signal).catch(() => signal.throwIfAborted());
  await caughtUp(0);
  if (end - indexes.end <= WAIT_ROWS) await caughtUp(end);
  const first = Math.min(end, indexes.end);
  const { collection: number } = collection.record;
  const allowed = bounds.allowed ?? collection.alive;
  const [indexed, rest] = await Promise.all([
    first > 0 ? indexes.pair?.vectors.search(vector, k, rowFilter(searched, bounds.allowed)) : undefined,
    scanVectors(store, { collection: number, first, end }, { metric, vector, k, allowed, signal }),
  ]);
  const found = [...(indexed?.ids ?? [])].map((row, i) => ({ row, raw: indexed!.scores[i]! }));
  const plan = { plan: indexed?.plan ?? 'scan', compared: (indexed?.scanned ?? 0) + end - first, not_indexed: end - first };
  return { found: bestOf(k, found, rest), plan };
}

async function findLexical(
  searched: SearchedStore,
  text: string,
  { k, end, allowed, signal }: SearchBounds,
): Promise<{ found: FoundRow[]; plan: Metadata }> {
  const { indexes } = searched;
  const waited = Math.max(0, end - indexes.end);
  // The score of one row depends on all others, so there is no answer before all are known.
  await indexes.reached(end, signal);
  const index = indexes.pair?.text;
  if (index === undefined) return NOTHING;
  const { ids, scores } = await searchShortened(text, (question) => index.search(question, k, rowFilter(searched, allowed)));
  return { found: [...ids].map((row, i) => ({ row, raw: scores[i]! })), plan: { plan: 'bm25', waited_for_rows: waited } };
}

/** The index takes so many words; of a longer question, such as a pasted page, its beginning is asked. */
async function searchShortened<T>(text: string, ask: (question: string) => Promise<T>): Promise<T> {
  for (let question = text.slice(0, MAX_QUESTION_CHARACTERS); ; question = question.slice(0, question.length / 2)) {
    try {
      return await ask(question);
    } catch (error) {
      if (!(error instanceof Failure) || error.kind !== 'too_large' || question.length < 2) throw error;
    }
  }
}

async function hitsOf(collection: Collection, found: readonly FoundRow[], score: (raw: number) => number): Promise<Hit[]> {
  const out: Hit[] = [];
  for (const [index, { row, raw }] of found.entries()) {
    if (index % ROWS_PER_TURN === ROWS_PER_TURN - 1) await turn();
    const chunk = collection.alive.has(row) ? collection.chunk(row) : undefined;
    if (chunk !== undefined) out.push({ ...chunk, score: score(raw) });
  }
  return out;
}
