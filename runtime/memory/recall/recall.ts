import { breathe } from '../../base/loop.js';
import { stopWordsOf } from '../../documents/text/stop-words.js';
import { foldedWords } from '../../rag/embedders/lexical.js';
import type { MemoryRecord, MemoryStore } from '../contract.js';
import { nameKey, speakerNode } from '../extraction/statement.js';
import { type FactData, factData, factHash } from '../facts.js';
import { Heap } from '../heap.js';
import { distanceM } from '../sphere.js';
import type { RecallIndex } from './index.js';
import type { Allowed, RowFilter } from './rows.js';

/** What is asked of a memory. All of it may be absent: then the newest are answered. */
export interface RecallQuestion extends RowFilter {
  readonly text?: string;
  /** Names that matter beside those that stand in the text. */
  readonly entities?: readonly string[];
  /** At most so many memories, 1 to 200; 10 where it is absent. */
  readonly limit?: number;
  /** Texts that are known already: memories of just these words are left out. */
  readonly known?: ReadonlySet<unknown>;
  /** Most tokens of all memories together, four code units each; at least one memory stays. */
  readonly maxTokens?: number;
}

/** Why a memory stands where it does: each part from 0 to 1, and what the whole was multiplied by. */
export interface RecallParts {
  readonly lexical: number;
  readonly dense: number;
  readonly recency: number;
  readonly graph: number;
  /** Facts between the question and the memory; null where no fact leads there. */
  readonly graphDistance: number | null;
  /** Metres from the place that was asked about. */
  readonly distanceM: number | null;
  /** 1, or less where all that the memory says of the question is no longer so, and where it only asks. */
  readonly validity: number;
}

/** A fact that a memory says, as it was at the moment that the question is about. */
export interface RecalledFact extends FactData {
  readonly id: string;
  readonly fromMs: number;
  readonly toMs: number | null;
  readonly supersededBy: string | null;
  readonly confidence: number;
  /** Whether it holds at the moment that the question is about. */
  readonly holds: boolean;
}

/** One answer of a recall. */
export interface Recalled {
  readonly record: MemoryRecord;
  /** 0 to 1. */
  readonly score: number;
  readonly parts: RecallParts;
  readonly facts: readonly RecalledFact[];
}

/** Candidates that each search gives. */
const CANDIDATES = 64;
const MOST = 200;
const DEFAULT_LIMIT = 10;
/** Rows of a narrow filter that are all candidates. */
const NARROW = 48;
const HALF_LIFE_MS = 45 * 86_400_000;
/** What is no longer so counts so much less. */
const OUTDATED = 0.45;
/** What somebody asked says little. */
const ASKING = 0.5;
/** How the parts weigh, with hashed words and with a model's vectors; chosen beside docs/decisions/recall.md. */
const WEIGHTS = {
  words: { lexical: 0.5, dense: 0.15, graph: 0.25, recency: 0.1 },
  model: { lexical: 0.3, dense: 0.35, graph: 0.25, recency: 0.1 },
} as const;
const CHARACTERS_PER_TOKEN = 4;
const QUERY_WORDS = 48;
const NO_SCORES: ReadonlyMap<number, number> = new Map();

const stopWords = stopWordsOf('en');

/** The words of a question that a search counts; all of them where it has none but function words. */
function queryOf(text: string): string {
  const words = [...foldedWords(text.slice(0, 8192))].slice(0, QUERY_WORDS * 4);
  const telling = words.filter((word) => !stopWords.has(word));
  return (telling.length > 0 ? telling : words).slice(0, QUERY_WORDS).join(' ');
}

/** Scores of the candidates of one search, by row. */
type Scores = ReadonlyMap<number, number>;

/** Asks memories: one ranking by words, meaning, facts and age. No model is asked but an embedder for the question. */
export class Recall {
  readonly #store: MemoryStore;
  readonly #index: RecallIndex;
  readonly #now: () => number;

  constructor(store: MemoryStore, index: RecallIndex, now: () => number = Date.now) {
    this.#store = store;
    this.#index = index;
    this.#now = now;
  }

  /** The best memories first. Throws what the embedder throws only as a missing part: words alone answer then. */
  ask(question: RecallQuestion, signal: AbortSignal): Promise<Recalled[]> {
    return this.#index.during(() => this.#ask(question, signal));
  }

