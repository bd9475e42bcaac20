import { spawn } from 'node:child_process';
import { join } from 'node:path';
import type { Cut, Cuts } from './cuts.js';
import type { Flow } from './flows.js';
import type { KilledPlan } from './killed.js';
import type { State, World, WorldPlan } from './world.js';

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

/** Steps of this process that are none of one which is to be killed: the processor stands here. */
const ELSEWHERE = /^(?:GET|POST|DELETE) \//;

/** Kills a process in the middle of a flow, at each step or one of `share`, and goes on here. */
export async function kill(world: World, cuts: Cuts, plan: WorldPlan, flow: Flow, share = 1): Promise<Walked> {
  const walked: Walked = { cuts: 0, faults: [] };
  const first = await flow.prepare(world, newId());
  const steps = (await cuts.counted(() => flow.act(world, first))).filter((name) => !ELSEWHERE.test(name));
  for (const [index, name] of steps.entries())
    for (const when of ['before', 'after'] as const) {
      if ((2 * index + Number(when === 'after') + flow.name.length) % share !== 0) continue;
      const state = await flow.prepare(world, newId());
      const cut: Cut = { step: index + 1, when, how: 'killed' };
      const told: KilledPlan = { world: { ...plan, offset: world.now() - Date.now() }, flow: flow.name, state, cut };
      const child = spawn(process.execPath, [join(import.meta.dirname, 'killed.js'), JSON.stringify(told)], { stdio: 'ignore' });
      const signal = await new Promise((resolve) => child.once('exit', (_code, by) => resolve(by)));
      const at = `killed ${when} step ${index + 1} of ${steps.length}: ${name}`;
      if (signal !== 'SIGKILL') walked.faults.push({ flow: flow.name, at, problem: 'the process was not killed' });
      await gone(world, flow, state, at, walked);
    }
  return walked;
}
