import type { Stats } from 'node:fs';
import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import type { JsonObject } from '../base/json.js';
import { isName, liesInside, requireName } from '../base/names.js';
import { findProjectFile, formatOf, look, PROJECT_FILES, readProjectText } from '../config/project-file.js';
import { MAX_INLINE_CHARACTERS, parseInWorker } from '../config/yaml-worker.js';
import { type Snapshot, stampOf, takeSnapshot } from './loaded-project.js';

/** One project as last seen on disk. The object is replaced whenever what it would show changes. */
export interface CachedProject {
  readonly namespace: string;
  readonly name: string;
  readonly directory: string;
  readonly snapshot: Snapshot;
  /** The shown project as JSON text; `null` when the file does not parse. */
  readonly json: string | null;
  readonly path: string | null;
  directoryStats: Stats;
  fileStats: Stats | null;
  isSettled: boolean;
}

/** Projects whose parsed files are kept in memory; the least recently used go first. */
const MAX_CACHED_PROJECTS = 2000;

/** Parsed project files, revalidated by file times at each use: an edit on disk is seen by the next call, at the cost of two `stat` calls. */
export class ProjectCache {
  readonly #root: string;
  readonly #builtInRoot: string;
  readonly #known = new Map<string, CachedProject>();
  readonly #parsing = new Map<string, Promise<void>>();
  #expected: { text: string; value: JsonObject } | undefined;

  /** `root` is the directory that holds the namespaces, `builtInRoot` that of the projects that come with this program. */
  constructor(root: string, builtInRoot: string) {
    this.#root = root;
    this.#builtInRoot = builtInRoot;
  }

