import type { Past } from './past.js';

/** Tokens that are tried: the first at once, the next ones in ways that differ, and one more that shows what was kept of them. */
const FIRST = 3;
const PIECES = [3, 2];
const NEXT = FIRST + PIECES.reduce((sum, piece) => sum + piece, 0);
/** Numbers this far below the largest are of tokens that a model never writes. */
const FAR = 1000;
/** How far logits of pieces may be off, in parts of their spread: some, and more where single tokens are off already, as coarse numbers make them. */
const SLACK = 0.01;
const NOISE_FACTOR = 3;
const LIMIT = 0.2;

/** Reads tokens after what was seen; see `Decoder`. */
export interface Reader {
  readonly nothing: Past;
  read(tokens: Int32Array, past: Past): Promise<{ logits: Float32Array; past: Past }>;
}

/**
 * Whether several tokens after others are read as one by one. Exports with states differ in this, and no graph says it: some look at the state
 * for a single token only and take several for the beginning of a text. So it is tried, with the `sample` read in three ways.
 */
export async function readsPieces(reader: Reader, sample: Int32Array): Promise<boolean> {
  if (sample.length <= NEXT) return false;
  const whole = await readAs(reader, sample, [NEXT]);
  const singles = await readAs(reader, sample, [FIRST, ...Array.from({ length: NEXT - FIRST }, () => 1)]);
  // A graph may refuse them.
  const pieces = await readAs(reader, sample, [FIRST, ...PIECES]).catch(() => undefined);
  const off = (logits: Float32Array[]): number => Math.max(...logits.map((row, at) => distance(row, whole[at]!)));
  return pieces !== undefined && off(pieces) <= Math.min(SLACK + NOISE_FACTOR * off(singles), LIMIT);
}

/** The logits after all pieces, and after one token more. */
async function readAs(reader: Reader, sample: Int32Array, pieces: readonly number[]): Promise<Float32Array[]> {
  let past = reader.nothing;
  let last: Float32Array = new Float32Array(0);
  for (const piece of pieces) ({ logits: last, past } = await reader.read(sample.slice(past.length, past.length + piece), past));
  const { logits } = await reader.read(sample.slice(past.length, past.length + 1), past);
  return [last, logits];
}

/** How far two rows are apart, in parts of the second one's spread. */
function distance(row: Float32Array, from: Float32Array): number {
  const least = from.reduce((largest, value) => Math.max(largest, value), Number.NEGATIVE_INFINITY) - FAR;
  let count = 0;
  let sum = 0;
  let squares = 0;
  let apart = 0;
  for (const [at, value] of from.entries()) {
    if (!(value >= least)) continue;
    count += 1;
    sum += value;
    squares += value * value;
    apart += (row[at]! - value) ** 2;
  }
  return apart === 0 && count > 0 ? 0 : Math.sqrt(apart / Math.max(squares - (sum * sum) / count, 0));
}
