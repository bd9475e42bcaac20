import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { DATABASE_SERVERS } from '../support/accounts/database-servers.js';
import { Cuts } from '../support/accounts/faults/cuts.js';
import { FLOWS } from '../support/accounts/faults/flows.js';
import { answeringGithub } from '../support/accounts/faults/identity-flows.js';
import { walk } from '../support/accounts/faults/walk.js';
import { makeWorld, stock, type World } from '../support/accounts/faults/world.js';
import { StripeStandIn } from '../support/accounts/stripe-stand-in.js';

/** One of so many cuts is made here; all of them are in the nightly tests. */
const SHARE = 8;

describe('accounts that are cut off anywhere', () => {
  const cuts = new Cuts();
  const realFetch = globalThis.fetch;
  let standIn: StripeStandIn;
  let world: World;
  before(async () => {
    globalThis.fetch = answeringGithub(realFetch);
    standIn = await StripeStandIn.start();
    stock(standIn);
    const ready = await DATABASE_SERVERS[0]!.open();
    world = await makeWorld({ ready, paymentApi: standIn.url.href, webhookSecret: standIn.secret, offset: 0 }, standIn, cuts);
  });
  after(async () => {
    await world?.close();
    standIn?.close();
    globalThis.fetch = realFetch;
  });

  for (const flow of FLOWS)
    it(`${flow.name}: ends right, whatever step was cut`, async () => {
      const { faults } = await walk(world, cuts, flow, SHARE);
      assert.deepEqual(faults, []);
    });
});
