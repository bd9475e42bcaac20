import { readdirSync, type Stats } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { Failure } from '../../schemas/errors.js';
import type { ProjectList } from '../../schemas/generated/core/projects.js';
import { isName, liesInside, requireName } from '../base/names.js';
import { look } from '../config/project-file.js';
import { type CachedProject, hasSettled, type ProjectCache, sameStats } from './cache.js';

/** Longest time in milliseconds that building a list holds the event loop before it lets others run. */
const SLICE_MS = 4;

/** Namespaces whose list is kept as bytes. */
const MAX_CACHED_LISTS = 256;

const EMPTY = Buffer.from('{"total":0,"projects":[]}');

/** A list as it was sent last, and what has to be unchanged for sending it again. */
interface CachedList {
  readonly bytes: Buffer;
  readonly stats: Stats;
  readonly projects: readonly CachedProject[];
  checkedInTurn: number;
}

/** Lists the projects of a namespace, as objects or as the bytes of the HTTP answer. */
export class Listing {
  readonly #root: string;
  readonly #cache: ProjectCache;
  readonly #lists = new Map<string, CachedList>();
  #turn = 0;
  #isTurnEndAwaited = false;

  constructor(root: string, cache: ProjectCache) {
    this.#root = root;
    this.#cache = cache;
  }

  /** The list as objects, sorted by name; a namespace that does not exist is empty, one with an invalid name is `not_found`. */
  list(namespace: string): ProjectList {
    const names = this.names(namespace);
    const projects = names.flatMap((name) => this.#seen(namespace, name)?.snapshot.shown ?? []);
    return { total: projects.length, projects };
  }

  /**
   * The same as the bytes of the answer: at once while nothing has changed on disk, else as a promise. Files are looked at once per turn of
   * the event loop: whoever asks later in the same turn sent the request before that look, so nobody gets a list older than the request.
   * For that reason to be called from network callbacks only.
   */
  bytes(namespace: string): Buffer | Promise<Buffer> {
    const turn = this.#currentTurn();
    const known = this.#lists.get(namespace);
    if (known && (known.checkedInTurn === turn || this.#isFresh(namespace, known))) {
      known.checkedInTurn = turn;
      return known.bytes;
    }
    return this.#build(namespace);
  }

  /** The namespaces that have a folder, in order. */
  namespaces(): string[] {
    return foldersIn(this.#root);
  }

  /** The names of what may be projects of a namespace, in order. */
  names(namespace: string): string[] {
    const directory = join(this.#root, requireName('namespace', namespace));
    return liesInside(this.#root, directory) ? foldersIn(directory) : [];
  }

  /** Drops the list of a namespace after a change made by this process. */
  forget(namespace: string): void {
    this.#lists.delete(namespace);
  }

  #currentTurn(): number {
    if (!this.#isTurnEndAwaited) {
      this.#isTurnEndAwaited = true;
      // Runs right after the network callbacks of this turn.
      setImmediate(() => {
        this.#turn += 1;
        this.#isTurnEndAwaited = false;
      });
    }
    return this.#turn;
  }

  #isFresh(namespace: string, known: CachedList): boolean {
    const stats = look(join(this.#root, namespace));
    return stats !== null && sameStats(stats, known.stats) && known.projects.every((project) => this.#cache.isFresh(project));
  }

  async #build(namespace: string): Promise<Buffer> {
    // Taken before reading, so that a change in between makes the list stale and not wrong.
    const stats = look(join(this.#root, requireName('namespace', namespace)));
    const projects: CachedProject[] = [];
    let sliceStart = performance.now();
    for (const name of this.names(namespace)) {
      const parsing = this.#cache.parsing(namespace, name);
      if (parsing) {
        await parsing;
        sliceStart = performance.now();
      }
      const project = this.#seen(namespace, name);
      if (project) projects.push(project);
      if (performance.now() - sliceStart > SLICE_MS) {
        await nextTurn();
        sliceStart = performance.now();
      }
    }
    if (stats === null) return EMPTY;
    const shown = projects.flatMap((project) => project.json ?? []);
    const bytes = Buffer.from(`{"total":${shown.length},"projects":[${shown.join(',')}]}`);
    if (hasSettled(stats)) this.#keep(namespace, { bytes, stats, projects, checkedInTurn: -1 });
    else this.#lists.delete(namespace);
    return bytes;
  }

  #keep(namespace: string, list: CachedList): void {
    this.#lists.delete(namespace);
    this.#lists.set(namespace, list);
    if (this.#lists.size > MAX_CACHED_LISTS) this.#lists.delete(this.#lists.keys().next().value!);
  }

  /** The project, or `null` for what is no readable project and therefore not listed. */
  #seen(namespace: string, name: string): CachedProject | null {
    try {
      return this.#cache.get(namespace, name);
    } catch (failure) {
      if (failure instanceof Failure) return null;
      throw failure;
    }
  }
}

/** Folders, and links that may lead to some, whose names are allowed; none where there is no such directory. */
function foldersIn(directory: string): string[] {
  if (!look(directory)?.isDirectory()) return [];
  return readdirSync(directory, { withFileTypes: true })
    .filter((entry) => (entry.isDirectory() || entry.isSymbolicLink()) && isName(entry.name))
    .map((entry) => entry.name)
    .sort();
}
