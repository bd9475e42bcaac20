import { VERSION } from '../gateway/daemon/version.js';

/** Prints the version. */
export function version(): void {
  process.stdout.write(`quern ${VERSION}\n`);
}
