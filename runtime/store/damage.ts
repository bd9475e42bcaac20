import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { log } from '../base/log.js';

/** How often the log repeats what nobody has seen to yet. */
const REPEAT_MS = 10 * 60_000;
const NOTE = 'README.txt';

/** Says in `aside`, which keeps a damaged state file, what happened to it. */
export function noteDamage(aside: string, { problems, result }: { problems: readonly string[]; result: string }): void {
  const lines = [`The state file was damaged. ${result}`, '', 'What was found:', ...problems.map((problem) => `- ${problem}`), ''];
  writeFileSync(join(aside, NOTE), lines.join('\n'), { mode: 0o600 });
  log('error', `the state file was damaged; it is kept in ${aside}. ${result}`);
}

/**
 * What is still to be seen to: the state file was damaged, and the folder that keeps it is there. A person who has looked at the disk
 * removes or renames the folder. Undefined when there is none.
 */
export function openDamage(stateFolder: string): string | undefined {
  const place = dirname(stateFolder);
  const prefix = `${basename(stateFolder)}.damaged-`;
  const newest = readdirSync(place)
    .filter((name) => name.startsWith(prefix))
    .sort()
    .at(-1);
  if (newest === undefined) return undefined;
  const aside = join(place, newest);
  return `${firstLine(aside)} It is kept in ${aside}: check the disk, then remove or rename that folder to end this warning.`;
}

function firstLine(aside: string): string {
  try {
    return readFileSync(join(aside, NOTE), 'utf8').split('\n')[0] ?? '';
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
