import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import type { IndexLoad, NativeTextIndex, NativeVectorIndex, VectorIndexOptions } from '../../../../native/contract.js';
import { loadCore } from '../../../../native/loader.js';
import { Failure } from '../../../../schemas/errors.js';
import { liesInside } from '../../../base/names.js';
import type { Metric } from '../contract.js';

/** A chunk that goes into the indexes. */
export interface IndexRow {
  readonly row: number;
  readonly vector: Float32Array;
  readonly text: string;
}

/** The native index's names of the metrics. */
const METRICS: Record<Metric, VectorIndexOptions['metric']> = { cosine: 'cosine', ip: 'inner_product', l2: 'l2' };

/** The vector index and the text index of one database, which always have the same rows. */
export class IndexPair {
  readonly vectors: NativeVectorIndex;
  readonly text: NativeTextIndex;

  /** Rows are kept in full precision, so that an exact scan's scores are exact. Throws `unavailable` when the native core is not there. */
  constructor(metric: Metric, dimensions: number) {
    this.vectors = loadCore().openVectorIndex({ metric: METRICS[metric], storage: 'f32', dimensions });
    this.text = loadCore().openTextIndex({ language: 'english' });
  }

  /** Rows that are there already are replaced. */
  async add(rows: readonly IndexRow[]): Promise<void> {
    if (rows.length === 0) return;
    const ids = Uint32Array.from(rows, ({ row }) => row);
    const dimensions = rows[0]!.vector.length;
    const vectors = new Float32Array(rows.length * dimensions);
    for (const [index, { vector }] of rows.entries()) vectors.set(vector, index * dimensions);
    await this.vectors.add(ids, vectors);
    await this.text.add(
      ids,
      rows.map(({ text }) => text),
    );
  }

  /** Rows that are not there are ignored. */
  async remove(rows: Uint32Array): Promise<void> {
    await this.vectors.remove(rows);
    await this.text.remove(rows);
  }

  /** Writes both files. */
  async save(files: IndexFiles, version: FileVersion): Promise<void> {
    await files.prepare();
    await this.vectors.save(files.path(version, 'vectors'), BigInt(version.generation));
    await this.text.save(files.path(version, 'words'), BigInt(version.generation));
  }

  /** Loads both or answers why not; the pair is then of no use any more. */
  async load(files: IndexFiles, version: FileVersion): Promise<IndexLoad> {
    const vectors = await this.vectors.load(files.path(version, 'vectors'), BigInt(version.generation));
    if (vectors.state !== 'loaded') return vectors;
    return this.text.load(files.path(version, 'words'), BigInt(version.generation));
  }

  /** Memory. */
  get bytes(): number {
    return this.vectors.stats().bytes + this.text.stats().bytes;
  }

  /** Frees the memory. */
  async close(): Promise<void> {
    await Promise.all([this.vectors.close(), this.text.close()]);
  }
}

/** Which state of which collection the files are of. */
export interface FileVersion {
  readonly collection: number;
  readonly generation: number;
}

/** A new name whenever other text of the chunks is indexed, so that older files are not taken for it. */
const EXTENSIONS = ['vectors', 'words'] as const;
const OURS = /^\d+-\d+\.(vectors|words|text)(\.|$)/;

/** The folder of one database's index files. They are accelerations: each can be deleted at any time, and is then made again. */
export class IndexFiles {
  readonly #folder: string;

  /** `folder` is `lf_data/stores/{database}` below the directory of a project. */
  constructor(folder: string) {
    this.#folder = folder;
  }

  /** The path of one file. */
  path(version: FileVersion, extension: (typeof EXTENSIONS)[number]): string {
    return join(this.#folder, `${version.collection}-${version.generation}.${extension}`);
  }

  /** Makes the folder, but not the project's directory: one that was deleted is not to come back with an index in it. Throws `unavailable`. */
  async prepare(): Promise<void> {
    const stores = dirname(this.#folder);
    const data = dirname(stores);
    try {
      for (const folder of [data, stores, this.#folder]) await mkdir(folder).catch(ignoreExisting);
    } catch (cause) {
      throw new Failure('unavailable', `The folder ${this.#folder} for indexes cannot be made.`, { cause });
    }
    if (!liesInside(dirname(data), this.#folder)) throw new Failure('unavailable', `${this.#folder} leads out of the project's directory.`);
  }

  /** Removes all files but those of `kept`, half-written ones too. */
  async prune(kept?: FileVersion): Promise<void> {
    const names = await readdir(this.#folder).catch(() => []);
    const prefix = kept && `${kept.collection}-${kept.generation}.`;
    const old = names.filter((name) => OURS.test(name) && !EXTENSIONS.some((extension) => name === `${prefix}${extension}`));
    await Promise.all(old.map((name) => rm(join(this.#folder, name), { force: true })));
  }

  /** Removes the folder. */
  async remove(): Promise<void> {
    await rm(this.#folder, { recursive: true, force: true });
  }

  /** Bytes on the disk. */
  async size(): Promise<number> {
    const names = await readdir(this.#folder).catch(() => []);
    const sizes = await Promise.all(
      names.map((name) =>
        stat(join(this.#folder, name)).then(
          ({ size }) => size,
          () => 0,
        ),
      ),
    );
    return sizes.reduce((sum, size) => sum + size, 0);
  }
}

function ignoreExisting(error: unknown): void {
  if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
}
