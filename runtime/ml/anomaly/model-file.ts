import type { AnomalyState } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { turn } from '../../base/loop.js';
import { readPickle } from '../pickle/read.js';
import type { Plain } from '../pickle/values.js';
import { writePickle } from '../pickle/write.js';
import { type EncoderState, RowEncoder } from './encoder.js';

/** What a model's file holds. */
export interface StoredModel {
  readonly name: string;
  readonly backend: string;
  readonly samples: number;
  readonly contamination: number;
  readonly encoder: RowEncoder | null;
  readonly state: AnomalyState;
}

const FORMAT = 'quern-anomaly';
const VERSION = 1;
/** Bytes copied in one turn of the event loop. */
const PIECE_BYTES = 2 ** 20;
/** Types of arrays by the names that numpy gives them. */
const ARRAYS = { '<f8': Float64Array, '<i4': Int32Array } as const;

/** The pieces of a model's file: a pickle of one dict, whose arrays are dicts of `dtype`, `shape` and `data`. */
export function modelPieces({ encoder, state, ...facts }: StoredModel): Promise<Uint8Array[]> {
  const entries = Object.entries(state).map(([key, value]): [string, Plain] => [key, typeof value === 'object' ? arrayOf(value) : value]);
  const whole = {
    format: FORMAT,
    version: VERSION,
    ...facts,
    encoder: encoder && plainOf(encoder.state),
    state: Object.fromEntries(entries),
  };
  return writePickle(whole);
}

/** Reads what `modelPieces` made. Throws `invalid` for any other file. Native code checks the numbers of the state. */
export async function storedModel(bytes: Uint8Array): Promise<StoredModel> {
  const value = await readPickle(bytes);
  if (!isObject(value) || value.format !== FORMAT) throw notAModel(`it is no dict with "format" "${FORMAT}"`);
  if (value.version !== VERSION) throw notAModel(`its version is ${String(value.version)}, ${VERSION} is known`);
  const { name, backend, samples, contamination, encoder, state } = value;
  if (typeof name !== 'string' || typeof backend !== 'string') throw notAModel('its name or backend is missing');
  if (typeof samples !== 'number' || typeof contamination !== 'number') throw notAModel('its samples or contamination are missing');
  if (!isObject(state)) throw notAModel('its state is missing');
  const entries: [string, AnomalyState[string]][] = [];
  for (const [key, entry] of Object.entries(state)) entries.push([key, await entryOf(key, entry)]);
  const known = encoder === null ? null : RowEncoder.of(encoder);
  return { name, backend, samples, contamination, encoder: known, state: Object.fromEntries(entries) };
}

function arrayOf(array: Float64Array | Int32Array): Plain {
  const dtype = array instanceof Float64Array ? '<f8' : '<i4';
  return { dtype, shape: [array.length], data: new Uint8Array(array.buffer, array.byteOffset, array.byteLength) };
}

async function entryOf(key: string, entry: unknown): Promise<AnomalyState[string]> {
  if (typeof entry === 'number' || typeof entry === 'string') return entry;
  if (!isObject(entry) || !(entry.data instanceof Uint8Array))
    throw notAModel(`its entry ${JSON.stringify(key)} is neither a number, a text nor an array`);
  const Kind = Object.hasOwn(ARRAYS, String(entry.dtype)) ? ARRAYS[entry.dtype as keyof typeof ARRAYS] : undefined;
  const { data } = entry;
  if (Kind === undefined || data.length % Kind.BYTES_PER_ELEMENT !== 0)
    throw notAModel(`its array ${JSON.stringify(key)} has a wrong dtype or length`);
  // Copied, since numbers in a file may begin at any byte.
  const array = new Kind(data.length / Kind.BYTES_PER_ELEMENT);
  const target = new Uint8Array(array.buffer);
  for (let from = 0; from < data.length; from += PIECE_BYTES) {
    if (from > 0) await turn();
    target.set(data.subarray(from, from + PIECE_BYTES), from);
  }
  return array;
}

/** An encoder's state is JSON, and all JSON is plain. */
function plainOf(state: EncoderState): Plain {
  return state as unknown as Plain;
}

/** A file that `modelPieces` did not make. */
export function notAModel(why: string): Failure {
  return new Failure('invalid', `The file is no anomaly model that was saved here: ${why}.`, { code: 'NotAModel' });
}
