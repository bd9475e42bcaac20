import { seededRandom } from '../writers/random.js';

/** One attention head: of the known tokens in `copies` and `rivals` it finds the latest, and copies it if it is of `copies`. */
export interface Head {
  /** Place of the known token, place that is set to 1 when that token is the latest. */
  readonly copies: readonly (readonly [from: number, to: number])[];
  /** Places of known tokens that count as later without being copied. */
  readonly rivals?: readonly number[];
}

/** What the weights of the heads depend on. */
export interface HeadSetting {
  readonly width: number;
  readonly headSize: number;
  /** Root mean square of a residual vector, by which the norm divides. */
  readonly rms: number;
  /** Value of place 0. */
  readonly constant: number;
  /** Tokens over which the order is certain. */
  readonly reach: number;
}

/**
 * Total turn of the slow pairs over the whole reach, in radians. The score of a token d steps back is
 * sin(START_ANGLE - TOTAL_TURN * d / reach): it falls all the way, since the angle stays within a quarter turn of 0.
 */
const TOTAL_TURN = 2;
const START_ANGLE = 0.8;
/** By how much (natural logarithm) the later of two neighbouring tokens wins where the fall is slowest. */
const WIN_PER_STEP = 1.5;
/** Amplitude of key values: just under 2, where a half float is finest against its size. */
const KEY_SIZE = 1.95;

/**
 * Pairs that do not turn: several, so that no query value leaves the range of half floats; they fill one block of
 * 32 with equal values, so that the quantised key types keep them exact.
 */
const STILL_PAIRS = 16;
/** Amplitude of the still pairs together, against the slow pairs: above the lowest score that these give, 0.94. */
const LIFT = 1.1;

/** Frequency divisors (`rope_freqs.weight`): the first pairs stand still, the others turn by TOTAL_TURN over the reach. */
export function ropeFactors(headSize: number, ropeBase: number, reach: number): Float32Array {
  return Float32Array.from({ length: headSize / 2 }, (_, pair) =>
    pair < STILL_PAIRS ? 1e9 : (ropeBase ** ((-2 * pair) / headSize) * reach) / TOTAL_TURN,
  );
}

/** Query, key, value and output matrices of all heads, in ggml's order. */
export function headWeights(heads: readonly Head[], setting: HeadSetting): Record<'query' | 'key' | 'value' | 'out', Float32Array> {
  const { width, headSize, rms, constant, reach } = setting;
  const matrices = {
    query: new Float32Array(heads.length * headSize * width),
    key: new Float32Array(heads.length * headSize * width),
    value: new Float32Array(heads.length * headSize * width),
    out: new Float32Array(heads.length * headSize * width),
  };
  const slowPairs = headSize / 2 - STILL_PAIRS;
  const slowestFall = (Math.cos(TOTAL_TURN - START_ANGLE) * TOTAL_TURN) / reach;
  /** Score of the whole turn's amplitude; llama.cpp divides scores by the root of the head size. */
  const span = WIN_PER_STEP / slowestFall;
  const querySize = (span * Math.sqrt(headSize)) / (slowPairs * KEY_SIZE);
  const random = seededRandom(11);
  heads.forEach((head, index) => {
    const candidates = new Set([...head.copies.map(([from]) => from), ...(head.rivals ?? [])]);
    const set = (matrix: Float32Array, dimension: number, place: number, value: number): void => {
      matrix[(index * headSize + dimension) * width + place] = value;
    };
    const setPair = (pair: number, phase: number, lead: number, size: number): void => {
      for (const [dimension, wave] of [Math.cos, Math.sin].entries()) {
        set(matrices.query, pair * 2 + dimension, 0, (size * wave(phase + lead) * rms) / constant);
        for (const place of candidates) set(matrices.key, pair * 2 + dimension, place, KEY_SIZE * wave(phase) * rms);
      }
    };
    for (let pair = 0; pair < headSize / 2; pair += 1) {
      // The still pairs lift every candidate above tokens that are none, whose score is 0, however far back it is.
      if (pair < STILL_PAIRS) setPair(pair, Math.PI / 4, 0, (querySize * slowPairs * LIFT) / STILL_PAIRS);
      // Phases at random: the rounding of keys to half floats then averages out over the pairs.
      else setPair(pair, random.next() * 2 * Math.PI, Math.PI / 2 - START_ANGLE, querySize);
    }
    head.copies.forEach(([from, to], dimension) => {
      set(matrices.value, dimension, from, rms);
      matrices.out[to * heads.length * headSize + index * headSize + dimension] = 1;
    });
  });
  return matrices;
}
