import { spawn } from 'node:child_process';
import { closeSync, openSync, readFileSync, renameSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import type { DaemonOptions } from '../../gateway/daemon/options.js';
import { makePrivateFolder } from '../../runtime/base/files.js';
import { Failure } from '../../schemas/errors.js';
import type { Call } from '../verb.js';

/** A daemon that was just started answers this soon. */
const START_MS = 60_000;
const ASK_AGAIN_MS = 100;
/** A daemon that another command has just started answers this soon. */
const OTHER_MS = 15_000;
/** A log that is longer makes room when the next daemon starts. */
const LOG_BYTES = 16 * 1024 ** 2;
const LAST_LINES = 5;

/** Where a daemon that a verb started writes what it says. */
export const logFile = ({ dataDir }: Pick<DaemonOptions, 'dataDir'>): string => join(dataDir, 'logs', 'quern.log');

/** Opens the log for another daemon; a long one becomes `quern.log.1`. */
function openLog(options: DaemonOptions): number {
  const file = logFile(options);
  makePrivateFolder(join(options.dataDir, 'logs'));
  if ((statSync(file, { throwIfNoEntry: false })?.size ?? 0) > LOG_BYTES) renameSync(file, `${file}.1`);
  return openSync(file, 'a', 0o600);
}

/** Starts a daemon that outlives this process, and waits until it answers; nothing where the call cannot start one. Throws `unavailable` with what it said where it does not. */
export async function startBehind(
  call: Pick<Call, 'daemon' | 'daemonArgs' | 'out' | 'program'>,
  daemon: { isThere(): Promise<boolean>; readonly signal: AbortSignal | undefined },
): Promise<void> {
  const { out, program } = call;
  if (program === null) return;
  const [command = '', ...args] = program;
  const log = openLog(call.daemon);
  const child = spawn(command, [...args, 'start', ...call.daemonArgs], {
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  child.unref();
  let isGone = false;
  const wait = (): Promise<void> => sleep(ASK_AGAIN_MS, undefined, { signal: daemon.signal });
  child.once('error', () => (isGone = true));
  child.once('exit', () => (isGone = true));
  out.progress('starting the daemon ...');
  for (const until = Date.now() + START_MS; Date.now() < until && !isGone; await wait()) {
    if (!(await daemon.isThere())) continue;
    out.endProgress();
    out.note(`started the daemon (process ${child.pid}); "quern stop" ends it, "quern logs" shows what it says`);
    return;
  }
  // Another command may have started one at the same time, which has the data directory now.
  for (const until = Date.now() + OTHER_MS; isGone && Date.now() < until; await wait())
    if (await daemon.isThere()) {
      out.endProgress();
      return;
    }
  out.endProgress();
  const said = readFileSync(logFile(call.daemon), 'utf8').trimEnd().split('\n').slice(-LAST_LINES).join('\n');
  throw new Failure('unavailable', `the daemon did not start:\n${said}`);
}
