import { startDaemon } from '../gateway/daemon/daemon.js';
import { readOptions } from '../gateway/daemon/options.js';

/** Runs the daemon with both APIs until a signal ends it. */
export async function start(args: string[]): Promise<void> {
  await startDaemon(readOptions(args, process.env), { core: true });
}
