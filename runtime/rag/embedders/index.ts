import { createHash } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { EmbedderType, EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import type { Embedder, EmbedderKind, EmbedderParts, Purpose, Source, Urgency } from './contract.js';
import { lexical } from './lexical.js';
import { ollama } from './ollama.js';
import { openAi } from './openai.js';
import { huggingFace, sentenceTransformer, universal } from './universal.js';

/** Every type of embedder: the list that a new one is added to. */
export const EMBEDDERS = {
  UniversalEmbedder: universal,
  OllamaEmbedder: ollama,
  HuggingFaceEmbedder: huggingFace,
  SentenceTransformerEmbedder: sentenceTransformer,
  OpenAIEmbedder: openAi,
  LexicalEmbedder: lexical,
} as const satisfies Record<EmbedderType, EmbedderKind>;

/** Databases whose embedders are kept open, each with what it has learned of its model. */
const MOST_OWNERS = 256;
/** Embedders of one database; a changed configuration is another one. */
const MOST_OF_OWNER = 64;

/** The embedders of one daemon. */
export interface Embedders {
  /**
   * The embedder of a strategy for one database. Those of the same `owner` share one queue, whatever their strategy. `owner` is any text that
   * is one database's own; `models` are those of its project, whose settings hold where the strategy names one. Throws `invalid` and
   * `bad_request` for its configuration.
   */
  of(owner: string, strategy: EmbeddingStrategy, models?: readonly ModelConfig[]): Embedder;
}

interface Owned {
  readonly queue: EmbeddingQueue;
  readonly embedders: Map<string, Embedder>;
}

/** Opens embedders at their first use; those used longest ago are closed when there are too many. */
export function createEmbedders(parts: EmbedderParts): Embedders {
  const owners = new Map<string, Owned>();
  const owned = (owner: string): Owned => {
    const entry = owners.get(owner) ?? { queue: new EmbeddingQueue(), embedders: new Map() };
    // The latest used stands last.
    owners.delete(owner);
    owners.set(owner, entry);
    for (const [name, old] of owners) if (owners.size > MOST_OWNERS && old.queue.idle && name !== owner) owners.delete(name);
    return entry;
  };
  return {
    of(owner, strategy, models = []) {
      const { queue, embedders } = owned(owner);
      const projectModel = modelOf(strategy, models);
      const key = JSON.stringify([strategy, projectModel]);
      const known = embedders.get(key);
      if (known) return known;
      const made = new CheckedEmbedder(
        strategy.type,
        embedderKind(strategy.type).open(strategy, { ...parts, ...(projectModel ? { projectModel } : {}) }),
        queue,
      );
      embedders.set(key, made);
      for (const oldest of embedders.keys()) if (embedders.size > MOST_OF_OWNER) embedders.delete(oldest);
      return made;
    },
  };
}

/** The model of the project that a strategy names, by its name there or by what its provider calls it. */
function modelOf({ config }: EmbeddingStrategy, models: readonly ModelConfig[]): ModelConfig | undefined {
  const name = config?.model ?? config?.model_name;
  const ours = models.filter((model) => model.provider === 'universal');
  return ours.find((model) => model.name === name) ?? ours.find((model) => model.model === name);
}

function embedderKind(type: EmbedderType): EmbedderKind {
  if (Object.hasOwn(EMBEDDERS, type)) return EMBEDDERS[type];
  throw new Failure('bad_request', `The embedder type '${type}' is unknown; known are ${Object.keys(EMBEDDERS).join(', ')}.`);
}

/** An embedder over a source: batches, a queue, and no vector that is missing, of another size, not finite or zero. */
class CheckedEmbedder implements Embedder {
  readonly key: string;
  #dimensions: number | undefined;

  constructor(
    readonly type: EmbedderType,
    readonly source: Source,
    readonly queue: EmbeddingQueue,
  ) {
    this.#dimensions = source.dimensions;
    const settings = JSON.stringify([source.settings, source.normalise, source.dimensions ?? null]);
    this.key = `${type}:${source.model}:${createHash('sha256').update(settings).digest('hex').slice(0, 16)}`;
  }

  get dimensions(): number | undefined {
    return this.#dimensions;
  }

  async embed(texts: readonly string[], purpose: Purpose, urgency: Urgency, signal: AbortSignal): Promise<Float32Array[]> {
    const blank = texts.findIndex((text) => text.trim() === '');
    if (blank >= 0) {
      const which = texts.length === 1 ? 'The text' : `Text ${blank + 1} of ${texts.length}`;
      throw new Failure('invalid', `${which} to embed is empty: an empty text has no meaning to compare.`, { code: 'EmptyText' });
    }
    const vectors: Float32Array[] = [];
    for (let from = 0; from < texts.length; from += this.source.batchSize) {
      const batch = texts.slice(from, from + this.source.batchSize);
      const answered = await this.queue.run(urgency, signal, () => this.source.send(batch, purpose, signal, urgency));
      signal.throwIfAborted();
      if (answered.length !== batch.length) throw this.#bad(`answered ${answered.length} vectors to ${batch.length} texts`);
      for (const vector of answered) vectors.push(this.#checked(vector));
    }
    return vectors;
  }

  #checked(vector: Float32Array): Float32Array {
    const expected = this.#dimensions ?? vector.length;
    if (vector.length !== expected) {
      const source = this.source.dimensions === undefined ? 'it had before' : 'the project file says';
      const message = `${this.#named()} answers vectors of ${vector.length} dimensions, but ${source} ${expected}. Correct 'dimension' of the embedding strategy, or use the model that the database was made with.`;
      throw new Failure('invalid', message, { code: 'DimensionMismatch' });
    }
    let squares = 0;
    // By index: several times as fast as the iterator of a typed array.
    for (let at = 0; at < vector.length; at += 1) squares += vector[at]! * vector[at]!;
    if (!Number.isFinite(squares)) throw this.#bad('answered a vector that holds no finite numbers');
    if (squares === 0) throw this.#bad('answered a zero vector');
    this.#dimensions = expected;
    if (!this.source.normalise) return vector;
    const length = Math.sqrt(squares);
    const normal = new Float32Array(vector.length);
    for (let at = 0; at < vector.length; at += 1) normal[at] = vector[at]! / length;
    return normal;
  }

  #named(): string {
    return `${this.type} with model '${this.source.model}'`;
  }

  #bad(what: string): Failure {
    return new Failure('model_failed', `${this.#named()} ${what}; nothing was stored.`, { code: 'BadEmbedding' });
  }
}

