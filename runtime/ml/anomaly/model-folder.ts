import { mkdir, readdir, readFile, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { flushDirectory } from '../../config/atomic-write.js';
import { MAX_FILE_BYTES } from '../pickle/values.js';
import { placeFile, removeUnplaced } from '../place-file.js';
import { BACKENDS } from './backends.js';
import type { ListedAnomalyModel } from './contract.js';
import { modelPieces, type StoredModel, storedModel } from './model-file.js';

const EXTENSION = '.pkl';
const METADATA = '.metadata.json';
/** Larger metadata is not ours. */
const MAX_METADATA_BYTES = 256 * 1024;

/** The file of a model. */
export function filenameOf(model: string, backend: string): string {
  return `${model}_${backend}${EXTENSION}`;
}

/** The model that a file name stands for; backend `unknown` where it names none. */
export function partsOf(filename: string): { name: string; backend: string } {
  const stem = filename.endsWith(EXTENSION) ? filename.slice(0, -EXTENSION.length) : filename;
  const found = BACKENDS.find(({ backend }) => stem.length > backend.length + 1 && stem.endsWith(`_${backend}`));
  return found ? { name: stem.slice(0, -found.backend.length - 1), backend: found.backend } : { name: stem, backend: 'unknown' };
}

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
