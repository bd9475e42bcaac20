import type { Dirent } from 'node:fs';
import { readdir, readFile, stat } from 'node:fs/promises';
import { homedir } from 'node:os';
import { dirname, join, relative, resolve, sep } from 'node:path';
import { expandHome, resolvesInside } from '../../base/files.js';

/** Folders and files looked at in one repository. */
const ENTRY_LIMIT = 2000;
const DEPTH_LIMIT = 4;
const REPOSITORY = /^models--([A-Za-z0-9_.-]+?)(?:--([A-Za-z0-9_.-]+))?$/;

/** A path of a variable as the hub's clients read it: absolute, with the home folder for a `~` at its beginning, and other variables that are set by their values. */
export const wholePath = (path: string, env: NodeJS.ProcessEnv): string =>
  resolve(
    expandHome(path).replace(/\$(?:(\w+)|\{([^}]*)\})/g, (whole, bare?: string, braced?: string) => env[bare ?? braced ?? ''] ?? whole),
  );

/** Where the hub's clients keep what is this user's: `HF_HOME`, else `XDG_CACHE_HOME` or `~/.cache` with huggingface. Absolute. */
export const hubHome = (env: NodeJS.ProcessEnv): string =>
  wholePath(env.HF_HOME || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'huggingface'), env);

/** The hub cache of this user: `HF_HUB_CACHE`, else the folder `hub` in `hubHome`. Absolute. */
export function hubCacheFolder(env: NodeJS.ProcessEnv = process.env): string {
  const given = env.HF_HUB_CACHE || env.HUGGINGFACE_HUB_CACHE;
  return given ? wholePath(given, env) : join(hubHome(env), 'hub');
}

/** The folder of a repository in the hub cache. */
export const repositoryFolder = (hub: string, id: string): string => join(hub, `models--${id.replaceAll('/', '--')}`);

async function entries(folder: string): Promise<Dirent[]> {
  try {
    return (await readdir(folder, { withFileTypes: true })).sort((a, b) => (a.name < b.name ? -1 : 1));
  } catch {
    return [];
  }
}

async function isUsable(path: string, roots: readonly string[]): Promise<boolean> {
  try {
    const facts = await stat(path);
    if (!facts.isFile() || facts.size === 0) return false;
    for (const root of roots) if (await resolvesInside(root, path)) return true;
    return false;
  } catch {
    return false;
  }
}

/**
 * Non-empty files below `folder`, relative, with '/', sorted; links that lead nowhere or out of all `roots`, empty files and unfinished
 * downloads are left out.
 */
export async function filesBelow(folder: string, ...roots: readonly string[]): Promise<string[]> {
  const found: string[] = [];
  const walk = async (path: string, depth: number): Promise<void> => {
    for (const entry of (await entries(path)).slice(0, ENTRY_LIMIT)) {
      const inner = join(path, entry.name);
      if (found.length >= ENTRY_LIMIT) return;
      if (entry.isDirectory() && depth < DEPTH_LIMIT) await walk(inner, depth + 1);
      else if (!entry.name.endsWith('.incomplete') && (await isUsable(inner, roots)))
        found.push(relative(folder, inner).split(sep).join('/'));
    }
  };
  await walk(folder, 0);
  return found.sort();
}

/** The store of a hub cache, where newer clients keep large files once for all repositories, whose blobs are links to it. */
export const sharedBlobs = (hub: string): string => join(hub, 'blobs');

/** The files of a snapshot, as `filesBelow` gives them; they may lie in the repository or in the store that all share. */
export const snapshotFiles = (snapshot: string, repository: string): Promise<string[]> =>
  filesBelow(snapshot, repository, sharedBlobs(dirname(repository)));

/** The snapshots of a repository, that of `refs/main` first, then the newest first. */
export async function snapshots(repository: string): Promise<string[]> {
  const main = await readFile(join(repository, 'refs', 'main'), 'utf8').then(
    (text) => text.trim(),
    () => '',
  );
  const folders = (await entries(join(repository, 'snapshots'))).filter((entry) => entry.isDirectory()).map((entry) => entry.name);
  const ages = new Map(
    await Promise.all(
      folders.map(async (name) => [name, (await stat(join(repository, 'snapshots', name)).catch(() => null))?.mtimeMs ?? 0] as const),
    ),
  );
  return folders
    .sort((a, b) => Number(b === main) - Number(a === main) || ages.get(b)! - ages.get(a)!)
    .map((name) => join(repository, 'snapshots', name));
}

/** Paths of the GGUF files of a cached repository; a file that several snapshots have is taken from the first of them. */
export async function cachedGgufFiles(hub: string, id: string): Promise<string[]> {
  const found = new Map<string, string>();
  const repository = repositoryFolder(hub, id);
  for (const snapshot of await snapshots(repository)) {
    for (const name of await snapshotFiles(snapshot, repository)) {
      if (/\.gguf$/i.test(name) && !found.has(name)) found.set(name, join(snapshot, name));
    }
  }
  return [...found.values()];
}

/** Ids of the repositories that the cache names, with or without GGUF files. */
export async function cachedRepositories(hub: string): Promise<string[]> {
  return (await entries(hub))
    .map((entry) => REPOSITORY.exec(entry.name))
    .filter((match) => match !== null)
    .map((match) => (match[2] === undefined ? match[1]! : `${match[1]}/${match[2]}`));
}
