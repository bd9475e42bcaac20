import { Failure } from '../../schemas/errors.js';
import type { EncoderCall, EncoderFiles, EncoderModel, EncoderTask, Entity } from '../engines/contracts/encoder.js';
import type { LoadedEngine } from '../engines/contracts/loaded.js';
import type { CircuitBreaker } from '../hosts/circuit-breaker.js';
import { defaultThreads } from '../hosts/memory.js';
import type { FoundModel } from '../models/find/contract.js';
import { encoderSource, findEncoder } from '../models/find/encoder.js';
import { encoderKey } from '../models/residency/key.js';
import type { Models } from '../models/residency/models.js';
import type { EncoderAsk, EncoderService, EncoderSettings, Scores, ZeroShot } from './contract.js';
import { entailmentOf, relevance, scoresByLabel, zeroShotScores } from './scores.js';

/** An encoder in a host of its own. */
export type LoadedEncoder = EncoderModel & LoadedEngine;

/** What `QUERN_NATIVE_ENCODERS` makes of the choice of who runs ONNX encoders. */
const ENGINES: Readonly<Record<string, 'native' | 'onnxruntime'>> = { on: 'native', off: 'onnxruntime' };

/** Loads an encoder into a host process with the engine of its format; `name` is what the caller calls it. */
export async function loadEncoder(
  task: EncoderTask,
  name: string,
  { format, weights, folder, facts, notes }: FoundModel,
  settings: EncoderSettings,
  circuit: CircuitBreaker,
  stop: AbortSignal,
): Promise<LoadedEncoder> {
  const device = settings.device === undefined || settings.device === 'auto' ? {} : { device: settings.device };
  const layers = settings.gpuLayers === undefined ? {} : { gpuLayers: settings.gpuLayers };
  const options = { threads: settings.threads ?? defaultThreads(), ...device, ...layers };
  const { pooling, maxLength } = facts;
  const files: EncoderFiles = {
    name,
    format,
    model: weights[0],
    folder,
    notes,
    ...(pooling ? { pooling } : {}),
    ...(maxLength ? { maxLength } : {}),
  };
  if (format === 'gguf') {
    const { GgufEncoder } = await import('../engines/encoders/gguf/client.js');
    return GgufEncoder.load(
      {
        task: task === 'reranking' ? task : 'embedding',
        files,
        options: { ...options, flashAttention: settings.flashAttention ?? true },
        circuit,
      },
      stop,
    );
  }
  const { EncoderClient } = await import('../engines/encoders/onnx/client.js');
  const engine = ENGINES[process.env.QUERN_NATIVE_ENCODERS ?? ''] ?? 'auto';
  return EncoderClient.load({ task, files, options: { ...options, engine }, circuit }, stop);
}

/** (text, label) pairs of one request. */
const PAIR_LIMIT = 20_000;
/** So long a place on disk is taken for granted; what is loaded stays until it is idle in any case. */
const REMEMBER_MS = 5000;
const REMEMBERED = 256;

/** Vectors that need no model, under a name of their own. */
export interface BuiltInEmbedding {
  embed(
    texts: readonly string[],
    dimensions: number | undefined,
    signal: AbortSignal,
  ): Promise<{ vectors: Float32Array[]; tokens: number }>;
}

/** What the encoders are made of. */
export interface EncodersParts {
  readonly models: Models;
  /** By the names that requests use. */
  readonly builtIn?: Readonly<Record<string, BuiltInEmbedding>>;
}

/** An encoder on disk, and what tells it from another in its place. */
interface PlacedEncoder {
  readonly found: FoundModel;
  readonly source: string;
}

/** The encoders of this machine, each loaded once per task into a host process. */
export class Encoders implements EncoderService {
  readonly #models: Models;
  readonly #builtIn: Readonly<Record<string, BuiltInEmbedding>>;
  readonly #places = new Map<string, { readonly untilMs: number; readonly found: Promise<PlacedEncoder> }>();

  constructor({ models, builtIn = {} }: EncodersParts) {
    this.#models = models;
    this.#builtIn = builtIn;
  }