  /** The current state of a project; throws `not_found` without a directory for it. */
  get(namespace: string, name: string): CachedProject {
    const key = `${namespace}/${name}`;
    const known = this.#known.get(key);
    if (known && this.isFresh(known)) return known;
    const current = this.#read(namespace, name, known);
    this.#known.delete(key);
    this.#known.set(key, current);
    if (this.#known.size > MAX_CACHED_PROJECTS) this.#known.delete(this.#known.keys().next().value!);
    return current;
  }

  /** Whether nothing on disk has changed since `project` was seen. */
  isFresh(project: CachedProject): boolean {
    if (!project.isSettled) return false;
    const directoryStats = look(project.directory);
    if (!directoryStats || !sameStats(directoryStats, project.directoryStats)) return false;
    if (project.path === null || project.fileStats === null) return true;
    const fileStats = look(project.path);
    return fileStats !== null && sameStats(fileStats, project.fileStats);
  }

  /** Tells what a text says that is read next, which spares parsing it. */
  expect(text: string, value: JsonObject): void {
    this.#expected = { text, value };
  }

  /** Parses a large file that has changed in a worker thread, before `get` would do it here; `undefined` where there is nothing to wait for. */
  parsing(namespace: string, name: string): Promise<void> | undefined {
    if (!isName(namespace) || !isName(name)) return undefined;
    const found = findProjectFile(join(this.#rootOf(namespace, name), namespace, name));
    if (!found || found.stats.size <= MAX_INLINE_CHARACTERS || formatOf(found.fileName) === 'json') return undefined;
    const key = `${namespace}/${name}`;
    const seen = this.#known.get(key)?.fileStats;
    if (seen && sameStats(seen, found.stats)) return undefined;
    const underWay = this.#parsing.get(key);
    if (underWay) return underWay;
    const parsing = this.#parseInWorker(found.path).finally(() => this.#parsing.delete(key));
    this.#parsing.set(key, parsing);
    return parsing;
  }

  #rootOf(namespace: string, name: string): string {
    return isHelpProject(namespace, name) ? this.#builtInRoot : this.#root;
  }

  async #parseInWorker(path: string): Promise<void> {
    try {
      const { text } = readProjectText(path, this.#root, '');
      this.expect(text, await parseInWorker(text, formatOf(path)));
    } catch {
      // Whoever gets the project finds the same, and says it with the project's name.
    }
  }

  #read(namespace: string, name: string, known: CachedProject | undefined): CachedProject {
    const root = this.#rootOf(namespace, name);
    const directory = join(root, requireName('namespace', namespace), requireName('project', name));
    const directoryStats = look(directory);
    if (!directoryStats?.isDirectory() || !liesInside(root, directory)) throw projectNotFound(namespace, name);
    const found = findProjectFile(directory);
    const place = { namespace, name, directory };
    if (!found) {
      const isSettled = hasSettled(directoryStats);
      return { ...place, directoryStats, fileStats: null, isSettled, path: null, json: null, snapshot: withoutFile(namespace, name) };
    }
    const hasSameFile = known?.path === found.path && known.fileStats !== null && sameStats(known.fileStats, found.stats);
    if (known?.isSettled && hasSameFile) {
      known.isSettled = hasSettled(directoryStats, found.stats);
      known.directoryStats = directoryStats;
      return known;
    }
    const read = readOrFailure(found.path, root, `Project ${namespace}/${name}`);
    if (read instanceof Failure) {
      const snapshot = { stamp: '', loaded: null, shown: null, stored: null, failure: read };
      return {
        ...place,
        directoryStats,
        fileStats: found.stats,
        isSettled: hasSettled(directoryStats, found.stats),
        path: found.path,
        json: null,
        snapshot,
      };
    }
    const isSettled = hasSettled(directoryStats, read.stats);
    if (hasSameFile && sameStats(read.stats, found.stats) && known.snapshot.stamp === stampOf(read.text)) {
      return Object.assign(known, { directoryStats, fileStats: read.stats, isSettled });
    }
    const expected = this.#expected?.text === read.text ? this.#expected.value : undefined;
    this.#expected = undefined;
    const snapshot = takeSnapshot(place, found.fileName, read.text, read.stats, expected);
    const json = snapshot.shown ? JSON.stringify(snapshot.shown) : null;
    return { ...place, directoryStats, fileStats: read.stats, isSettled, path: found.path, json, snapshot };
  }
}

/** The folder of the projects that come with this program, in the same order as the folder of the others: what is in it is made anew when it is gone. */
export function builtInRoot(dataDir: string): string {
  return join(dataDir, 'built-in');
}

/** Whether two looks at a path saw the same thing. The change time is compared too, since the modification time can be set back. */
export function sameStats(a: Stats, b: Stats): boolean {
  return a.mtimeMs === b.mtimeMs && a.ctimeMs === b.ctimeMs && a.size === b.size && a.ino === b.ino && a.dev === b.dev;
}

/** The project that answers questions about this program; its name is the one that clients of the reference system ask. */
export const HELP_PROJECT = { namespace: 'llamafarm', name: 'project_seed' } as const;

/** Whether a name is that of the help project, which nobody changes. */
export function isHelpProject(namespace: string, name: string): boolean {
  return namespace === HELP_PROJECT.namespace && name === HELP_PROJECT.name;
}

/** The failure for a project whose directory does not exist. */
export function projectNotFound(namespace: string, name: string): Failure {
  return new Failure('not_found', `Project ${namespace}/${name} not found: its directory does not exist.`, { code: 'ProjectNotFound' });
}

/**
 * A file changed less than this many milliseconds before it was read may change again without its times telling, because file systems
 * keep them in ticks of up to some milliseconds; it is read again until it has settled.
 */
const SETTLED_MS = 100;

/** Whether the given stats, taken just now, can be relied on to change with the next change. A clock set back makes this false, which is safe. */
export function hasSettled(...all: (Stats | null)[]): boolean {
  const now = Date.now();
  return all.every((stats) => stats === null || now - Math.max(stats.mtimeMs, stats.ctimeMs) > SETTLED_MS);
}

function withoutFile(namespace: string, name: string): Snapshot {
  const looked = PROJECT_FILES.join(', ');
  const message = `Project ${namespace}/${name}: no configuration file found in its directory (looked for ${looked}).`;
  return { stamp: '', loaded: null, shown: null, stored: null, failure: new Failure('invalid', message, { code: 'ProjectConfigError' }) };
}

function readOrFailure(path: string, root: string, subject: string): { text: string; stats: Stats } | Failure {
  try {
    return readProjectText(path, root, subject);
  } catch (failure) {
    if (failure instanceof Failure) return failure;
    throw failure;
  }
}

/** Throws `forbidden` (ReadOnlyProject) for a project that comes with this program. */
export function refuseBuiltIn(namespace: string, name: string): void {
  if (!isHelpProject(namespace, name)) return;
  const message = `Project ${namespace}/${name} is the help that comes with Quern: it is read only. Make a project of your own in another namespace.`;
  throw new Failure('forbidden', message, { code: 'ReadOnlyProject' });
}

/** Throws `bad_request` (ReservedNamespace) for the namespace of the help project, in any letters: nobody makes projects there. */
export function refuseReserved(namespace: string): void {
  if (namespace.toLowerCase() !== HELP_PROJECT.namespace) return;
  throw new Failure('bad_request', `The namespace ${namespace} is reserved. Choose another one.`, { code: 'ReservedNamespace' });
}
