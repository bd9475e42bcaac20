import type { Cut, Cuts } from './cuts.js';
import type { Flow } from './flows.js';
import type { State, World } from './world.js';

let users = 0;
const newId = (): string => `user${++users}`;

/** A cut after which something was not as it should be. */
export interface Fault {
  readonly flow: string;
  readonly at: string;
  readonly problem: string;
}

/** What a walk has cut, and what was wrong after it. */
export interface Walked {
  cuts: number;
  readonly faults: Fault[];
}

/** Does the flow once more after a cut, as its client would, and looks at the end; adds what is wrong. */
async function gone(world: World, flow: Flow, state: State, at: string, walked: Walked): Promise<void> {
  walked.cuts += 1;
  try {
    const status = await (flow.again ?? flow.act).call(flow, world, state);
    if (!flow.ends.includes(status)) throw new Error(`the second try ended with ${status}`);
    await flow.check(world, state);
  } catch (error) {
    walked.faults.push({ flow: flow.name, at, problem: (error as Error).message });
  }
}

/** All cuts of a step. */
const CUTS: readonly Omit<Cut, 'step'>[] = [
  { when: 'before', how: 'once' },
  { when: 'after', how: 'once' },
  { when: 'before', how: 'from there on' },
  { when: 'after', how: 'from there on' },
];

/**
 * Cuts a flow before and after each of its steps, and goes on: each time the end must be the one that the flow wants. `share` takes one of
 * so many cuts, another one at each step.
 */
export async function walk(world: World, cuts: Cuts, flow: Flow, share = 1): Promise<Walked> {
  const walked: Walked = { cuts: 0, faults: [] };
  const first = await flow.prepare(world, newId());
  let status = 0;
  const steps = await cuts.counted(async () => {
    status = await flow.act(world, first);
  });
  if (!flow.ends.includes(status)) walked.faults.push({ flow: flow.name, at: 'uncut', problem: `it ended with ${status}` });
  await flow.check(world, first).catch((error: Error) => walked.faults.push({ flow: flow.name, at: 'uncut', problem: error.message }));
  for (const [index, name] of steps.entries())
    for (const [number, kind] of CUTS.entries()) {
      if ((index + number + flow.name.length) % share !== 0) continue;
      const state = await flow.prepare(world, newId());
      await cuts.at({ step: index + 1, ...kind }, () => flow.act(world, state));
      await gone(world, flow, state, `${kind.how}, ${kind.when} step ${index + 1} of ${steps.length}: ${name}`, walked);
    }
  return walked;
}