  async #ask(question: RecallQuestion, signal: AbortSignal): Promise<Recalled[]> {
    const index = this.#index;
    await index.settledSoon();
    const allowed = await index.rows.allowed(question);
    if (allowed?.count === 0) return [];
    const atMs = question.asOfMs ?? this.#now();
    const text = question.text?.trim() ?? '';
    const [lexical, dense] =
      text === '' ? [NO_SCORES, NO_SCORES] : await Promise.all([this.#lexical(text, allowed), this.#dense(text, allowed, signal)]);
    const holds = (row: number): boolean => this.#holds(row, atMs);
    const isAllowed = (row: number): boolean => index.rows.isAlive(row) && (allowed?.has(row) ?? true);
    const graph = index.links.walk(
      text,
      question.entities ?? [],
      nameKey(speakerNode(question.user)),
      (row) => isAllowed(row) && holds(row),
    );
    const rows = new Set([...lexical.keys(), ...dense.keys(), ...graph.keys()]);
    if (rows.size === 0 || (allowed !== undefined && allowed.count <= NARROW)) for (const row of this.#newest(isAllowed)) rows.add(row);
    return this.#ranked(question, { rows, lexical, dense, graph, atMs, isAllowed });
  }

  async #lexical(text: string, allowed: Allowed | undefined): Promise<Scores> {
    const query = queryOf(text);
    if (query === '') return NO_SCORES;
    const { ids, scores } = await this.#index.text.search(query, CANDIDATES, allowed ? { filter: allowed.bits } : {});
    return scaleScores(ids, scores, 0);
  }

  async #dense(text: string, allowed: Allowed | undefined, signal: AbortSignal): Promise<Scores> {
    const { vectors, embedder } = this.#index;
    if (!vectors) return NO_SCORES;
    try {
      const [vector] = await embedder.embed([text], 'query', 'interactive', signal);
      const { ids, scores } = await vectors.search(vector!, CANDIDATES, allowed ? { filter: allowed.bits } : {});
      return scaleScores(ids, scores, Math.min(...scores));
    } catch (cause) {
      signal.throwIfAborted();
      if (!(cause instanceof Error)) throw cause;
      return NO_SCORES;
    }
  }

