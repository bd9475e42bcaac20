import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DATABASE_SERVERS } from '../support/accounts/database-servers.js';
import { FLOWS } from '../support/accounts/faults/flows.js';
import { inWorld } from '../support/accounts/faults/in-world.js';
import { kill, walk } from '../support/accounts/faults/walk.js';

/** One of so many cuts is made here; all of them are in the nightly tests. */
const SHARE = 12;
/** Whose process is killed here, once each; the others are in the nightly tests. */
const KILLED = ['sign-up', 'track a named use', 'refresh the tokens of a device', 'the event customer.subscription.updated'];

describe('accounts that are cut off anywhere', () => {
  const { made } = inWorld(DATABASE_SERVERS[0]!);
  for (const flow of FLOWS)
    it(`${flow.name}: ends right, whatever step was cut`, async () => {
      const { world, cuts } = made();
      assert.deepEqual((await walk(world, cuts, flow, SHARE)).faults, []);
    });

  for (const flow of FLOWS.filter(({ name }) => KILLED.includes(name)))
    it(`${flow.name}: ends right after kill -9`, async () => {
      const { world, cuts, plan } = made();
      assert.deepEqual((await kill(world, cuts, plan, flow, 17)).faults, []);
    });
});
