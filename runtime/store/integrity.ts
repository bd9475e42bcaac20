import {
  copyFileSync,
  linkSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statfsSync,
  statSync,
  writeFileSync,
} from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { Failure } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import { backupsIn, timestamp } from './backups.js';
import { LOW_DISK_BYTES } from './disk-space.js';
import { DATA_FILE, type Environment } from './environment.js';
import { type Examination, examine, saveReadable } from './examination.js';

/** How often the log repeats what nobody has seen to yet. */
const REPEAT_MS = 10 * 60_000;
const NOTE = 'README.txt';

/** Losing more records than this is worse than going back to a backup that has more. */
const FEW_RECORDS = 16;
/** LMDB's own; it has no content worth keeping. */
const LOCK_FILE = 'lock.mdb';
/** Exists only while the store is properly closed, and says what its file looked like then. */
const CLEAN_FILE = 'closed.json';
/** Where a file is made before it is put in its place. */
const PART_FOLDER = 'part';

/**
 * Opens what lies in `folder` when it is sound, or makes it. A damaged file is moved to `state.damaged-<time>` beside it, and what can be
 * read of it, or the newest sound backup where that has more, takes its place. A child process does the looking, so that a large file is
 * read beside other work, and within a time. Throws `unavailable` for what is no file, and `disk_full` where a repair has no room.
 */
export async function openSound(
  folder: string,
  open: (folder: string) => Environment,
): Promise<{ environment: Environment; isRepaired: boolean }> {
  const file = join(folder, DATA_FILE);
  rmSync(join(folder, PART_FOLDER), { force: true, recursive: true });
  for (const name of [DATA_FILE, LOCK_FILE, CLEAN_FILE]) refuseOther(join(folder, name));
  let problems: readonly string[] = [];
  if (!exists(file)) {
    if (backupsIn(folder).length > 0) problems = ['it is gone, and its backups are there'];
    else await create(folder, open);
  } else if (!isClean(folder)) problems = (await examine(file)).problems;
  if (problems.length > 0) await repair(folder, problems, open);
  rmSync(join(folder, CLEAN_FILE), { force: true });
  return { environment: open(folder), isRepaired: problems.length > 0 };
}

/** Notes that the files in `folder` are sound; a store without a valid note is examined when it is opened. */
export function markClean(folder: string): void {
  try {
    writeFileSync(join(folder, CLEAN_FILE), fingerprint(folder));
  } catch (error) {
    log('warn', 'the state store could not note its clean end; it will be checked at the next start', { error });
  }
}

/** A store is made elsewhere and put in its place whole: an empty file that is found later is a damaged one. */
async function create(folder: string, open: (folder: string) => Environment): Promise<void> {
  const part = join(folder, PART_FOLDER);
  mkdirSync(part, { recursive: true, mode: 0o700 });
  await open(part).close();
  renameSync(join(part, DATA_FILE), join(folder, DATA_FILE));
  rmSync(part, { force: true, recursive: true });
}

async function repair(folder: string, problems: readonly string[], open: (folder: string) => Environment): Promise<void> {
  const file = join(folder, DATA_FILE);
  const part = join(folder, PART_FOLDER);
  log('error', 'the state file is damaged; what can be read of it is being saved', { file, problems });
  const backup = await newestSound(folder);
  requireRoom(folder, Math.max(sizeOf(file), backup?.sizeBytes ?? 0));
  mkdirSync(part, { recursive: true, mode: 0o700 });
  const saved = exists(file) ? await saveReadable(file, part, backup?.folder) : undefined;
  const lost = Object.values(saved?.lost ?? {}).reduce((sum, count) => sum + count, 0);
  const isMore = backup !== undefined && backup.records > (saved?.records ?? -1);
  const isBackupBetter = isMore && (saved === undefined || saved.isGuess || lost > FEW_RECORDS);
  if (isBackupBetter) copyFileSync(join(backup.folder, DATA_FILE), join(part, DATA_FILE));
  else if (saved === undefined) {
    rmSync(part, { force: true, recursive: true });
    mkdirSync(part, { mode: 0o700 });
    await open(part).close();
  }
  const keptFolder = `${folder}.damaged-${timestamp()}`;
  mkdirSync(keptFolder, { recursive: true, mode: 0o700 });
  if (exists(file)) link(file, join(keptFolder, DATA_FILE));
  noteDamage(keptFolder, { problems, ...repairResult(saved, isBackupBetter ? backup.folder : undefined) });
  rmSync(join(folder, LOCK_FILE), { force: true });
  renameSync(join(part, DATA_FILE), file);
  rmSync(part, { force: true, recursive: true });
}

