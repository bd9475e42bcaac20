import { startDaemon } from '../gateway/daemon/daemon.js';
import { readOptions } from '../gateway/daemon/options.js';

/** Runs the universal runtime alone until a signal ends it. */
export async function runtime(args: string[]): Promise<void> {
  await startDaemon(readOptions(args, process.env), { core: false });
}
