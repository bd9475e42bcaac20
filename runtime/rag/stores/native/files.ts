import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../../../schemas/errors.js';
import { liesInside } from '../../../config/names.js';

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
