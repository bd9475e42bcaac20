import { after, before } from 'node:test';
import type { DatabaseServer } from '../database-servers.js';
import { StripeStandIn } from '../stripe-stand-in.js';
import { Cuts } from './cuts.js';
import { answeringGithub } from './identity-flows.js';
import { makeWorld, stock, type World, type WorldPlan } from './world.js';

/** A world on a database, its cuts, and what another process needs for the same. */
export interface Made {
  readonly world: World;
  readonly cuts: Cuts;
  readonly plan: WorldPlan;
}

/** Makes a world before the tests of a suite and ends it after them. */
export function inWorld(server: DatabaseServer): { made: () => Made } {
  const cuts = new Cuts();
  const realFetch = globalThis.fetch;
  let standIn: StripeStandIn | undefined;
  let made: Made | undefined;
  before(async () => {
    globalThis.fetch = answeringGithub(realFetch);
    standIn = await StripeStandIn.start();
    stock(standIn);
    const { d1, ...ready } = await server.open();
    const plan = { ready, paymentApi: standIn.url.href, webhookSecret: standIn.secret, offset: 0 };
    made = { cuts, plan, world: await makeWorld(plan, standIn, cuts, { ...(d1 ? { d1 } : {}), empty: () => server.open() }) };
  });
  after(async () => {
    await made?.world.close();
    standIn?.close();
    globalThis.fetch = realFetch;
  });
  return { made: () => made! };
}