/** So long bulk work waits for interactive work at most: with questions all the time, ingestion still gets on. */
const LONGEST_WAIT_MS = 1000;

interface Waiting {
  readonly start: () => void;
  readonly sinceMs: number;
}

/** Orders the work at the embedder of one database: interactive work starts at once, bulk work one batch at a time and while no question is asked. */
export class EmbeddingQueue {
  #asking = 0;
  #busy = false;
  readonly #queue: Waiting[] = [];
  #timer: NodeJS.Timeout | undefined;

  /** No work is running or waiting. */
  get idle(): boolean {
    return this.#asking === 0 && !this.#busy && this.#queue.length === 0;
  }

  /** Does the work when nothing goes before it. Throws the reason of the abort while it waits. */
  async run<T>(urgency: Urgency, signal: AbortSignal, work: () => Promise<T>): Promise<T> {
    signal.throwIfAborted();
    if (urgency === 'interactive') {
      this.#asking += 1;
      try {
        return await work();
      } finally {
        this.#asking -= 1;
        this.#next();
      }
    }
    await this.#wait(signal);
    try {
      return await work();
    } finally {
      this.#busy = false;
      this.#next();
    }
  }

  #wait(signal: AbortSignal): Promise<void> {
    return new Promise((resolve, reject) => {
      const leave = (): void => {
        const at = this.#queue.indexOf(waiting);
        if (at >= 0) this.#queue.splice(at, 1);
        reject(signal.reason);
      };
      const start = (): void => {
        signal.removeEventListener('abort', leave);
        resolve();
      };
      const waiting: Waiting = { start, sinceMs: performance.now() };
      signal.addEventListener('abort', leave, { once: true });
      this.#queue.push(waiting);
      this.#next();
    });
  }

  #next(): void {
    const first = this.#queue[0];
    if (!first || this.#busy) return;
    const leftMs = first.sinceMs + LONGEST_WAIT_MS - performance.now();
    if (this.#asking > 0 && leftMs > 0) {
      this.#timer ??= setTimeout(() => {
        this.#timer = undefined;
        this.#next();
      }, leftMs).unref();
      return;
    }
    this.#queue.shift();
    this.#busy = true;
    first.start();
  }
}
