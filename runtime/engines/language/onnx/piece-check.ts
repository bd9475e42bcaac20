import { isFixed, type Past } from './past-states.js';

/** Tokens that are tried: the first at once, the next ones in ways that differ, and one more that shows what was kept of them. */
const FIRST = 3;
const PIECES = [3, 2];
const NEXT = FIRST + PIECES.reduce((sum, piece) => sum + piece, 0);
/** Numbers this far below the largest are of tokens that a model never writes. */
const FAR = 1000;
/** How far logits of pieces may be off, in parts of their spread; further, up to the limit, if they are further off with the states forgotten. */
const SLACK = 0.01;
const LIMIT = 0.2;
const FORGOTTEN_FACTOR = 3;

/** Reads tokens after what was seen; see `Decoder`. */
export interface Reader {
  readonly nothing: Past;
  read(tokens: Int32Array, past: Past): Promise<{ logits: Float32Array; past: Past }>;
}

/**
 * Whether several tokens after others are read as one by one. Exports with states differ in this, and no graph says it: some look at the state
 * for a single token only and take several for the beginning of a text. So it is tried, with the `sample` read whole, in pieces, and in pieces with forgotten states.
 */
export async function readsPieces(reader: Reader, sample: Int32Array): Promise<boolean> {
  if (sample.length <= NEXT) return false;
  const whole = await readAs(reader, sample, [NEXT]);
  const off = (logits: Float32Array[]): number => Math.max(...logits.map((row, at) => distance(row, whole[at]!)));
  try {
    const pieces = off(await readAs(reader, sample, [FIRST, ...PIECES]));
    if (pieces <= SLACK) return true;
    const forgotten = off(await readAs(reader, sample, [FIRST, ...PIECES], withoutStates));
    return pieces <= LIMIT && pieces * FORGOTTEN_FACTOR <= forgotten;
  } catch {
    // A graph may refuse them.
    return false;
  }
}

/** The logits after all pieces, and after one token more; `between` changes what was seen before each further piece. */
async function readAs(
  reader: Reader,
  sample: Int32Array,
  pieces: readonly number[],
  between: (past: Past) => Past = (past) => past,
): Promise<Float32Array[]> {
  let past = reader.nothing;
  let last: Float32Array = new Float32Array(0);
  for (const piece of pieces) ({ logits: last, past } = await reader.read(sample.slice(past.length, past.length + piece), between(past)));
  const { logits } = await reader.read(sample.slice(past.length, past.length + 1), past);
  return [last, logits];
}

/** What was seen with states of zeros, and the keys and values that are there. */
function withoutStates({ length, tensors }: Past): Past {
  const forgotten = Object.entries(tensors).map(([name, tensor]) => [
    name,
    isFixed(name) ? { ...tensor, data: tensor.data.map(() => 0 as never) } : tensor,
  ]);
  return { length, tensors: Object.fromEntries(forgotten) };
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
