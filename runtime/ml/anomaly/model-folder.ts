import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { AnomalyState } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import { flushDirectory, placeFile, removeUnplaced } from '../../base/durable-files.js';
import { isObject } from '../../base/json.js';
import { turn } from '../../base/loop.js';
import { readPickle } from '../pickle/read.js';
import { MAX_FILE_BYTES, type Plain } from '../pickle/values.js';
import { writePickle } from '../pickle/write.js';
import { BACKENDS } from './backends.js';
import type { ListedAnomalyModel } from './contract.js';
import { type EncoderState, RowEncoder } from './encoder.js';

const EXTENSION = '.pkl';
const METADATA = '.metadata.json';

/** What a model's file holds. */
export interface StoredModel {
  readonly name: string;
  readonly backend: string;
  readonly samples: number;
  readonly contamination: number;
  readonly encoder: RowEncoder | null;
  readonly state: AnomalyState;
}

/** Larger metadata is not ours. */
const MAX_METADATA_BYTES = 256 * 1024;

/** The folder of fitted detectors: for each a pickle, beside it its encoder and description for people and other programs. */
export class AnomalyModelFolder {
  readonly folder: string;
  #ready: Promise<void> | undefined;
  #writing: Promise<unknown> = Promise.resolve();

  constructor(folder: string) {
    this.folder = folder;
  }

  path(filename: string): string {
    return join(this.folder, filename);
  }

  encoderPath(model: string, backend: string): string {
    return join(this.folder, `${model}_${backend}_encoder.json`);
  }

  /** Runs what changes the folder, one after the other. */
  alone<T>(work: () => Promise<T>): Promise<T> {
    const result = this.#writing.then(async () => {
      this.#ready ??= this.#prepare();
      await this.#ready.catch((error: unknown) => {
        this.#ready = undefined;
        throw error;
      });
      return work();
    });
    this.#writing = result.catch(() => undefined);
    return result;
  }

  /** The models' files, newest first. */
  async list(): Promise<ListedAnomalyModel[]> {
    const names = await this.#names();
    const described = new Set(names.filter((name) => name.endsWith(METADATA)));
    const files = names.filter((name) => name.endsWith(EXTENSION) && !name.startsWith('.'));
    const models = await Promise.all(
      files.map(async (filename): Promise<ListedAnomalyModel[]> => {
        const facts = await stat(this.path(filename)).catch(() => undefined);
        if (!facts?.isFile()) return [];
        const { name, backend } = partsOf(filename);
        const description = described.has(`${name}${METADATA}`) ? await this.#description(name) : undefined;
        const listed = { name, filename, backend, path: this.path(filename), sizeBytes: facts.size, modifiedMs: facts.mtimeMs };
        return [description === undefined ? listed : { ...listed, description }];
      }),
    );
    return models.flat().sort((a, b) => b.modifiedMs - a.modifiedMs || (a.filename < b.filename ? 1 : -1));
  }

  async has(filename: string): Promise<boolean> {
    return (await stat(this.path(filename)).catch(() => undefined))?.isFile() ?? false;
  }

  /** `undefined` where there is no such file. Throws `invalid` for one that is no model, `too_large`. */
  async read(filename: string): Promise<{ stored: StoredModel; sizeBytes: number } | undefined> {
    const facts = await stat(this.path(filename)).catch(() => undefined);
    if (!facts?.isFile()) return undefined;
    if (facts.size > MAX_FILE_BYTES) throw new Failure('too_large', `${filename} has ${facts.size} bytes; ${MAX_FILE_BYTES} are allowed.`);
    return { stored: await storedModel(await readFile(this.path(filename))), sizeBytes: facts.size };
  }

  /** The encoder's copy is written first: the model's file, which holds it too and bears the time `at`, is what counts. */
  async write(model: StoredModel, at: Date): Promise<number> {
    const { name, backend, encoder } = model;
    const pieces = await modelPieces(model);
    const beside = this.encoderPath(name, backend);
    if (encoder) await placeFile(beside, [Buffer.from(`${JSON.stringify(encoder.state, null, 2)}\n`)]);
    await placeFile(this.path(filenameOf(name, backend)), pieces, at);
    if (!encoder) await rm(beside, { force: true });
    return pieces.reduce((sum, piece) => sum + piece.length, 0);
  }

  describe(model: string, description: string): Promise<void> {
    return placeFile(this.path(`${model}${METADATA}`), [Buffer.from(`${JSON.stringify({ description }, null, 2)}\n`)]);
  }

  /** False where there is no such file. The description goes with the last model of its name. */
  async remove(filename: string): Promise<boolean> {
    if (!filename.endsWith(EXTENSION) || !(await this.has(filename))) return false;
    const { name, backend } = partsOf(filename);
    await rm(this.path(filename));
    await rm(this.encoderPath(name, backend), { force: true });
    const others = await this.list();
    if (!others.some((one) => one.name === name)) await rm(this.path(`${name}${METADATA}`), { force: true });
    await flushDirectory(this.folder);
    return true;
  }

  async #prepare(): Promise<void> {
    await mkdir(this.folder, { recursive: true, mode: 0o700 });
    await removeUnplaced(this.folder);
  }

  async #names(): Promise<string[]> {
    return readdir(this.folder).catch((error: NodeJS.ErrnoException) => {
      if (error.code === 'ENOENT') return [];
      throw error;
    });
  }

  async #description(model: string): Promise<string | undefined> {
    const path = this.path(`${model}${METADATA}`);
    try {
      if ((await stat(path)).size > MAX_METADATA_BYTES) return undefined;
      const value: unknown = JSON.parse(await readFile(path, 'utf8'));
      return isObject(value) && typeof value.description === 'string' ? value.description : undefined;
    } catch {
      return undefined;
    }
  }
}

/** The model that a file name stands for; backend `unknown` where it names none. */
export function partsOf(filename: string): { name: string; backend: string } {
  const stem = filename.endsWith(EXTENSION) ? filename.slice(0, -EXTENSION.length) : filename;
  const found = BACKENDS.find(({ backend }) => stem.length > backend.length + 1 && stem.endsWith(`_${backend}`));
  return found ? { name: stem.slice(0, -found.backend.length - 1), backend: found.backend } : { name: stem, backend: 'unknown' };
}

const FORMAT = 'quern-anomaly';
const VERSION = 1;

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

/** A file that `modelPieces` did not make. */
export function notAModel(why: string): Failure {
  return new Failure('invalid', `The file is no anomaly model that was saved here: ${why}.`, { code: 'NotAModel' });
}

/** Types of arrays by the names that numpy gives them. */
const ARRAYS = { '<f8': Float64Array, '<i4': Int32Array } as const;

/** Bytes copied in one turn of the event loop. */
const PIECE_BYTES = 2 ** 20;

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

function arrayOf(array: Float64Array | Int32Array): Plain {
  const dtype = array instanceof Float64Array ? '<f8' : '<i4';
  return { dtype, shape: [array.length], data: new Uint8Array(array.buffer, array.byteOffset, array.byteLength) };
}

/** An encoder's state is JSON, and all JSON is plain. */
function plainOf(state: EncoderState): Plain {
  return state as unknown as Plain;
}

/** The file of a model. */
export function filenameOf(model: string, backend: string): string {
  return `${model}_${backend}${EXTENSION}`;
}
