import { createHash } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import type { EmbedderType } from '../../../schemas/generated/config/rag.js';
import type { Embedder, Purpose, Source, Urgency } from './contract.js';
import type { Turns } from './turns.js';

/** An embedder over a source: batches, turns, and no vector that is missing, of another size, not finite or zero. */
export class CheckedEmbedder implements Embedder {
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
