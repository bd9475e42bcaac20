import { createHash } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import type { EmbedderType, EmbeddingStrategy } from '../../../schemas/generated/config/rag.js';
import type { Embedder, EmbedderKind, EmbedderParts, Purpose, Source, Urgency } from './contract.js';
import { lexical } from './lexical.js';
import { ollama } from './ollama.js';
import { openAi } from './openai.js';
import { Turns } from './turns.js';
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
   * The embedder of a strategy for one database. Those of the same `owner` take turns, whatever their strategy. `owner` is any text that
   * is one database's own; `models` are those of its project, whose settings hold where the strategy names one. Throws `invalid` and
   * `bad_request` for its configuration.
   */
  of(owner: string, strategy: EmbeddingStrategy, models?: readonly ModelConfig[]): Embedder;
}

interface Owned {
  readonly turns: Turns;
  readonly embedders: Map<string, Embedder>;
}

/** Opens embedders at their first use; those used longest ago are closed when there are too many. */
export function createEmbedders(parts: EmbedderParts): Embedders {
  const owners = new Map<string, Owned>();
  const owned = (owner: string): Owned => {
    const found = owners.get(owner) ?? { turns: new Turns(), embedders: new Map() };
    // The latest used stands last.
    owners.delete(owner);
    owners.set(owner, found);
    for (const [name, old] of owners) if (owners.size > MOST_OWNERS && old.turns.idle && name !== owner) owners.delete(name);
    return found;
  };
  return {
    of(owner, strategy, models = []) {
      const { turns, embedders } = owned(owner);
      const projectModel = modelOf(strategy, models);
      const key = JSON.stringify([strategy, projectModel]);
      const known = embedders.get(key);
      if (known) return known;
      const made = new CheckedEmbedder(
        strategy.type,
        kindOf(strategy.type).open(strategy, { ...parts, ...(projectModel ? { projectModel } : {}) }),
        turns,
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

function kindOf(type: EmbedderType): EmbedderKind {
  if (Object.hasOwn(EMBEDDERS, type)) return EMBEDDERS[type];
  throw new Failure('bad_request', `The embedder type '${type}' is unknown; known are ${Object.keys(EMBEDDERS).join(', ')}.`);
}

/** An embedder over a source: batches, turns, and no vector that is missing, of another size, not finite or zero. */
class CheckedEmbedder implements Embedder {
  readonly key: string;
  #dimensions: number | undefined;

  constructor(
    readonly type: EmbedderType,
    readonly source: Source,
    readonly turns: Turns,
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
      const answered = await this.turns.take(urgency, signal, () => this.source.send(batch, purpose, signal, urgency));
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
