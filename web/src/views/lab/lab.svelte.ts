/** A question to several strategies at once, and what is known of its right answers. */

import type { QuestionReply, StoredQuestion } from '$schemas/core/questions';
import type { DatabaseList, QueryReply, QueryResult } from '$schemas/core/rag';
import { get, isAbort, send, sentence } from '../../lib/api';
import { draft, keepDraft } from '../../lib/drafts';
import { Latest } from '../../lib/overlap.svelte';
import { type Condition, conditionsOf, type Filters, filtersOf } from './filters';

/** A strategy of a database. */
export interface Way {
  readonly database: string;
  readonly strategy: string;
  readonly type: string;
}

/** One strategy and what it found. */
export interface Column {
  readonly way: Way;
  readonly reply?: QueryReply;
  readonly problem?: string;
}

/** Columns that can be read beside each other. */
export const MOST_WAYS = 4;
export const nameOf = ({ database, strategy }: Way): string => `${database} / ${strategy}`;
/** Names a passage, the same in all columns of its database. */
const idOf = ({ chunk_id: id, document_id: document, content }: QueryResult): string => id ?? `${document} ${content.slice(0, 100)}`;

/** A passage that answers the question, and the database that it was found in. */
interface Mark {
  readonly result: QueryResult;
  readonly database: string;
}

const markOf = (database: string, result: QueryResult): string => `${database} ${idOf(result)}`;
/** Passages of each strategy. */
export const MOST_PASSAGES = 50;

export class Lab {
  readonly #path: string;
  readonly #draft: string;
  readonly #loading = new Latest();
  readonly #asking = new Latest();
  question = $state('');
  conditions = $state<Condition[]>([]);
  /** As its field gives it; null while that is empty. */
  topK = $state<number | null>(5);
  threshold = $state<number | null>(0);
  ways = $state.raw<readonly Way[]>([]);
  chosen = $state<string[]>([]);
  columns = $state.raw<readonly Column[]>([]);
  /** What the columns answer, which is not what is typed since. */
  asked = $state.raw<{ readonly query: string; readonly filters: Filters | undefined }>();
  #marks = $state.raw<ReadonlyMap<string, Mark>>(new Map());

  constructor(path: string) {
    this.#path = path;
    this.#draft = `lab question ${path}`;
    this.question = draft(this.#draft);
  }

  // No derived values: they would end with the view that first asked for them, and the lab does not.
  /** Keys of metadata that were seen, for filters. */
  get keys(): string[] {
    const metadata = this.columns.flatMap(({ reply }) => (reply?.results ?? []).map((result) => Object.entries(result.metadata)));
    return [...new Set(metadata.flat().flatMap(([key, value]) => (typeof value === 'object' ? [] : [key])))].sort();
  }

  /** What is wrong with the number of passages; empty when nothing is. */
  get topKProblem(): string {
    const isRight = Number.isInteger(this.topK) && this.topK! >= 1 && this.topK! <= MOST_PASSAGES;
    return isRight ? '' : `A whole number from 1 to ${MOST_PASSAGES}.`;
  }

  /** What is wrong with the least score. */
  get thresholdProblem(): string {
    return this.threshold !== null && this.threshold >= 0 && this.threshold <= 1 ? '' : 'From 0 to 1.';
  }

  get isAsking(): boolean {
    return this.#asking.isBusy;
  }

  get canAsk(): boolean {
    return this.question.trim() !== '' && this.chosen.length > 0 && this.topKProblem === '' && this.thresholdProblem === '';
  }

  /** How many passages are marked as right. */
  get marked(): number {
    return this.#marks.size;
  }

  load(): Promise<void> {
    return this.#loading.run(
      (signal) => get<DatabaseList>(`${this.#path}/rag/databases`, { signal }),
      (list) => this.#take(list),
    );
  }

