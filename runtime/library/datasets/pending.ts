import { mkdir, readdir, readFile, readlink, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { log } from '../../base/log.js';

/** Below a dataset's folder: one file for each hash whose files are being changed. */
const PENDING = 'pending';
/** What such a file says where the bytes stay even without an entry. */
const KEEPS_BYTES = 'keeps bytes';

/** Does `work` on the files of a hash. Should the process end within it, the next start removes what has no entry then. */
export async function whilePending<Result>(
  dataset: string,
  hash: string,
  work: () => Promise<Result>,
  { keepsBytes = false }: { keepsBytes?: boolean } = {},
): Promise<Result> {
  const note = join(dataset, PENDING, hash);
  await mkdir(join(dataset, PENDING), { recursive: true, mode: 0o700 });
  await writeFile(note, keepsBytes ? KEEPS_BYTES : '', { mode: 0o600 });
  try {
    return await work();
  } finally {
    await rm(note, { force: true });
  }
}

/** Removes what a killed process left half done in the datasets of all projects. To be called while nobody changes them. */
export async function sweepPending(projectsRoot: string): Promise<void> {
  for await (const project of projectFolders(projectsRoot)) {
    for (const dataset of await foldersIn(join(project, 'lf_data', 'datasets'))) {
      await sweepDataset(dataset).catch((cause: unknown) => {
        log('warn', 'what a killed process left in a dataset could not be removed', { dataset, cause });
      });
    }
  }
}

/** The folders of all projects. */
export async function* projectFolders(projectsRoot: string): AsyncGenerator<string> {
  for (const namespace of await foldersIn(projectsRoot)) yield* await foldersIn(namespace);
}

/** The hashes of all files whose bytes the datasets of a project have; `project` is its folder. */
export async function documentsOnDisk(project: string): Promise<ReadonlySet<string>> {
  const data = join(project, 'lf_data');
  // Datasets of older projects shared one folder.
  const folders = [data, ...(await foldersIn(join(data, 'datasets')))];
  return new Set((await Promise.all(folders.map((folder) => namesIn(join(folder, 'raw'))))).flat());
}

async function sweepDataset(dataset: string): Promise<void> {
  const hashes = await namesIn(join(dataset, PENDING));
  if (hashes.length === 0) return;
  const [entries, raws, links] = await Promise.all([
    namesIn(join(dataset, 'meta')),
    namesIn(join(dataset, 'raw')),
    namesIn(join(dataset, 'index', 'by_name')),
  ]);
  for (const hash of hashes) {
    const note = join(dataset, PENDING, hash);
    const goes = [join(dataset, 'meta', `.${hash}.tmp`)];
    for (const raw of raws) if (raw.startsWith(`${hash}.`)) goes.push(join(dataset, 'raw', raw));
    if (!entries.includes(`${hash}.json`)) {
      if ((await readFile(note, 'utf8')) !== KEEPS_BYTES) goes.push(join(dataset, 'raw', hash));
      for (const name of links) {
        const link = join(dataset, 'index', 'by_name', name);
        if (basename(await readlink(link).catch(() => '')) === hash) goes.push(link);
      }
    }
    for (const path of [...goes, note]) await rm(path, { force: true });
  }
}

async function namesIn(folder: string): Promise<string[]> {
  return readdir(folder).catch(() => []);
}

async function foldersIn(folder: string): Promise<string[]> {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries.filter((entry) => entry.isDirectory()).map(({ name }) => join(folder, name));
}
