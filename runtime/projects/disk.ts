import { randomBytes } from 'node:crypto';
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { fileFailure, flushDirectory, writeFlushed } from '../base/durable-files.js';
import { log } from '../base/log.js';
import { containedPath } from '../base/names.js';
import { NEW_PROJECT_FILE } from '../config/project-file.js';
import { projectNotFound } from './cache.js';

/** Where projects are put together and taken apart, below the projects' root: never a valid namespace, and on the same file system. */
const STAGING = '.staging';

/** Makes and removes whole project directories, each in one step: a crash leaves the project there or not, and what is left over is swept. */
export class ProjectDisk {
  readonly #root: string;
  #swept: Promise<void> | undefined;

  /** `root` is the directory that holds the namespaces. */
  constructor(root: string) {
    this.#root = root;
  }

  /** Makes a project directory with its file and others, each given as name and text. Throws `conflict` when a directory with content is there. */
  async add(namespace: string, name: string, text: string, others: Readonly<Record<string, string>>): Promise<void> {
    const staged = await this.#stagingPath();
    try {
      const parent = containedPath(this.#root, namespace);
      const isNew = (await mkdir(parent, { recursive: true })) !== undefined;
      await mkdir(staged);
      await writeFlushed(join(staged, NEW_PROJECT_FILE), text);
      for (const [other, content] of Object.entries(others)) await writeFlushed(join(staged, other), content);
      await flushDirectory(staged);
      await rename(staged, containedPath(this.#root, namespace, name));
      await flushDirectory(parent);
      if (isNew) await flushDirectory(this.#root);
    } catch (cause) {
      await rm(staged, { recursive: true, force: true }).catch(() => undefined);
      const code = (cause as NodeJS.ErrnoException).code;
      if (code === 'ENOTEMPTY' || code === 'EEXIST' || code === 'ENOTDIR') throw projectExists(namespace, name);
      throw fileFailure(cause, `create project ${namespace}/${name}`);
    }
  }

  /** Removes a project directory with everything in it: first out of sight, then file by file. */
  async remove(namespace: string, name: string): Promise<void> {
    const staged = await this.#stagingPath();
    try {
      // A link to another project is removed as a link; what it leads to stays.
      const directory = containedPath(this.#root, namespace, name);
      await rename(directory, staged);
      await flushDirectory(dirname(directory));
    } catch (cause) {
      if ((cause as NodeJS.ErrnoException).code === 'ENOENT') throw projectNotFound(namespace, name);
      const failure = fileFailure(cause, `delete project ${namespace}/${name}`);
      if (failure instanceof Failure) throw failure;
      throw new Failure('internal', `Failed to delete project ${namespace}/${name}.`, { cause });
    }
    await rm(staged, { recursive: true, force: true }).catch((cause: unknown) => {
      log('warn', 'a deleted project could not be removed from disk completely; the next start tries again', { path: staged, cause });
    });
  }

  /** An unused path in the staging directory, which the first call of a process empties. */
  async #stagingPath(): Promise<string> {
    this.#swept ??= this.#sweep().catch((cause: unknown) => {
      this.#swept = undefined;
      throw fileFailure(cause, 'prepare the projects directory');
    });
    await this.#swept;
    return join(this.#root, STAGING, randomBytes(8).toString('hex'));
  }

  async #sweep(): Promise<void> {
    const staging = join(this.#root, STAGING);
    await mkdir(staging, { recursive: true });
    for (const entry of await readdir(staging)) await rm(join(staging, entry), { recursive: true, force: true }).catch(() => undefined);
  }
}

/** The failure for creating what is already there. */
export function projectExists(namespace: string, name: string): Failure {
  return new Failure('conflict', `Project ${namespace}/${name} already exists. Choose another name, or change it with PUT.`, {
    code: 'ProjectExists',
  });
}
