import { readyAddons } from '../../gateway/daemon/addons.js';
import type { DaemonOptions } from '../../gateway/daemon/options.js';
import { Failure } from '../../schemas/errors.js';
import type { Run } from '../verb.js';

/** Options of the core API that have one of the runtime's beside them. */
const CORE_ONLY = ['port', 'host'];

/** The daemon's code is loaded once the addons fit: what it imports may be built and fetched with them. */
async function startDaemon(options: DaemonOptions, apis: { core: boolean }): Promise<void> {
  await readyAddons();
  const daemon = await import('../../gateway/daemon/daemon.js');
  await daemon.startDaemon(options, apis);
}

/** Runs the daemon with both APIs until a signal ends it. */
export const start: Run = async ({ daemon }) => {
  await startDaemon(daemon, { core: true });
  return undefined;
};

/** Runs the universal runtime alone until a signal ends it. Throws `bad_request` for an address of the core API, which it does not open. */
export const runtime: Run = async ({ daemon, daemonArgs }) => {
  const strange = CORE_ONLY.find((flag) => daemonArgs.some((arg) => arg.startsWith(`--${flag}=`)));
  if (strange !== undefined)
    throw new Failure('bad_request', `--${strange} is for the core API, which "quern runtime" does not open; use --runtime-${strange}.`);
  await startDaemon(daemon, { core: false });
  return undefined;
};
