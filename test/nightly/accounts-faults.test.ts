import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { DATABASE_SERVERS } from '../support/accounts/database-servers.js';
import { FLOWS } from '../support/accounts/faults/flows.js';
import { inWorld } from '../support/accounts/faults/in-world.js';
import { kill, walk } from '../support/accounts/faults/walk.js';

/** Databases that another process can have open too, and whose users are killed in each flow at one of so many steps. */
const KILLS: Readonly<Record<string, number>> = { sqlite: 4, pg: 8 };

for (const server of DATABASE_SERVERS)
  describe(`accounts in ${server.name} that are cut off anywhere`, { skip: server.missing }, () => {
    const { made } = inWorld(server);
    for (const flow of FLOWS)
      it(`${flow.name}: ends right, whatever step was cut`, async () => {
        const { world, cuts, plan } = made();
        assert.deepEqual((await walk(world, cuts, flow)).faults, []);
        const share = KILLS[server.name];
        if (share && flow.name !== 'make the tables at the start')
          assert.deepEqual((await kill(world, cuts, plan, flow, share)).faults, []);
      });
  });
