import { readFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { lockFile } from '../../gateway/daemon/data-directory.js';
import { type UpgradeNote, upgradeFile, writeUpgradeNote } from '../../gateway/daemon/handover.js';
import { isAlive, readOwner } from '../../runtime/hosts/processes.js';
import { Failure } from '../../schemas/errors.js';
import type { Info } from '../../schemas/generated/core/system.js';
import { withDaemon } from '../daemon/client.js';
import type { Call, Run } from '../verb.js';
import { ownerOf, signal } from './status.js';

/** The new daemon may build itself first, while the old one serves. */
const LONGEST_MS = 12 * 60_000;
const LOOK_AGAIN_MS = 20;

/** Why the daemon goes on, where it has said so. The file stays for others who wait; the next upgrade replaces it. */
function refusalIn(dataDir: string): string | undefined {
  try {
    return (JSON.parse(readFileSync(upgradeFile(dataDir), 'utf8')) as UpgradeNote).failed;
  } catch (error) {
    // The daemon may take it at any time.
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined;
    throw error;
  }
}

/** Waits until another process than `old` has the data directory; resolves to its id. */
async function successorOf(old: number, dataDir: string): Promise<number> {
  for (const until = Date.now() + LONGEST_MS; Date.now() < until; await sleep(LOOK_AGAIN_MS)) {
    const refused = refusalIn(dataDir);
    if (refused !== undefined) throw new Failure('unavailable', `the daemon (process ${old}) goes on: ${refused}.`);
    const owner = readOwner(lockFile(dataDir));
    if (owner && owner.pid !== old && isAlive(owner)) return owner.pid;
  }
  throw new Failure('timed_out', `no daemon has taken over within ${LONGEST_MS / 60_000} minutes; "quern logs" may say why.`);
}

/**
 * Has the daemon that uses the data directory hand its ports over to the program that runs this command, which is started with the same arguments and variables. Clients that
 * connect meanwhile wait. Throws `unavailable` where the new one does not come so far; the old one goes on then.
 */
export const upgrade: Run = async (call: Call) => {
  if (process.platform === 'win32')
    throw new Failure('bad_request', 'Windows cannot hand ports over: run "quern stop", then "quern start".');
  const { dataDir } = call.daemon;
  const owner = ownerOf(dataDir);
  // Who may not signal the daemon leaves nothing in its directory.
  signal(owner, 0);
  writeUpgradeNote(dataDir, call.program === null ? {} : { program: call.program });
  signal(owner, 'SIGUSR2');
  call.out.progress('the new daemon loads ...');
  const pid = await successorOf(owner.pid, dataDir).finally(() => call.out.endProgress());
  const { version } = await withDaemon(call, (daemon) => daemon.ask<Info>('/info'), { starts: false });
  return {
    result: { from: owner.pid, to: pid, version },
    show: () => call.out.line(`process ${pid} has taken over from ${owner.pid}; it is version ${version}`),
  };
};