  async embed(ask: EncoderAsk, texts: readonly string[], dimensions?: number): Promise<{ vectors: Float32Array[]; tokens: number }> {
    const builtIn = Object.hasOwn(this.#builtIn, ask.model) ? this.#builtIn[ask.model] : undefined;
    if (builtIn) return builtIn.embed(texts, dimensions, ask.signal);
    const work = async (model: EncoderModel, call: EncoderCall): Promise<{ vectors: Float32Array[]; tokens: number }> => {
      const most = model.info.dimensions;
      // Said before the work, where the model knows.
      if (dimensions !== undefined && most !== null && dimensions > most) throw tooManyDimensions(dimensions, ask.model, most);
      const { vectors, tokens } = await model.embed(texts, call);
      return { vectors: dimensions === undefined ? vectors : shortenVectors(vectors, dimensions, ask.model), tokens: sum(tokens) };
    };
    return this.#with('embedding', ask, texts, work, { vectors: [], tokens: 0 });
  }

  async rerank(ask: EncoderAsk, query: string, documents: readonly string[]): Promise<{ scores: number[]; tokens: number }> {
    const work = async (model: EncoderModel, call: EncoderCall): Promise<{ scores: number[]; tokens: number }> => {
      const { logits, tokens } = await model.score(query, documents, call);
      return { scores: logits.map(relevance), tokens: sum(tokens) };
    };
    return this.#with('reranking', ask, documents, work, { scores: [], tokens: 0 });
  }

  async classify(ask: EncoderAsk, texts: readonly string[], zeroShot?: ZeroShot): Promise<{ scores: Scores[]; tokens: number }> {
    const work = async (model: EncoderModel, call: EncoderCall): Promise<{ scores: Scores[]; tokens: number }> => {
      if (zeroShot) return weigh(model, call, texts, zeroShot);
      const { logits, tokens } = await model.classify(texts, call);
      return { scores: logits.map((row) => scoresByLabel(model.info.labels, row, model.info.problem)), tokens: sum(tokens) };
    };
    return this.#with('classification', ask, texts, work, { scores: [], tokens: 0 });
  }

  async entities(ask: EncoderAsk, texts: readonly string[]): Promise<{ entities: Entity[][]; tokens: number }> {
    const work = async (model: EncoderModel, call: EncoderCall): Promise<{ entities: Entity[][]; tokens: number }> => {
      const { entities, tokens } = await model.entities(texts, call);
      return { entities, tokens: sum(tokens) };
    };
    return this.#with('ner', ask, texts, work, { entities: [], tokens: 0 });
  }

  /** Works with the model of a task while it is held. Nothing is loaded for no texts; that the model is there is still checked. */
  async #with<T>(
    task: EncoderTask,
    { model: name, settings = {}, whole = false, urgency = 'interactive', stayMs, signal }: EncoderAsk,
    texts: readonly string[],
    work: (model: EncoderModel, call: EncoderCall) => Promise<T>,
    nothing: T,
  ): Promise<T> {
    if (Object.hasOwn(this.#builtIn, name)) throw embedsOnly(name, task);
    const wish = settings.dtype === undefined || settings.dtype === 'auto' ? null : settings.dtype.toUpperCase();
    const { found, source } = await this.#place(name, task, wish);
    signal.throwIfAborted();
    if (texts.length === 0) return nothing;
    const held = await this.#models.hold(
      {
        key: encoderKey(task, found, settings),
        source,
        type: `encoder_${task}`,
        name,
        sizeBytes: found.sizeBytes,
        keepLoaded: settings.keepLoaded ?? false,
        stayMs,
        load: (circuit, stop) => loadEncoder(task, name, found, settings, circuit, stop),
      },
      signal,
    );
    try {
      const engine = settings.batchSize === undefined ? held.engine : inBatches(held.engine, settings.batchSize);
      return await work(engine, { signal, urgency, whole, ...(settings.maxLength === undefined ? {} : { maxLength: settings.maxLength }) });
    } catch (error) {
      // Its files may be mended by the next request, which looks for them anew.
      if (error instanceof Failure && error.code === 'InvalidModelFile') this.#places.clear();
      throw error;
    } finally {
      held.release();
    }
  }

  /** Where an encoder lies, looked up at most every few seconds: the search walks folders. */
  async #place(name: string, task: EncoderTask, wish: string | null): Promise<PlacedEncoder> {
    const key = `${task}:${wish ?? ''}:${name}`;
    const now = performance.now();
    const known = this.#places.get(key);
    if (known && known.untilMs > now) return known.found;
    const found = findEncoder(name, task, wish, this.#models.places).then(async (found) => ({ found, source: await encoderSource(found) }));
    this.#places.delete(key);
    this.#places.set(key, { untilMs: now + REMEMBER_MS, found });
    for (const oldest of this.#places.keys()) if (this.#places.size > REMEMBERED) this.#places.delete(oldest);
    // What is not there may come any moment.
    found.catch(() => this.#places.delete(key));
    return found;
  }
}

/** The 400 of a task that the built-in vectors are not for. */
function embedsOnly(name: string, task: EncoderTask): Failure {
  return new Failure('bad_request', `"${name}" is built in and makes embeddings only; name a model for ${task}.`, {
    code: 'TaskNotSupported',
  });
}

const sum = (counts: readonly number[]): number => counts.reduce((all, count) => all + count, 0);

/** Scores labels of the caller: each text with each label is one pair, and the labels of a text are compared with each other. */
async function weigh(
  model: EncoderModel,
  call: EncoderCall,
  texts: readonly string[],
  { labels, hypothesis, multiLabel }: ZeroShot,
): Promise<{ scores: Scores[]; tokens: number }> {
  const entailment = entailmentOf(model.info.name, model.info.labels);
  const count = texts.length * labels.length;
  if (count > PAIR_LIMIT) {
    const msg = `${texts.length} texts with ${labels.length} labels make ${count} pairs; at most ${PAIR_LIMIT} are allowed`;
    throw new Failure('invalid', `${msg}. Send fewer texts at a time.`, {
      errors: [{ type: 'too_long', loc: ['body', 'labels'], msg, input: labels.length }],
    });
  }
  const hypotheses = labels.map((label) => hypothesis.replace('{}', () => label));
  const { logits, tokens } = await model.classify(
    texts.flatMap((text) => labels.map(() => text)),
    call,
    texts.flatMap(() => hypotheses),
  );
  const scores = texts.map((_text, at) =>
    zeroShotScores(labels, logits.slice(at * labels.length, (at + 1) * labels.length), entailment, multiLabel),
  );
  return { scores, tokens: sum(tokens) };
}

/** An encoder that is handed at most `size` texts at a time, one batch after the other; the answers are those of all together. */
export function inBatches(model: EncoderModel, size: number): Pick<EncoderModel, keyof EncoderModel> {
  return {
    info: model.info,
    embed: (texts, call) => inTurn(texts.length, size, (from, to) => model.embed(texts.slice(from, to), call)),
    score: (query, documents, call) => inTurn(documents.length, size, (from, to) => model.score(query, documents.slice(from, to), call)),
    classify: (texts, call, pairs) =>
      inTurn(texts.length, size, (from, to) => model.classify(texts.slice(from, to), call, pairs?.slice(from, to))),
    entities: (texts, call) => inTurn(texts.length, size, (from, to) => model.entities(texts.slice(from, to), call)),
    close: () => model.close(),
  };
}

/** The lists of all answers, each put together in order. */
async function inTurn<Answer extends Readonly<Record<string, unknown[]>>>(
  count: number,
  size: number,
  ask: (from: number, to: number) => Promise<Answer>,
): Promise<Answer> {
  const whole = await ask(0, Math.min(count, size));
  for (let from = size; from < count; from += size) {
    const answer = await ask(from, Math.min(count, from + size));
    for (const [name, list] of Object.entries(answer)) for (const one of list) whole[name]!.push(one);
  }
  return whole;
}

/** The first components of vectors, brought back to length 1, as models trained for it allow. Throws `invalid` for more than there are. */
export function shortenVectors(vectors: readonly Float32Array[], dimensions: number, model: string): Float32Array[] {
  return vectors.map((vector, index) => {
    if (dimensions > vector.length) throw tooManyDimensions(dimensions, model, vector.length);
    if (dimensions === vector.length) return vector;
    const head = vector.subarray(0, dimensions);
    const length = Math.sqrt(head.reduce((sum, component) => sum + component * component, 0));
    if (length === 0) throw dimensionsRefusal(dimensions, `nothing of text ${index + 1} is left in so few`);
    return head.map((component) => component / length);
  });
}

/** The 422 of a request for more dimensions than a model has. */
function tooManyDimensions(dimensions: number, model: string, most: number): Failure {
  return dimensionsRefusal(dimensions, `"${model}" makes vectors of ${most} dimensions`);
}

function dimensionsRefusal(dimensions: number, why: string): Failure {
  const msg = `dimensions is ${dimensions}, but ${why}`;
  return new Failure('invalid', `${msg}.`, {
    code: 'InvalidDimensions',
    errors: [{ type: 'value_error', loc: ['body', 'dimensions'], msg, input: dimensions }],
  });
}
