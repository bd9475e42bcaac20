import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import { describe, it } from 'node:test';
import { createAccounts } from '../../accounts/accounts.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { member, Visitor } from '../support/accounts/visitor.js';

const load = createRequire(import.meta.url);

function pathOf(name: string): string | undefined {
  try {
    return load.resolve(name);
  } catch {
    return undefined;
  }
}
const path = pathOf('better-sqlite3');

describe('accounts with better-sqlite3', { skip: path ? false : 'better-sqlite3 is not installed; the other tests run on libSQL' }, () => {
  it('take it without being told, and count right with it', async () => {
    const config = {
      plans: [{ name: 'free' }, { name: 'pro', price: 9 }],
      meters: { calls: { limits: { free: 25 } } },
      billing: { provider: 'stripe' },
    };
    const options = optionsFor(await DATABASE_SERVERS[0]!.open(), { config, environment: { PAYMENT_SECRET_KEY: 'sk_test' } });
    const [first, second] = await Promise.all([createAccounts(options), createAccounts(options)]);
    assert.ok(load.cache[path!], 'it was loaded');
    const both = [first, second];
    const signUps = Array.from({ length: 12 }, (_, index) =>
      new Visitor(both[index % 2]!, `198.51.100.${index}`).signUp('ann@example.com'),
    );
    assert.deepEqual([...new Set((await Promise.all(signUps)).map(({ status }) => status))], [200]);
    assert.equal((await first.directory.users({})).total, 1);
    const ann = await member(first, 'ann@example.com');
    const { userId } = (await second.callerOf(new Headers({ cookie: ann.cookie })))!;
    const uses = Array.from({ length: 60 }, (_, index) => both[index % 2]!.meters.track(userId, 'calls').catch(({ code }) => code));
    assert.equal((await Promise.all(uses)).filter((use) => use === 'meter_exceeded').length, 35);
    await ann.post('/api/auth/sign-out');
    assert.equal((await ann.get('/api/auth/get-session')).body, null);
    await Promise.all(both.map((each) => each.close()));
  });
});
