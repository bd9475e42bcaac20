import { Failure } from '../../../schemas/errors.js';
import type { CleanupReply, FileDeleteReply, FileMetadata } from '../../../schemas/generated/core/datasets.js';
import { log } from '../../base/log.js';
import { quote } from '../../base/names.js';
import type { Projects } from '../../projects/projects.js';
import type { Ingest } from './contract.js';
import { type DatasetPlaces, type FoundDataset, findDataset, lockOf, unknownFile } from './places.js';
import { documentsOf, dropReplaced, takeOut } from './versions.js';

/** What removing needs. */
export interface RemovalParts {
  readonly projects: Projects;
  readonly places: DatasetPlaces;
  readonly ingest: Ingest;
}

/** Counts of a removal of all chunks of a dataset. */
export interface ChunksRemoved {
  readonly chunks: number;
  readonly filesCleared: number;
  readonly filesFailed: number;
}

/** Takes files out of datasets and chunks out of their databases. */
export class Removal {
  readonly #parts: RemovalParts;

  constructor(parts: RemovalParts) {
    this.#parts = parts;
  }

  /**
   * Takes a file out of a dataset, its chunks out of the database unless another dataset put the same file there, and with `bytes` off the
   * disk. Throws `not_found`, and `bad_request` where another dataset needs the bytes.
   */
  async file(namespace: string, project: string, name: string, hash: string, { bytes }: { bytes: boolean }): Promise<FileDeleteReply> {
    const { places } = this.#parts;
    return places.locks.run(lockOf(namespace, project, name), async () => {
      const found = this.#find(namespace, project, name);
      const files = await places.list(found);
      const entry = files.find((file) => file.hash === hash);
      const isListed = entry !== undefined || (found.dataset.files ?? []).includes(hash);
      if (!isListed && !(bytes && isHash(hash) && (await places.raw(found, hash)) !== undefined)) throw unknownFile(name, hash);
      const others = await this.#othersWith(found, hash);
      if (bytes && others.length > 0) {
        const names = others.map((other) => quote(other.dataset.name)).join(', ');
        throw new Failure(
          'bad_request',
          `File ${hash} cannot be deleted from disk: dataset ${names} uses it as well. Remove it there first.`,
          {
            code: 'FileInUse',
          },
        );
      }
      const isShared = others.some((other) => other.dataset.database === found.dataset.database);
      const holds = !isShared && hasDatabase(found);
      let chunks = holds ? await this.#removeDocument(found, hash) : 0;
      if (entry) chunks += await dropReplaced(this.#parts, found, entry, files);
      await takeOut(this.#parts, found, hash, bytes);
      // What a running task has stored meanwhile; what it stores from now on it takes back itself, since it finds the file gone.
      if (holds) chunks += await this.#removeDocument(found, hash);
      return { file_hash: hash, deleted_chunks: chunks };
    });
  }

  /** Removes the chunks of one file and leaves the file. Throws `not_found`. */
  async fileChunks(namespace: string, project: string, name: string, hash: string): Promise<number> {
    const found = this.#find(namespace, project, name);
    const file = (await this.#parts.places.list(found)).find((one) => one.hash === hash);
    if (!file) throw unknownFile(name, hash);
    return this.#removeChunks(found, file);
  }

  /** Removes the chunks of all files of a dataset; what fails is counted and logged. */
  async datasetChunks(namespace: string, project: string, name: string): Promise<ChunksRemoved> {
    const found = this.#find(namespace, project, name);
    let [chunks, filesCleared, filesFailed] = [0, 0, 0];
    for (const file of await this.#parts.places.list(found)) {
      try {
        chunks += await this.#removeChunks(found, file);
        filesCleared += 1;
      } catch (cause) {
        log('warn', 'the chunks of a file could not be removed', { dataset: name, file: file.hash, cause });
        filesFailed += 1;
      }
    }
    return { chunks, filesCleared, filesFailed };
  }

  /** Removes every chunk whose document is `hash`, whether the dataset has that file or not. Doing it again removes 0. */
  async cleanUp(namespace: string, project: string, name: string, hash: string): Promise<CleanupReply> {
    const found = this.#find(namespace, project, name);
    if (!isHash(hash)) throw new Failure('invalid', `${quote(hash)} is no file hash: 64 lower-case hex digits are.`);
    const { database } = found.dataset;
    const known = (found.project.config.rag?.databases ?? []).map((one) => one.name);
    if (known.length === 0)
      throw new Failure('bad_request', `Project ${namespace}/${project} has no databases; add one under rag.databases.`);
    if (!database) throw new Failure('bad_request', `Dataset ${quote(name)} has no database; name one in its settings.`);
    if (!known.includes(database)) {
      throw new Failure('not_found', `Database ${quote(database)} of dataset ${quote(name)} not found (known: ${known.join(', ')}).`, {
        code: 'NotFound',
      });
    }
    try {
      const count = await this.#removeDocument(found, hash);
      return { message: `Deleted ${count} chunk(s) for file ${hash.slice(0, 12)}...`, deleted_count: count, file_hash: hash, errors: null };
    } catch (cause) {
      if (cause instanceof Failure && cause.kind !== 'internal') {
        throw new Failure(cause.kind, `Cleanup failed: ${cause.message}`, { code: cause.code, cause });
      }
      throw new Failure('internal', 'Cleanup failed: the store of the database could not be changed; the log has the cause.', { cause });
    }
  }

  #find(namespace: string, project: string, name: string): FoundDataset {
    return findDataset(this.#parts.projects.load(namespace, project), name);
  }

  async #removeChunks(found: FoundDataset, file: FileMetadata): Promise<number> {
    let chunks = 0;
    for (const document of documentsOf(file)) chunks += await this.#removeDocument(found, document);
    return chunks;
  }

  #removeDocument({ project: { namespace, name: project }, dataset: { database } }: FoundDataset, documentHash: string): Promise<number> {
    return this.#parts.ingest.removeDocument({ namespace, project, database, documentHash });
  }

  /** The other datasets of the project that have a file. */
  async #othersWith({ project, dataset }: FoundDataset, hash: string): Promise<FoundDataset[]> {
    const holders: FoundDataset[] = [];
    for (const other of project.config.datasets ?? []) {
      if (other.name === dataset.name) continue;
      const found = { project, dataset: other };
      if ((await this.#parts.places.list(found)).some((file) => file.hash === hash)) holders.push(found);
    }
    return holders;
  }
}

function hasDatabase({ project, dataset }: FoundDataset): boolean {
  return (project.config.rag?.databases ?? []).some(({ name }) => name === dataset.database);
}

function isHash(text: string): boolean {
  return /^[0-9a-f]{64}$/.test(text);
}
