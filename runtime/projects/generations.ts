import { createHash, randomBytes } from 'node:crypto';
import { mkdir, readdir, readFile, rename, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { Difference, Generation, GenerationDetail, GenerationList } from '../../schemas/generated/core/generations.js';
import type { Project } from '../../schemas/generated/core/projects.js';
import { flushDirectory, writeFlushed } from '../base/durable-files.js';
import { Locks } from '../base/gate.js';
import { log } from '../base/log.js';
import { differencesOf, summary } from '../config/problems.js';
import { formatOf } from '../config/project-file.js';
import { withoutSecrets } from '../config/secrets.js';
import { validateConfig } from '../config/validate.js';
import { parseLargeProjectFile } from '../config/yaml-worker.js';
import type { Projects, SeenText } from './projects.js';

/** Older generations of a project are removed when there are more, or when their texts are longer together. */
const MOST_GENERATIONS = 200;
const MOST_BYTES = 16 * 1024 ** 2;
/** Number, milliseconds since 1970, source, SHA-256 of the text, name of the project file. */
const NAME = /^([1-9]\d{0,14})\.(\d{1,15})\.(api|file|restore)\.([0-9a-f]{64})\.([\w.-]+)$/;

/** A text that is kept, as the name of its file says. */
interface Kept {
  readonly path: string;
  readonly number: number;
  readonly atMs: number;
  readonly source: SeenText['source'];
  readonly hash: string;
  readonly fileName: string;
}

/**
 * What each project file said, from text to text: each one that was accepted is kept with its time and where it came from, as a file in `lf_data/generations` of its
 * project, since it may hold keys as the project file does. A file that somebody edits is seen when its project is used next.
 */
export class Generations {
  readonly #projects: Projects;
  readonly #locks = new Locks();

  constructor(projects: Projects) {
    this.#projects = projects;
    projects.onText((namespace, name, seen) => this.#note(namespace, name, seen));
  }

  /** The generations of a project, the newest first. Throws `not_found` for a project that is not there. */
  async list(namespace: string, name: string): Promise<GenerationList> {
    const current = await this.#noteCurrent(namespace, name);
    const kept = (await this.#kept(namespace, name)).toReversed();
    const generations = kept.map((one, place) => generationOf(one, place === 0 ? current : null));
    return { total: generations.length, generations };
  }

  /** One generation with its configuration, without secrets. Throws `not_found`. */
  async get(namespace: string, name: string, number: number): Promise<GenerationDetail> {
    const current = await this.#noteCurrent(namespace, name);
    const { one, isNewest } = await this.#find(namespace, name, number);
    const { shown, problem } = await this.#read(namespace, name, one);
    return { ...generationOf(one, isNewest ? current : null), config: shown, validation_error: problem };
  }

  /** What differs between a generation and another, the current one unless named; secrets are compared and not shown. */
  async diff(namespace: string, name: string, from: number, to?: number): Promise<{ from: number; to: number; differences: Difference[] }> {
    await this.#noteCurrent(namespace, name);
    const other = to ?? (await this.#kept(namespace, name)).at(-1)?.number ?? from;
    const [a, b] = [await this.#find(namespace, name, from), await this.#find(namespace, name, other)];
    const [before, after] = await Promise.all([this.#read(namespace, name, a.one), this.#read(namespace, name, b.one)]);
    const found = differencesOf(before.stored, after.stored, { before: before.shown, after: after.shown });
    const differences = found.map(({ path, ...sides }) => {
      const was = 'before' in sides ? { from: sides.before } : {};
      return { path, ...was, ...('after' in sides ? { to: sides.after } : {}) } as Difference;
    });
    return { from, to: other, differences };
  }

  /** The configuration of a generation for use, with its secrets. Throws `invalid` where it cannot be used. */
  async config(namespace: string, name: string, number: number): Promise<ProjectConfig> {
    const { one } = await this.#find(namespace, name, number);
    const { config, problem } = await this.#read(namespace, name, one);
    if (config) return config;
    throw new Failure('invalid', `Generation ${number} of project ${namespace}/${name} cannot be used: ${problem}.`, {
      code: 'ProjectConfigError',
    });
  }

  /** Makes the text of a generation that of the project file again; it becomes a new generation. Throws `invalid` where it cannot be used any more. */
  async restore(namespace: string, name: string, number: number): Promise<Project> {
    const { one } = await this.#find(namespace, name, number);
    const text = await readFile(one.path, 'utf8');
    return this.#projects.putText(namespace, name, 'restore', async () => ({
      text,
      format: formatOf(one.fileName),
      value: await parseLargeProjectFile(one.fileName, text, `Project ${namespace}/${name}`),
    }));
  }

  async #find(namespace: string, name: string, number: number): Promise<{ one: Kept; isNewest: boolean }> {
    const kept = await this.#kept(namespace, name);
    const one = kept.find((candidate) => candidate.number === number);
    if (one) return { one, isNewest: one === kept.at(-1) };
    throw new Failure('not_found', `Project ${namespace}/${name} has no generation ${number}: its list names those that are kept.`, {
      code: 'GenerationNotFound',
    });
  }

  #folder(namespace: string, name: string): string {
    return join(this.#projects.directoryOf(namespace, name), 'lf_data', 'generations');
  }

  /** The generations of a project, the oldest first. Throws `not_found` for a project that is not there. */
  async #kept(namespace: string, name: string): Promise<Kept[]> {
    const folder = this.#folder(namespace, name);
    const names = await readdir(folder).catch(() => [] as string[]);
    const kept = names.flatMap((file): Kept[] => {
      const [, number, atMs, source, hash = '', fileName = ''] = NAME.exec(file) ?? [];
      if (number === undefined) return [];
      return [{ path: join(folder, file), number: Number(number), atMs: Number(atMs), source: source as Kept['source'], hash, fileName }];
    });
    return kept.sort((a, b) => a.number - b.number);
  }

  /** Keeps what the file says now, before anybody asks what it said; resolves to its hash, null where the file cannot be used. Throws `not_found`. */
  async #noteCurrent(namespace: string, name: string): Promise<string | null> {
    try {
      const seen = this.#projects.textOf(namespace, name);
      if (!seen) return null;
      await this.#note(namespace, name, seen);
      return hashOf(seen.text);
    } catch (failure) {
      // Whoever has broken the file looks here for what it said.
      if (failure instanceof Failure && failure.kind === 'invalid') return null;
      throw failure;
    }
  }

  #note(namespace: string, name: string, { text, fileName, source }: SeenText): Promise<void> {
    return this.#locks.run(`${namespace}/${name}`, async () => {
      try {
        const kept = await this.#kept(namespace, name);
        const hash = hashOf(text);
        const last = kept.at(-1);
        if (last?.hash === hash) return;
        const number = (last?.number ?? 0) + 1;
        const folder = this.#folder(namespace, name);
        await mkdir(folder, { recursive: true, mode: 0o700 });
        const partial = join(folder, `.${number}.${randomBytes(4).toString('hex')}.tmp`);
        await writeFlushed(partial, text);
        await rename(partial, join(folder, `${number}.${Date.now()}.${source}.${hash}.${fileName}`));
        await flushDirectory(folder);
        await pruneOldest(kept, Buffer.byteLength(text));
      } catch (cause) {
        // The file is what counts; the next use of the project tries again.
        log('warn', `the text of project ${namespace}/${name} could not be kept`, { cause });
      }
    });
  }

  async #read(namespace: string, name: string, { path, fileName }: Kept) {
    const raw = await parseLargeProjectFile(fileName, await readFile(path, 'utf8'), `Project ${namespace}/${name}`);
    const { stored, config, errors, warnings } = validateConfig(raw, namespace, name);
    return { stored, config, shown: withoutSecrets(stored), problem: summary([...errors, ...warnings]) };
  }
}

/** Removes the oldest of what is kept beside a new text, where it is too much. */
async function pruneOldest(kept: readonly Kept[], newBytes: number): Promise<void> {
  const sizes = await Promise.all(
    kept.map(({ path }) =>
      stat(path).then(
        ({ size }) => size,
        () => 0,
      ),
    ),
  );
  let [count, bytes] = [kept.length + 1, sizes.reduce((sum, size) => sum + size, newBytes)];
  for (let old = 0; old < kept.length && (count > MOST_GENERATIONS || bytes > MOST_BYTES); old += 1) {
    await rm(kept[old]!.path, { force: true });
    count -= 1;
    bytes -= sizes[old]!;
  }
}

const hashOf = (text: string): string => createHash('sha256').update(text).digest('hex');

/** `current` is the hash of the text that the project works with, for the newest generation. */
function generationOf({ number: generation, atMs, source, hash, fileName }: Kept, current: string | null): Generation {
  return { generation, created_at: new Date(atMs).toISOString(), source, hash, file: fileName, current: hash === current };
}
