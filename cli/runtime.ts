import { startDaemon } from '../gateway/daemon/daemon.js';
import { readOptions } from '../gateway/daemon/options.js';
import { Failure } from '../schemas/errors.js';

/** Options of the core API that have one of the runtime's beside them. */
const CORE_ONLY = ['port', 'host'];

/** Runs the universal runtime alone until a signal ends it. Throws `bad_request` for an address of the core API, which it does not open. */
export async function runtime(args: string[]): Promise<void> {
  const strange = CORE_ONLY.find((flag) => args.some((arg) => arg === `--${flag}` || arg.startsWith(`--${flag}=`)));
  if (strange !== undefined)
    throw new Failure('bad_request', `--${strange} is for the core API, which "quern runtime" does not open; use --runtime-${strange}.`);
  await startDaemon(readOptions(args, process.env), { core: false });
}
