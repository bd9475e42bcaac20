import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import type { EmbeddedChunk } from '../contract.js';
import type { Metric, StoreQuery } from './contract.js';
import type { StoreOptions } from './options.js';

const clampScore = (value: number): number => Math.min(1, Math.max(0, value));
/** The squared distance at which the score of `l2` is one half. */
const L2_HALF = 100;

/**
 * The score of a hit, 0 to 1, a higher one the better. `raw` is the cosine similarity, the inner product, or minus the squared
 * Euclidean distance.
 */
export function scoreOf(metric: Metric, raw: number): number {
  if (metric === 'l2') return 1 / (1 + Math.max(0, -raw) / L2_HALF);
  return clampScore((1 + raw) / 2);
}

/** The raw similarity of two vectors of the same length; those of cosine need no length of 1. */
export function similarity(metric: Metric, a: Float32Array, b: Float32Array): number {
  let dot = 0;
  let squares = 0;
  let distance = 0;
  if (metric === 'l2') {
    for (let i = 0; i < a.length; i += 1) distance += (a[i]! - b[i]!) ** 2;
    return -distance;
  }
  for (let i = 0; i < a.length; i += 1) {
    dot += a[i]! * b[i]!;
    squares += b[i]! * b[i]!;
  }
  return metric === 'ip' ? dot : dot / Math.sqrt(squares * lengthSquared(a));
}

function lengthSquared(vector: Float32Array): number {
  let sum = 0;
  for (const component of vector) sum += component * component;
  return sum;
}

/** Longest chunk id and document hash, in characters: they are keys. */
const MAX_KEY_CHARACTERS = 400;
/** Longest text of a chunk, in characters. */
const MAX_TEXT_CHARACTERS = 2 ** 20;
/** Most hits of one ranking. */
export const MAX_HITS = 16_384;
/** Largest magnitude of a component, as the index takes it. */
const LARGEST_COMPONENT = 1e15;

function invalid(message: string): never {
  throw new Failure('invalid', message);
}

/** The failure of a vector whose dimensions are not those of its database. */
export function dimensionMismatch(database: string, wanted: number, vector: Float32Array, what: string): Failure {
  return new Failure(
    'invalid',
    `${what} has ${vector.length} dimensions, and the database '${database}' has ${wanted}: use the embedding model that it was made with, or make another database.`,
    { code: 'DimensionMismatch' },
  );
}

function checkDimensions(options: StoreOptions, wanted: number | undefined, vector: Float32Array, what: string): void {
  if (wanted !== undefined && vector.length !== wanted) throw dimensionMismatch(options.database, wanted, vector, what);
}

function checkComponents(options: StoreOptions, vector: Float32Array, what: string): void {
  let largest = 0;
  // By index: several times as fast as the iterator of a typed array.
  for (let at = 0; at < vector.length; at += 1) {
    const component = vector[at]!;
    const size = Math.abs(component);
    // A comparison with NaN is false, so that NaN is caught here too.
    if (!(size <= LARGEST_COMPONENT)) invalid(`${what} has a component of ${component}; components must be finite.`);
    if (size > largest) largest = size;
  }
  if (largest === 0 && options.metric === 'cosine') invalid(`${what} has length 0, so it has no direction for a cosine.`);
}

/** Checks chunks before anything of them is stored; `dimensions` are those of the vectors there. Throws `invalid` naming the chunk. */
export async function checkChunks(options: StoreOptions, dimensions: number | undefined, chunks: readonly EmbeddedChunk[]): Promise<void> {
  const wanted = dimensions ?? options.dimensions ?? chunks[0]?.vector.length;
  for (const chunk of chunks) {
    checkChunk(options, wanted, chunk);
    await breathe();
  }
}

function checkChunk(options: StoreOptions, wanted: number | undefined, { id, documentHash, text, vector }: EmbeddedChunk): void {
  if (text.length > MAX_TEXT_CHARACTERS) {
    invalid(
      `The text of chunk '${id.slice(0, 80)}' has ${text.length} characters; at most ${MAX_TEXT_CHARACTERS} are allowed: cut smaller chunks.`,
    );
  }
  for (const key of [id, documentHash]) {
    if (key === '' || key.length > MAX_KEY_CHARACTERS || key.includes('\u0000')) {
      invalid(
        `The chunk '${id.slice(0, 80)}' has an id or document hash that is empty, over ${MAX_KEY_CHARACTERS} characters, or holds NUL.`,
      );
    }
  }
  checkDimensions(options, wanted, vector, `The vector of chunk '${id}'`);
  checkComponents(options, vector, `The vector of chunk '${id}'`);
}

/** Checks a question. Throws `invalid`. */
export function checkQuery(options: StoreOptions, dimensions: number | undefined, { vector, text, k }: StoreQuery): void {
  if (!Number.isInteger(k) || k < 1 || k > MAX_HITS) invalid(`k is ${k}; it must be an integer from 1 to ${MAX_HITS}.`);
  if (vector === undefined && text === undefined) invalid('A question to a store needs a vector or a text.');
  if (vector === undefined) return;
  checkDimensions(options, dimensions ?? options.dimensions, vector, 'The vector of the question');
  checkComponents(options, vector, 'The vector of the question');
}
