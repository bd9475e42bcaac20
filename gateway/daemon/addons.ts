import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { loadCore } from '../../native/loader.js';
import { arePrebuilt, prebuiltComplaint } from '../../native/prebuilt.js';
import { log } from '../../runtime/base/log.js';
import { Failure } from '../../schemas/errors.js';

const BUILD = join(import.meta.dirname, '../../../scripts/source-build.mjs');

/** Why the addons of an installed package cannot be used here; nothing where they can. */
function addonProblem(): string | undefined {
  const known = prebuiltComplaint();
  if (known !== undefined) return known;
  try {
    loadCore();
  } catch (error) {
    // A system library may be older than the one that they were linked with.
    return String(((error as Error).cause as Error | undefined)?.message ?? error).split('\n')[0];
  }
  return undefined;
}

/**
 * Holds the addons of an installed package against their hashes and tries whether they load, before anything else loads them. Those that do not fit are built
 * from their source, which takes minutes; what that prints goes to standard error. Throws `unavailable` where it fails. Does nothing in a clone.
 */
export async function readyAddons(): Promise<void> {
  if (!arePrebuilt()) return;
  const reason = addonProblem();
  if (reason === undefined) return;
  log('warn', `the native addons of this package do not fit, so they are built from their source: ${reason}`);
  const child = spawn(process.execPath, [BUILD], { stdio: ['ignore', 2, 2] });
  const code = await new Promise((resolve) => child.once('error', resolve).once('close', resolve));
  if (code === 0) return;
  throw new Failure(
    'unavailable',
    `the native addons of this package do not fit (${reason}), and building them here failed (see above): install g++, cmake and git and start again, or install the package anew.`,
  );
}
