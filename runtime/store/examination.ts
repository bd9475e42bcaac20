import { spawn } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { log } from '../base/log.js';
import type { TableName } from './tables.js';

const EXAMINATION = fileURLToPath(new URL('./examination-child.js', import.meta.url));
/** A look at a large file that takes longer than this is taken as passed. */
const EXAMINE_TIMEOUT_MS = 20_000;
/** What can be read of a damaged file is saved within this time, or a backup takes its place. */
const SAVE_TIMEOUT_MS = 15 * 60_000;

/** What a look at a data file brought. */
export interface Examination {
  /** In words; none for a sound file. */
  problems: string[];
  /** Records that could be read. */
  records: number;
  /** How many records of each table could not be saved, as far as that can be told. */
  lost: Partial<Record<TableName, number>>;
  /** The list of tables could not be read: nothing says which records there should be, and some may have been removed once. */
  isGuess: boolean;
}

/** What is wrong with a data file that nobody writes to, and how many records it has; no problem where it could not be examined in time. */
export async function examine(file: string): Promise<Examination> {
  return (await inChild([file], EXAMINE_TIMEOUT_MS)) ?? { problems: [], records: 0, lost: {}, isGuess: false };
}

/**
 * Saves what can be read of a damaged data file in a new environment in the folder `target`, and of the rest what the environment in the
 * folder `backup` has unchanged. Undefined where that did not end well.
 */
export function saveReadable(file: string, target: string, backup: string | undefined): Promise<Examination | undefined> {
  return inChild(backup === undefined ? [file, target] : [file, target, backup], SAVE_TIMEOUT_MS);
}

/** Runs `examination-child.ts`; undefined where it did not end well. */
async function inChild(parameters: readonly string[], timeoutMs: number): Promise<Examination | undefined> {
  const child = spawn(process.execPath, [EXAMINATION, ...parameters], {
    stdio: ['ignore', 'pipe', 'pipe'],
    timeout: timeoutMs,
    killSignal: 'SIGKILL',
  });
  let output = '';
  let said = '';
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    output += text;
  });
  child.stderr.setEncoding('utf8').on('data', (text: string) => {
    said = (said + text).slice(-2_000);
  });
  const [code, signal] = await new Promise<[number | null, NodeJS.Signals | null]>((resolve) => {
    child.once('error', () => resolve([null, null]));
    child.once('close', (...end) => resolve(end));
  });
  if (code === 0) return JSON.parse(output) as Examination;
  log('warn', 'the state store could not be examined in full', { file: parameters[0], code, signal, said: said.trim() });
  return undefined;
}
