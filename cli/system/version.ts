import { VERSION } from '../../gateway/daemon/options.js';
import type { Run } from '../verb.js';

/** Prints the version. */
export const version: Run = async ({ out }) => ({ result: { version: VERSION }, show: () => out.line(`quern ${VERSION}`) });
