import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { log } from '../../base/log.js';
import type { Outbound } from '../outbound.js';
import { type JsonCall, postJson } from './json.js';

function badEmbeddings(host: string, why: string): Failure {
  return new Failure('model_failed', `${host} answered no usable embeddings: ${why}.`, { code: 'BadEmbedding' });
}

/** One vector as hosts write them: a list of numbers, or base64 of little-endian 32-bit floats. */
function vectorOf(value: unknown, host: string): Float32Array {
  if (typeof value === 'string') {
    const bytes = Buffer.from(value, 'base64');
    if (bytes.byteLength === 0 || bytes.byteLength % 4 !== 0)
      throw badEmbeddings(host, `${bytes.byteLength} bytes of base64 are no 32-bit floats`);
    return Float32Array.from({ length: bytes.byteLength / 4 }, (_none, at) => bytes.readFloatLE(at * 4));
  }
  if (!Array.isArray(value) || value.length === 0) throw badEmbeddings(host, 'a vector is missing');
  if (value.some((number) => typeof number !== 'number')) throw badEmbeddings(host, 'a vector holds something that is no number');
  return Float32Array.from(value as number[]);
}

/** The vectors of a list, each as hosts write them. */
export function vectorsOf(list: unknown, count: number, host: string): Float32Array[] {
  if (!Array.isArray(list)) throw badEmbeddings(host, 'the list of vectors is missing');
  if (list.length !== count) throw badEmbeddings(host, `${list.length} vectors came for ${count} texts`);
  return list.map((value) => vectorOf(value, host));
}

/** The vectors of an answer of `/v1/embeddings`, in the order of the texts whatever the order of the answer. */
export function openAiVectors(answer: unknown, count: number, host: string): Float32Array[] {
  const rows = isObject(answer) ? answer.data : undefined;
  if (!Array.isArray(rows)) throw badEmbeddings(host, "'data' is missing");
  const sorted: unknown[] = Array(count).fill(undefined);
  for (const [at, row] of rows.slice(0, count).entries()) {
    if (!isObject(row)) continue;
    const index = typeof row.index === 'number' ? row.index : at;
    if (index >= 0 && index < count && sorted[index] === undefined) sorted[index] = row.embedding;
    else log('debug', 'an embedding has no place in its answer', { host, index });
  }
  return vectorsOf(sorted, rows.length === count ? count : rows.length, host);
}

/** A host that speaks `/v1/embeddings`. */
export interface EmbeddingHost extends Pick<JsonCall, 'base' | 'model' | 'apiKey' | 'headers' | 'timeoutMs' | 'retries' | 'retryBaseMs'> {
  /** Further members of the request body. */
  readonly body?: Readonly<Record<string, unknown>>;
}

/** The vectors of texts, by `/v1/embeddings` of a host. Throws as `postJson`, and `model_failed` for an answer that is no list of vectors. */
export async function askEmbeddings(
  outbound: Outbound,
  host: EmbeddingHost,
  input: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array[]> {
  const { body, ...call } = host;
  const answer = await postJson(outbound, { ...call, path: '/v1/embeddings', body: { model: call.model, input, ...body } }, signal);
  return openAiVectors(answer, input.length, call.base);
}