  #holds(row: number, atMs: number): boolean {
    const { fromMs, toMs } = this.#index.rows;
    return fromMs[row]! <= atMs && atMs < toMs[row]!;
  }

  /** The latest rows that may be found. */
  #newest(isAllowed: (row: number) => boolean): number[] {
    const { rows } = this.#index;
    const latest = new Heap<number>((row) => rows.timeMs[row]!);
    for (let row = 0; row < rows.end; row += 1) {
      if (rows.isFact[row] || !isAllowed(row)) continue;
      latest.push(row);
      if (latest.size > NARROW) latest.pop();
    }
    return Array.from({ length: latest.size }, () => latest.pop()!);
  }

  #ranked(question: RecallQuestion, found: Candidates): Promise<Recalled[]> {
    const { rows } = this.#index;
    const limit = Math.min(question.limit ?? DEFAULT_LIMIT, MOST);
    const groups = this.#grouped(found);
    const times = [...groups.keys()].map((row) => rows.timeMs[row]!);
    const [oldest, newest] = [Math.min(...times), Math.max(...times)];
    const weights = this.#index.embedder.type === 'LexicalEmbedder' ? WEIGHTS.words : WEIGHTS.model;
    const scored = [...groups].map(([row, members]) => {
      const best = (scores: Scores): number => Math.max(...members.map((member) => scores.get(member) ?? 0));
      const distance = Math.min(...members.map((member) => found.graph.get(member) ?? Number.POSITIVE_INFINITY));
      const place = question.near && rows.place(row);
      const parts: RecallParts = {
        lexical: best(found.lexical),
        dense: best(found.dense),
        recency: recencyOf(rows.timeMs[row]!, { oldest, newest, atMs: found.atMs }),
        graph: Number.isFinite(distance) ? 1 / (1 + distance) : 0,
        graphDistance: Number.isFinite(distance) ? distance : null,
        distanceM: place ? distanceM(question.near!, place) : null,
        validity: this.#validity(row, members, found.atMs),
      };
      const sum =
        weights.lexical * parts.lexical + weights.dense * parts.dense + weights.graph * parts.graph + weights.recency * parts.recency;
      return { row, parts, score: sum * parts.validity };
    });
    scored.sort((a, b) => b.score - a.score || rows.timeMs[b.row]! - rows.timeMs[a.row]! || a.row - b.row);
    return this.#answered(scored, limit, question, found.atMs);
  }

  /** A fact stands with the record that says it, while that is there: one memory, not two. */
  #grouped({ rows: found, isAllowed }: Candidates): Map<number, number[]> {
    const { rows } = this.#index;
    const groups = new Map<number, number[]>();
    for (const row of found) {
      if (!isAllowed(row)) continue;
      const source = rows.isFact[row] ? this.#sourceOf(row) : undefined;
      const home = source !== undefined && isAllowed(source) ? source : row;
      const members = groups.get(home) ?? [];
      members.push(row);
      groups.set(home, members);
    }
    return groups;
  }

  #sourceOf(row: number): number | undefined {
    const source = this.#index.sourceOf(row);
    return source === undefined ? undefined : this.#index.rows.ofId(source);
  }

  /** What is said by facts that have ended, and by none that hold, counts less. */
  #validity(row: number, members: readonly number[], atMs: number): number {
    const { rows } = this.#index;
    const facts = rows.isFact[row] ? [row] : [...this.#index.factsOf(rows.id[row]!)].filter((fact) => rows.isAlive(fact));
    const meant = facts.filter((fact) => members.includes(fact));
    const judged = meant.length > 0 ? meant : facts;
    if (judged.length === 0) return rows.isQuestion[row] ? ASKING : 1;
    const ended = judged.filter((fact) => !this.#holds(fact, atMs)).length;
    return 1 - (1 - OUTDATED) * (ended / judged.length);
  }

  async #answered(
    scored: readonly { row: number; parts: RecallParts; score: number }[],
    limit: number,
    { maxTokens, known }: RecallQuestion,
    atMs: number,
  ): Promise<Recalled[]> {
    const { rows } = this.#index;
    const candidates = scored.slice(0, limit * 2 + (known?.size ?? 0));
    const answered: Recalled[] = [];
    const said = new Set<string>();
    let tokens = 0;
    for (const { row, parts, score } of candidates) {
      // Each may have 256 KiB.
      await breathe();
      const [record] = this.#store.bySeq([rows.seq[row]!]);
      if (!record || known?.has(record.text) || !this.#store.shows(record)) continue;
      // The same fact that was heard in several sessions is told once.
      const hash = record.type === 'fact' ? factHash(factData(record), record.who?.user) : record.id;
      if (said.has(hash)) continue;
      tokens += Math.ceil(record.text.length / CHARACTERS_PER_TOKEN);
      if (maxTokens !== undefined && tokens > maxTokens && answered.length > 0) break;
      said.add(hash);
      answered.push({ record, score, parts, facts: this.#factsOf(record, row, atMs) });
      if (answered.length === limit) break;
    }
    return answered;
  }

  #factsOf(record: MemoryRecord, row: number, atMs: number): RecalledFact[] {
    const { rows } = this.#index;
    const facts = record.type === 'fact' ? [row] : [...this.#index.factsOf(record.id)].filter((fact) => rows.isAlive(fact));
    const kept = record.type === 'fact' ? [record] : this.#store.bySeq(facts.map((fact) => rows.seq[fact]!));
    return kept.map((one) => {
      const { fromMs, toMs } = one.valid ?? { fromMs: one.timeMs };
      const holds = fromMs <= atMs && (toMs === undefined || atMs < toMs);
      return {
        ...factData(one),
        id: one.id,
        fromMs,
        toMs: toMs ?? null,
        supersededBy: one.supersededBy ?? null,
        confidence: one.confidence ?? 1,
        holds,
      };
    });
  }
}

/** Half by the age, half by the place among the candidates: of two old memories that say the like, the newer one counts too. */
function recencyOf(timeMs: number, { oldest, newest, atMs }: { oldest: number; newest: number; atMs: number }): number {
  const age = 2 ** (-Math.max(0, atMs - timeMs) / HALF_LIFE_MS);
  return (age + (newest > oldest ? (timeMs - oldest) / (newest - oldest) : 1)) / 2;
}

/** What the searches found. */
interface Candidates {
  readonly rows: ReadonlySet<number>;
  readonly lexical: Scores;
  readonly dense: Scores;
  /** Distances, not scores. */
  readonly graph: ReadonlyMap<number, number>;
  readonly atMs: number;
  isAllowed(row: number): boolean;
}

/** Scores brought to 0..1, `low` to 0 and the best to 1. */
function scaleScores(ids: Uint32Array, scores: Float32Array, low: number): Scores {
  const high = scores[0] ?? 0;
  const span = high - low;
  return new Map([...ids].map((id, at) => [id, span > 0 ? (scores[at]! - low) / span : 1]));
}
