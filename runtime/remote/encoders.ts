import { Failure } from '../../schemas/errors.js';
import { isObject } from '../base/json.js';
import { exportSettings } from '../completions/settings.js';
import type { EncoderAsk, EncoderService, EncoderSettings, Scores, ZeroShot } from '../encoders/contract.js';
import type { Entity } from '../engines/contracts/encoder.js';
import type { Bases } from '../net/ask/bases.js';
import { RUNTIME_TIMEOUT_MS } from '../net/ask/bases.js';
import { openAiVectors } from '../net/ask/embeddings.js';
import { postToOne } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';

const RETRIES = 1;

interface Reply {
  readonly base: string;
  readonly rows: readonly Record<string, unknown>[];
  readonly tokens: number;
  readonly answer: unknown;
}

/** How an encoder is loaded and read, as the wire has it. */
function membersOf(settings: EncoderSettings): object {
  const { maxLength, keepLoaded, batchSize, flashAttention, threads, gpuLayers } = settings;
  const transformers = { ...exportSettings(settings), ...(batchSize === undefined ? {} : { batch_size: batchSize }) };
  const ofGguf = { flash_attn: flashAttention, n_threads: threads, n_gpu_layers: gpuLayers };
  return {
    ...(maxLength === undefined ? {} : { max_length: maxLength }),
    ...(keepLoaded ? { keep_loaded: true } : {}),
    ...(Object.keys(transformers).length > 0 ? { transformers } : {}),
    ...(Object.values(ofGguf).some((value) => value !== undefined) ? { extra_body: ofGguf } : {}),
  };
}

/** The encoders of universal runtimes elsewhere, over HTTP. */
export class RemoteEncoders implements EncoderService {
  readonly #outbound: Outbound;
  readonly #bases: Bases;
  readonly #apiKey: string | undefined;

  constructor(outbound: Outbound, bases: Bases, apiKey?: string) {
    this.#outbound = outbound;
    this.#bases = bases;
    this.#apiKey = apiKey;
  }

  async embed(ask: EncoderAsk, texts: readonly string[], dimensions?: number): Promise<{ vectors: Float32Array[]; tokens: number }> {
    const body = { input: texts, encoding_format: 'base64', ...(dimensions === undefined ? {} : { dimensions }) };
    const { base, answer, tokens } = await this.#post(ask, '/v1/embeddings', body);
    const vectors = openAiVectors(answer, texts.length, base);
    const other = dimensions === undefined ? undefined : vectors.find(({ length }) => length !== dimensions);
    if (other)
      throw unusableAnswer(base, `vectors of ${other.length} dimensions came where ${dimensions} were asked for; leave dimensions out`);
    return { vectors, tokens };
  }

  async rerank(ask: EncoderAsk, query: string, documents: readonly string[]): Promise<{ scores: number[]; tokens: number }> {
    const { base, rows, tokens } = await this.#post(ask, '/v1/rerank', { query, documents, return_documents: false });
    const scores: number[] = Array(documents.length).fill(Number.NaN);
    for (const row of rows) if (typeof row.index === 'number') scores[row.index] = Number(row.relevance_score);
    if (scores.length !== documents.length || scores.some(Number.isNaN))
      throw unusableAnswer(base, `${rows.length} scores came for ${documents.length} documents`);
    return { scores, tokens };
  }

  async classify(ask: EncoderAsk, texts: readonly string[], zeroShot?: ZeroShot): Promise<{ scores: Scores[]; tokens: number }> {
    const own = zeroShot && {
      labels: zeroShot.labels,
      hypothesis_template: zeroShot.hypothesis,
      multi_label: zeroShot.multiLabel,
    };
    const { base, rows, tokens } = await this.#post(ask, '/v1/classify', { texts, ...own });
    const scores = rows.map(({ all_scores: scored }) => scored as Scores);
    if (scores.length !== texts.length || !scores.every(isObject)) throw unusableAnswer(base, 'scores are missing');
    return { scores, tokens };
  }

  async entities(ask: EncoderAsk, texts: readonly string[]): Promise<{ entities: Entity[][]; tokens: number }> {
    const { base, rows, tokens } = await this.#post(ask, '/v1/ner', { texts });
    const entities = rows.map((row) => row.entities as Entity[]);
    if (entities.length !== texts.length || !entities.every((found) => Array.isArray(found) && found.every(isEntity)))
      throw unusableAnswer(base, 'entities are missing');
    return { entities, tokens };
  }

  async #post({ model, settings = {}, signal }: EncoderAsk, path: string, body: object): Promise<Reply> {
    const whole = { model, ...body, ...membersOf(settings) };
    const call = { path, body: whole, model, apiKey: this.#apiKey, timeoutMs: RUNTIME_TIMEOUT_MS, retries: RETRIES, ours: true };
    const { base, answer } = await postToOne(this.#outbound, this.#bases, call, signal);
    return { base, answer, ...partsOf(answer, base) };
  }
}

function isEntity(value: unknown): value is Entity {
  if (!isObject(value)) return false;
  const { text, label, start, end, score } = value;
  return typeof text === 'string' && typeof label === 'string' && [start, end, score].every((number) => typeof number === 'number');
}

function partsOf(answer: unknown, base: string): Pick<Reply, 'rows' | 'tokens'> {
  const list = isObject(answer) ? (answer.data ?? answer.results) : undefined;
  if (!Array.isArray(list)) throw unusableAnswer(base, "'data' is missing");
  const usage = isObject(answer) && isObject(answer.usage) ? answer.usage : {};
  return { rows: list.filter(isObject), tokens: typeof usage.prompt_tokens === 'number' ? usage.prompt_tokens : 0 };
}

function unusableAnswer(base: string, why: string): Failure {
  return new Failure('model_failed', `${base} answered nothing usable: ${why}.`, { code: 'BadEncoderAnswer' });
}
