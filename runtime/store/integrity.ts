import { spawn } from 'node:child_process';
import { copyFileSync, mkdirSync, readFileSync, renameSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { log } from '../log.js';
import { backupsIn, timestamp } from './backups.js';
import { DATA_FILE, type Environment } from './environment.js';

/** A walk through a large store that takes longer than this is taken as passed. */
const WALK_TIMEOUT_MS = 20_000;
/** Exit code of the walk when every record could be read, or when the reason lies outside the file. */
export const WALK_SOUND = 0;
/** Exit code of the walk when the file is damaged. */
export const WALK_DAMAGED = 65;
/** What a damaged page does to a process that maps it. */
const DAMAGE_SIGNALS: readonly unknown[] = ['SIGSEGV', 'SIGBUS', 'SIGABRT', 'SIGILL', 'SIGFPE'];
/** LMDB's own; it has no content worth keeping. */
const LOCK_FILE = 'lock.mdb';
/** Exists only while the store is properly closed, and says what its file looked like then. */
const CLEAN_FILE = 'closed.json';

/** Notes that the files in `folder` are sound; a store without a valid note is walked through when it is opened. */
export function markClean(folder: string): void {
  try {
    writeFileSync(join(folder, CLEAN_FILE), fingerprint(folder));
  } catch (error) {
    log('warn', 'the state store could not note its clean end; it will be checked at the next start', { error });
  }
}

/**
 * Opens what lies in `folder` when it is sound. Damaged files are moved to `state.damaged-<time>` beside it, and the newest sound backup, or
 * nothing, takes their place. A child process does the looking: LMDB maps the file, and a page that is gone ends the process.
 */
export async function openSound(folder: string, open: () => Environment): Promise<Environment> {
  if (exists(join(folder, DATA_FILE)) && !isClean(folder) && !(await walks(folder))) await replaceDamaged(folder);
  rmSync(join(folder, CLEAN_FILE), { force: true });
  return open();
}

async function replaceDamaged(folder: string): Promise<void> {
  const aside = `${folder}.damaged-${timestamp()}`;
  mkdirSync(aside, { recursive: true });
  for (const name of [DATA_FILE, LOCK_FILE, CLEAN_FILE]) if (exists(join(folder, name))) renameSync(join(folder, name), join(aside, name));
  for (const backup of backupsIn(folder)) {
    copyFileSync(join(backup, DATA_FILE), join(folder, DATA_FILE));
    if (await walks(folder)) {
      log('error', `the state store in ${folder} is damaged: it was moved to ${aside}, and the backup ${backup} is used in its place`);
      return;
    }
    rmSync(join(folder, DATA_FILE), { force: true });
  }
  rmSync(join(folder, LOCK_FILE), { force: true });
  log('error', `the state store in ${folder} is damaged: it was moved to ${aside}, there is no backup, and an empty store takes its place`);
}

/** Whether a child process can read every record. */
async function walks(folder: string): Promise<boolean> {
  const script = join(dirname(import.meta.filename), 'walk.js');
  const child = spawn(process.execPath, [script, folder], { stdio: ['ignore', 'ignore', 'pipe'] });
  let said = '';
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  let late = false;
  const timer = setTimeout(() => {
    late = true;
    child.kill('SIGKILL');
  }, WALK_TIMEOUT_MS);
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('error', () => resolve([0, null]));
    child.once('close', (...end) => resolve(end));
  });
  clearTimeout(timer);
  const outcome = { folder, code, signal, said: said.trim() };
  if (late || (code !== WALK_DAMAGED && !DAMAGE_SIGNALS.includes(signal))) {
    if (code !== WALK_SOUND) log('warn', 'the state store could not be checked in full', outcome);
    return true;
  }
  log('error', 'the state store cannot be read', outcome);
  return false;
}

function isClean(folder: string): boolean {
  try {
    return readFileSync(join(folder, CLEAN_FILE), 'utf8') === fingerprint(folder);
  } catch {
    return false;
  }
}

function fingerprint(folder: string): string {
  const { size, mtimeMs } = statSync(join(folder, DATA_FILE));
  return JSON.stringify({ size_bytes: size, modified_ms: mtimeMs });
}

function exists(path: string): boolean {
  return statSync(path, { throwIfNoEntry: false }) !== undefined;
}
