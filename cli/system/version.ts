import { VERSION } from '../../gateway/daemon/version.js';
import type { Run } from '../verb.js';

/** Prints the version. */
export const version: Run = async ({ out }) => ({ result: { version: VERSION }, show: () => out.line(`quern ${VERSION}`) });
