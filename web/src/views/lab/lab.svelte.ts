/** A question to several strategies at once, and what is known of its right answers. */

import type { QuestionReply, StoredQuestion } from '$schemas/core/questions';
import type { DatabaseList, QueryReply, QueryResult } from '$schemas/core/rag';
import { get, isAbort, send, sentence } from '../../lib/api';
import { draft, keepDraft } from '../../lib/drafts';
import { type Condition, conditionsOf, filtersOf } from './filters';

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
const DRAFT = 'lab question';

export const nameOf = ({ database, strategy }: Way): string => `${database} / ${strategy}`;
const idOf = ({ chunk_id: id, document_id: document, content }: QueryResult): string => id ?? `${document} ${content.slice(0, 100)}`;

/** Names a passage, the same in all columns. */
export { idOf as passageId };

export class Lab {
  readonly #path: string;
  #asking: AbortController | undefined;
  question = $state(draft(DRAFT));
  conditions = $state<Condition[]>([]);
  topK = $state(5);
  threshold = $state(0);
  ways = $state.raw<readonly Way[]>([]);
  chosen = $state<string[]>([]);
  columns = $state.raw<readonly Column[]>([]);
  /** Passages that the reader marked as right, by `passageId`. */
  relevant = $state.raw<ReadonlyMap<string, QueryResult>>(new Map());
  isAsking = $state(false);
  /** Keys of metadata that were seen, for filters. */
  readonly keys = $derived(
    [
      ...new Set(
        this.columns.flatMap(({ reply }) =>
          (reply?.results ?? []).flatMap(({ metadata }) =>
            Object.entries(metadata).flatMap(([key, value]) => (typeof value === 'object' ? [] : [key])),
          ),
        ),
      ),
    ].sort(),
  );

  constructor(path: string) {
    this.#path = path;
  }

  async load(): Promise<void> {
    const { databases } = await get<DatabaseList>(`${this.#path}/rag/databases`);
    this.ways = databases.flatMap(({ name: database, retrieval_strategies: strategies }) =>
      strategies.map(({ name: strategy, type }) => ({ database, strategy, type })),
    );
    const known = this.ways.map(nameOf);
    this.chosen = this.chosen.filter((name) => known.includes(name));
    if (this.chosen.length === 0) this.chosen = known.slice(0, 2);
  }

  type(text: string): void {
    this.question = text;
    keepDraft(DRAFT, text);
  }

  /** Asks all chosen strategies; each column comes when it is there. */
  async ask(): Promise<void> {
    this.#asking?.abort();
    const asking = new AbortController();
    this.#asking = asking;
    this.isAsking = true;
    const ways = this.ways.filter((way) => this.chosen.includes(nameOf(way)));
    this.columns = ways.map((way) => ({ way }));
    const filters = filtersOf(this.conditions);
    await Promise.all(
      ways.map(async (way, at) => {
        const column = await this.#askOne(way, filters, asking.signal);
        if (!asking.signal.aborted) this.columns = this.columns.with(at, column);
      }),
    );
    if (this.#asking === asking) this.isAsking = false;
  }

  async #askOne(way: Way, filters: object | undefined, signal: AbortSignal): Promise<Column> {
    const body = {
      query: this.question,
      database: way.database,
      retrieval_strategy: way.strategy,
      top_k: this.topK,
      explain: true,
      ...(this.threshold > 0 ? { score_threshold: this.threshold } : {}),
      ...(filters ? { metadata_filters: filters } : {}),
    };
    try {
      return { way, reply: await send<QueryReply>(`${this.#path}/rag/query`, body, { signal }) };
    } catch (error) {
      return isAbort(error) ? { way } : { way, problem: sentence(error) };
    }
  }

  stop(): void {
    this.#asking?.abort();
    this.isAsking = false;
  }

  mark(result: QueryResult, isRight: boolean): void {
    const marked = new Map(this.relevant);
    if (isRight) marked.set(idOf(result), result);
    else marked.delete(idOf(result));
    this.relevant = marked;
  }

  /** Keeps the question with the passages that were marked. */
  async save(): Promise<void> {
    const filters = filtersOf(this.conditions);
    const relevant = [...this.relevant.values()].map(({ metadata, document_id: document, chunk_id: chunk, content }) => ({
      file_hash: String(metadata.file_hash ?? document),
      ...(chunk === null ? {} : { chunk_id: chunk }),
      text: content.slice(0, 2_000),
    }));
    const [first] = this.columns;
    const body = { query: this.question, ...(first ? { database: first.way.database } : {}), ...(filters ? { filters } : {}), relevant };
    await send<QuestionReply>(`${this.#path}/questions`, body);
  }

  /** Takes a kept question up again. */
  take({ query, filters }: StoredQuestion): void {
    this.type(query);
    this.conditions = conditionsOf(filters);
    this.relevant = new Map();
  }

  /** Where a passage stands in the other columns. */
  elsewhere(result: QueryResult, here: Column): { way: Way; rank: number }[] {
    return this.columns.flatMap(({ way, reply }) => {
      const at = way === here.way ? -1 : (reply?.results.findIndex((one) => idOf(one) === idOf(result)) ?? -1);
      return at < 0 ? [] : [{ way, rank: at + 1 }];
    });
  }
}
