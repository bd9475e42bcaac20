import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../../accounts/accounts.js';
import { type DatabaseServer, optionsFor } from '../../support/accounts/database-servers.js';
import { member } from '../../support/accounts/visitor.js';

/** What an admin sees, as each database counts and compares it. */
export function directorySuite(server: DatabaseServer): void {
  describe(`the directory in ${server.name}`, { skip: server.missing }, () => {
    let accounts: Accounts;
    before(async () => {
      accounts = await createAccounts(
        optionsFor(await server.open(), { config: { meters: { calls: {} }, plans: [{ name: 'free' }, { name: 'pro', price: 5 }] } }),
      );
      for (const name of ['ann', 'a_b', 'axb']) await member(accounts, `${name}@example.com`);
    });
    after(() => accounts?.close());

    it('finds people by letters, and takes no letter for a sign', async () => {
      const found = async (search: string) =>
        (await accounts.directory.users({ search })).users.map(({ email }) => email.split('@')[0]).sort();
      assert.deepEqual(await found('A_B'), ['a_b']);
      assert.deepEqual(await found('%'), []);
      assert.deepEqual(await found('\\'), []);
      assert.deepEqual(await found(''), ['a_b', 'ann', 'axb']);
      const page = await accounts.directory.users({ limit: 2, offset: 2 });
      assert.deepEqual([page.users.length, page.total], [1, 3]);
    });

    it('counts sign-ups, uses and sessions, and ends them', async () => {
      const id = await accounts.directory.idOf('ANN@example.com');
      await accounts.meters.track(id, 'calls', 7);
      assert.deepEqual(
        (await accounts.directory.meters()).map((row) => ({ ...row, resetAt: '' })),
        [{ meterId: 'calls', label: 'calls', unit: null, used: 7, users: 1, resetAt: '' }],
      );
      const days = await accounts.directory.signUps();
      assert.deepEqual([days.length, days.at(-1)!.count], [30, 3]);
      await accounts.directory.setPlan(id, 'pro', 'a test');
      await accounts.directory.setBanned(id, true);
      const [user] = (await accounts.directory.users({ search: 'ann' })).users;
      assert.deepEqual([user!.plan, user!.banned, user!.sessions], ['pro', true, 0]);
      await accounts.directory.setBanned(id, false);
      assert.equal((await accounts.directory.users({ search: 'ann' })).users[0]!.banned, false);
      assert.deepEqual([await accounts.directory.subscriptions(), await accounts.directory.events()], [[], []]);
      await assert.rejects(accounts.directory.idOf('nobody@example.com'), { kind: 'not_found' });
    });
  });
}
