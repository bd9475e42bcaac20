// A process that does one flow up to the step at which it kills itself: its argument is what to do, in JSON.
import { type Cut, Cuts } from './cuts.js';
import { FLOWS } from './flows.js';
import { answeringGithub } from './identity-flows.js';
import { makeWorld, type State, type WorldPlan } from './world.js';

/** What the process is told. */
export interface KilledPlan {
  readonly world: WorldPlan;
  readonly flow: string;
  readonly state: State;
  readonly cut: Cut;
}

const [, , argument] = process.argv;
if (argument) {
  const { world: plan, flow: name, state, cut } = JSON.parse(argument) as KilledPlan;
  globalThis.fetch = answeringGithub(globalThis.fetch);
  const cuts = new Cuts();
  const world = await makeWorld(plan, undefined, cuts, { empty: () => Promise.reject(new Error('nothing is made here')) });
  const flow = FLOWS.find((each) => each.name === name)!;
  await cuts.at(cut, () => flow.act(world, state));
  await world.close();
}