  #take({ databases }: DatabaseList): void {
    this.ways = databases.flatMap(({ name: database, retrieval_strategies: strategies }) =>
      strategies.map(({ name: strategy, type }) => ({ database, strategy, type })),
    );
    const known = this.ways.map(nameOf);
    this.chosen = this.chosen.filter((name) => known.includes(name));
    if (this.chosen.length === 0) this.chosen = known.slice(0, 2);
  }

  type(text: string): void {
    this.question = text;
    keepDraft(this.#draft, text);
  }

  /** Asks all chosen strategies; each column comes when it is there. Marks are of one question: another one begins without. */
  async ask(): Promise<void> {
    if (!this.canAsk) return;
    const asked = { query: this.question.trim(), filters: filtersOf(this.conditions) };
    if (asked.query !== this.asked?.query) this.#marks = new Map();
    this.asked = asked;
    const ways = this.ways.filter((way) => this.chosen.includes(nameOf(way)));
    this.columns = ways.map((way) => ({ way }));
    const askAll = (signal: AbortSignal): Promise<unknown> =>
      Promise.all(
        ways.map(async (way, at) => {
          const column = await this.#askOne(way, signal);
          if (!signal.aborted) this.columns = this.columns.with(at, column);
        }),
      );
    await this.#asking.run(askAll, () => undefined);
  }

  async #askOne(way: Way, signal: AbortSignal): Promise<Column> {
    const { query, filters } = this.asked!;
    const body = {
      query,
      database: way.database,
      retrieval_strategy: way.strategy,
      top_k: this.topK,
      explain: true,
      ...(this.threshold ? { score_threshold: this.threshold } : {}),
      ...(filters ? { metadata_filters: filters } : {}),
    };
    try {
      return { way, reply: await send<QueryReply>(`${this.#path}/rag/query`, body, { signal }) };
    } catch (error) {
      return isAbort(error) ? { way } : { way, problem: sentence(error) };
    }
  }

  stop(): void {
    this.#asking.end();
  }

  isRight(result: QueryResult, { way: { database } }: Column): boolean {
    return this.#marks.has(markOf(database, result));
  }

  mark(result: QueryResult, { way: { database } }: Column, isRight: boolean): void {
    const marks = new Map(this.#marks);
    if (isRight) marks.set(markOf(database, result), { result, database });
    else marks.delete(markOf(database, result));
    this.#marks = marks;
  }

  /** Keeps the question that was asked with the passages that were marked: once for each database that has some. */
  async save(): Promise<void> {
    // Another question may be asked meanwhile, with other marks.
    const [{ query, filters }, marks] = [this.asked!, this.#marks];
    for (const database of new Set([...marks.values()].map((mark) => mark.database))) {
      const relevant = [...marks.values()].filter((mark) => mark.database === database).map(({ result }) => relevantOf(result));
      await send<QuestionReply>(`${this.#path}/questions`, { query, database, ...(filters ? { filters } : {}), relevant });
      // What is kept is not kept a second time, also where the next database fails.
      this.#marks = new Map([...this.#marks].filter(([name, mark]) => mark.database !== database || marks.get(name) !== mark));
    }
  }

  /** Takes a kept question up again. */
  take({ query, filters }: StoredQuestion): void {
    this.type(query);
    this.conditions = conditionsOf(filters);
    this.#marks = new Map();
  }

  /** Where a passage stands in the other columns. */
  elsewhere(result: QueryResult, here: Column): { way: Way; rank: number }[] {
    return this.columns.flatMap(({ way, reply }) => {
      const at = way === here.way ? -1 : (reply?.results.findIndex((one) => idOf(one) === idOf(result)) ?? -1);
      return at < 0 ? [] : [{ way, rank: at + 1 }];
    });
  }
}

/** A passage as a test question names it. */
function relevantOf({ metadata, document_id: document, chunk_id: chunk, content }: QueryResult): StoredQuestion['relevant'][number] {
  const hash = String(metadata.file_hash ?? document);
  return { file_hash: hash, ...(chunk === null ? {} : { chunk_id: chunk }), text: content.slice(0, 2_000) };
}

const labs = new Map<string, Lab>();

/** The lab of the project at a path: what was asked and marked stays while other views are open. */
export function labOf(path: string): Lab {
  const lab = labs.get(path) ?? new Lab(path);
  labs.set(path, lab);
  return lab;
}
