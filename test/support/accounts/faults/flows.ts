import { identityFlows } from './identity-flows.js';
import { paidFlows } from './paid-flows.js';
import { toolFlows } from './tool-flows.js';
import type { State, World } from './world.js';

/** One thing that clients or operators do, which is cut at each of its steps and done again. */
export interface Flow {
  readonly name: string;
  /** Makes what the flow begins with, without faults; `id` is new each time. */
  prepare(world: World, id: string): Promise<State>;
  /** Does it once; resolves to the status of the answer, 500 where it failed without one. */
  act(world: World, state: State): Promise<number>;
  /** What one does who got no answer, or an error; the same again where absent. */
  again?(world: World, state: State): Promise<number>;
  /** The statuses that the flow may end in. */
  readonly ends: readonly number[];
  /** Looks at what is there once it has ended; throws where that is not what was wanted, or more. */
  check(world: World, state: State): Promise<void>;
}

/** Every flow that writes. */
export const FLOWS: readonly Flow[] = [...identityFlows, ...toolFlows, ...paidFlows];
