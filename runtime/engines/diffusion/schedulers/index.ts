import type { SchedulerKind } from './contract.js';
import { ddim } from './ddim.js';
import { dpmMultistep } from './dpm-multistep.js';
import { euler } from './euler.js';
import { eulerAncestral } from './euler-ancestral.js';
import { lcm } from './lcm.js';
import { lms } from './lms.js';
import { pndm } from './pndm.js';
import { unipc } from './unipc.js';

/** Every scheduler; the conformance suite runs over this list. */
export const SCHEDULERS = [ddim, pndm, lms, euler, eulerAncestral, dpmMultistep, unipc, lcm] as const satisfies readonly SchedulerKind[];

/** The scheduler of a name, else the one that the model was published with, else `euler`. */
export function schedulerOf(name: string | undefined, className: string | undefined): SchedulerKind {
  const wanted = name?.toLowerCase();
  return SCHEDULERS.find((kind) => kind.name === wanted) ?? SCHEDULERS.find((kind) => kind.className === className) ?? euler;
}