/** What a person is told about a repair. */
function repairResult(saved: Examination | undefined, backup: string | undefined): { result: string } {
  if (backup !== undefined) return { result: `The backup ${basename(backup)} is used in its place: what was stored later is lost.` };
  if (saved === undefined || saved.records === 0)
    return { result: 'Nothing in it could be read and there is no backup: an empty store is used in its place.' };
  const lost = Object.entries(saved.lost).map(([table, count]) => `${count} of ${table}`);
  if (lost.length === 0) return { result: `All its ${saved.records} records could be saved.` };
  return { result: `${saved.records} records could be saved; lost: ${lost.join(', ')}.` };
}

interface SoundBackup {
  folder: string;
  records: number;
  sizeBytes: number;
}

async function newestSound(folder: string): Promise<SoundBackup | undefined> {
  for (const backup of backupsIn(folder)) {
    const file = join(backup, DATA_FILE);
    const found = await examine(file);
    if (found.problems.length === 0) return { folder: backup, records: found.records, sizeBytes: sizeOf(file) };
    log('warn', 'a backup of the state store is damaged too', { backup, problems: found.problems });
  }
  return undefined;
}

function requireRoom(folder: string, sizeBytes: number): void {
  const { bavail, bsize } = statfsSync(folder);
  const needed = sizeBytes + LOW_DISK_BYTES;
  if (bavail * bsize >= needed) return;
  throw new Failure(
    'disk_full',
    `The state file in ${folder} is damaged, and to repair it ${Math.ceil(needed / 2 ** 20)} MB must be free on its disk; ${Math.floor((bavail * bsize) / 2 ** 20)} MB are. Free some space and start again.`,
  );
}

function isClean(folder: string): boolean {
  try {
    return readFileSync(join(folder, CLEAN_FILE), 'utf8') === fingerprint(folder);
  } catch {
    return false;
  }
}

/** The time of change is told too: unlike that of the content, no program can set it back. */
function fingerprint(folder: string): string {
  const { size, mtimeMs, ctimeMs } = statSync(join(folder, DATA_FILE));
  return JSON.stringify({ size_bytes: size, modified_ms: mtimeMs, changed_ms: ctimeMs });
}

/** The damaged file gets a second name, so that at no moment there is none; where the file system knows no second names, it is moved. */
function link(from: string, to: string): void {
  try {
    linkSync(from, to);
  } catch {
    renameSync(from, to);
  }
}

function refuseOther(path: string): void {
  const found = statSync(path, { throwIfNoEntry: false });
  if (found === undefined || found.isFile()) return;
  const kind = found.isDirectory() ? 'a folder' : 'no file';
  throw new Failure('unavailable', `${path} is ${kind}, and should be a file of the state store: move it away and start again.`);
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0;
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}

/** Says in `keptFolder`, which keeps a damaged state file, what happened to it. */
function noteDamage(keptFolder: string, { problems, result }: { problems: readonly string[]; result: string }): void {
  const lines = [`The state file was damaged. ${result}`, '', 'What was found:', ...problems.map((problem) => `- ${problem}`), ''];
  writeFileSync(join(keptFolder, NOTE), lines.join('\n'), { mode: 0o600 });
  log('error', `the state file was damaged; it is kept in ${keptFolder}. ${result}`);
}

/**
 * What is still to be seen to: the state file was damaged, and the folder that keeps it is there. A person who has looked at the disk
 * removes or renames the folder. Undefined when there is none.
 */
export function unseenDamage(stateFolder: string): string | undefined {
  const place = dirname(stateFolder);
  const prefix = `${basename(stateFolder)}.damaged-`;
  const newest = readdirSync(place)
    .filter((name) => name.startsWith(prefix))
    .sort()
    .at(-1);
  if (newest === undefined) return undefined;
  const keptFolder = join(place, newest);
  return `${firstLine(keptFolder)} It is kept in ${keptFolder}: check the disk, then remove or rename that folder to end this warning.`;
}

function firstLine(keptFolder: string): string {
  try {
    return readFileSync(join(keptFolder, NOTE), 'utf8').split('\n')[0] ?? '';
  } catch {
    return 'The state file was damaged.';
  }
}

/** Logs what `look` finds to be wrong, now and every ten minutes, until nothing is. Returns the end of it. */
export function repeatInLog(look: () => string | undefined): () => void {
  const say = (): void => {
    const found = look();
    if (found !== undefined) log('error', found);
  };
  say();
  const timer = setInterval(say, REPEAT_MS);
  timer.unref();
  return () => clearInterval(timer);
}
