import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { log } from '../../base/log.js';
import { documentsOnDisk, projectFolders } from '../datasets/pending.js';

/** How much is kept. */
export const STAGE_LIMITS = {
  /** Results of one project together; the ones used longest ago go first. */
  mostBytes: 512 * 1024 * 1024,
  /** A larger result is not kept. */
  largestBytes: 64 * 1024 * 1024,
} as const;
/** Share of the limit that is left when there was too much. */
const EVICTED_TO = 0.9;

/** How the name of a result ends that is being written. */
const DRAFT = '.tmp';
/** The name of a whole result: the stage, the document that it was made of, and a hash of all that it was made by. */
const RESULT = /^\w+-([0-9a-f]{64})-[0-9a-f]{64}$/;

/** A result that is being written, as a checked file. */
export interface Draft {
  /** Where it is to be written. */
  readonly path: string;
  /** Keeps it, unless it is too large. What is open of it stays readable. Never rejects. */
  keep(): Promise<void>;
  /** Removes it. Never rejects. */
  drop(): Promise<void>;
}

/**
 * Results of ingestion stages, by what they were made of, so that unchanged work is not done again. They can all be made anew: what is
 * damaged counts as absent, and a disk that refuses one costs nothing but time. A result stays while its document is on disk. `document` is always the
 * SHA-256 of a document's bytes in hex, and `key` all else that the result depends on.
 */
export class Stages {
  readonly #folder: string;
  readonly #limits: { readonly mostBytes: number; readonly largestBytes: number };
  /** What is kept, as far as known. */
  #sizeBytes: number | undefined;

  /** `directory` is the project's. */
  constructor(directory: string, limits: { readonly mostBytes: number; readonly largestBytes: number } = STAGE_LIMITS) {
    this.#limits = limits;
    this.#folder = folderOf(directory);
  }

  /** The path of a result that was kept, which counts as used; whether it is whole shows when it is opened. Undefined where there is none. */
  async find(stage: string, document: string, key: string): Promise<string | undefined> {
    const path = this.#path(stage, document, key);
    const now = new Date();
    return utimes(path, now, now).then(
      () => path,
      () => undefined,
    );
  }

  /** Begins a result. Throws the system's error where the folder cannot be made. */
  async begin(stage: string, document: string, key: string): Promise<Draft> {
    await mkdir(this.#folder, { recursive: true, mode: 0o700 });
    const path = this.#path(stage, document, key);
    // Two runs over the same file may come to the same result at the same time.
    const draft = `${path}.${randomUUID()}${DRAFT}`;
    return {
      path: draft,
      keep: () => this.#keep(draft, path),
      drop: () => rm(draft, { force: true }).catch(() => undefined),
    };
  }

  /** Removes all results of documents. Never rejects. */
  async forget(documents: readonly string[]): Promise<void> {
    const gone = new Set(documents);
    if (await removeResults(this.#folder, (document) => gone.has(document))) this.#sizeBytes = undefined;
  }

  async #keep(draft: string, path: string): Promise<void> {
    try {
      const { size } = await stat(draft);
      if (size > this.#limits.largestBytes) return await rm(draft, { force: true });
      await rename(draft, path);
      this.#sizeBytes = this.#sizeBytes === undefined ? await this.#total() : this.#sizeBytes + size;
      if (this.#sizeBytes > this.#limits.mostBytes) this.#sizeBytes = await this.#evict();
    } catch (error) {
      log('warn', 'a stage of ingestion could not be kept', { path, error });
      await rm(draft, { force: true }).catch(() => undefined);
    }
  }

  async #files(): Promise<{ path: string; size: number; mtimeMs: number }[]> {
    const paths = (await readdir(this.#folder)).map((name) => join(this.#folder, name));
    const files = [];
    for (const path of paths) {
      // Gone again where its document was removed meanwhile.
      const found = await stat(path).catch(() => undefined);
      if (found) files.push({ path, size: found.size, mtimeMs: found.mtimeMs });
    }
    return files;
  }

  async #total(): Promise<number> {
    return (await this.#files()).reduce((sum, { size }) => sum + size, 0);
  }

  async #evict(): Promise<number> {
    const files = (await this.#files()).sort((a, b) => a.mtimeMs - b.mtimeMs);
    let total = files.reduce((sum, { size }) => sum + size, 0);
    // Below the limit, so that not every further result looks at all files again.
    const wanted = this.#limits.mostBytes * EVICTED_TO;
    for (const { path, size } of files) {
      if (total <= wanted) break;
      await rm(path, { force: true });
      total -= size;
    }
    return total;
  }

  #path(stage: string, document: string, key: string): string {
    return join(this.#folder, `${stage}-${document}-${createHash('sha256').update(key).digest('hex')}`);
  }
}

/**
 * Removes from all projects what a killed process has not written to its end, and the results of documents that are not on disk any more. To be
 * called while nobody works on them.
 */
export async function sweepStages(projectsRoot: string): Promise<void> {
  for await (const project of projectFolders(projectsRoot)) {
    const folder = folderOf(project);
    const names = await readdir(folder).catch(() => []);
    if (names.length === 0) continue;
    for (const name of names.filter((one) => !RESULT.test(one))) await removeStage(join(folder, name));
    const documents = await documentsOnDisk(project);
    await removeResults(folder, (document) => !documents.has(document));
  }
}

/** Removes the results of the documents that `goes` picks; whether there were any. */
async function removeResults(folder: string, goes: (document: string) => boolean): Promise<boolean> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => {
    const document = RESULT.exec(name)?.[1];
    return document !== undefined && goes(document);
  });
  for (const name of names) await removeStage(join(folder, name));
  return names.length > 0;
}

async function removeStage(path: string): Promise<void> {
  await rm(path, { force: true }).catch((cause: unknown) => log('warn', 'a stage of ingestion could not be removed', { path, cause }));
}

/** Where the results of a project lie. */
function folderOf(directory: string): string {
  return join(directory, 'lf_data', 'stages');
}
