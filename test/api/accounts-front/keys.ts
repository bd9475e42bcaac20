import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Person } from '../../support/accounts/front-stage.js';
import { ann, json, root, stage } from '../../support/accounts/people.js';
import type { Answer } from '../../support/exchange.js';
/** What a key may do. */
export function holdsKeys(): void {
  it('hold a key to its scopes', async () => {
    const { key } = json(await ann.ask('core', 'POST', '/api/module/apikeys', { name: 'reader', scopes: ['read', 'rag'] }));
    const reader = new Person(stage, key);
    assert.equal((await reader.ask('core', 'GET', '/health')).status, 200);
    assert.equal((await reader.ask('core', 'GET', '/v1/projects/anns/diary')).status, 200);
    assert.equal((await reader.ask('core', 'DELETE', '/v1/projects/anns/diary')).status, 403);
    assert.equal((await reader.ask('core', 'POST', '/v1/projects/anns/diary/chat/completions', { messages: [] })).status, 403);
  });

  it('hold a key to its scopes on the account of its user too', async () => {
    const keyed = async (scopes: readonly string[]): Promise<Person> =>
      new Person(stage, json(await ann.ask('core', 'POST', '/api/module/apikeys', { name: 'narrow', scopes })).key);
    const [rag, reader, account] = [await keyed(['rag']), await keyed(['read']), await keyed(['account'])];
    const statuses = async (path: string, method = 'GET', body?: object): Promise<number[]> =>
      Promise.all([rag, reader, account].map(async (one) => (await one.ask('core', method, `/api/module/${path}`, body)).status));
    for (const path of ['me', 'billing', 'usage', 'nudges', 'subscription/status'])
      assert.deepEqual(await statuses(path), [403, 200, 200], path);
    assert.deepEqual(await statuses('usage/track', 'POST', { meterId: 'none' }), [403, 403, 400]);
    assert.deepEqual(await statuses('config'), [200, 200, 200]);
    const unknown = await ann.ask('core', 'POST', '/api/module/apikeys', { name: 'misspelt', scopes: ['chat', 'datasetz'] });
    assert.equal(unknown.status, 400);
    assert.match(json(unknown).message, /no scope "datasetz"; the scopes are .*datasets/);
  });

  it('let a key run the machine only where an admin made it for that', async () => {
    const made = (who: Person, scopes?: readonly string[]): Promise<Answer> =>
      who.ask('core', 'POST', '/api/module/apikeys', { name: 'a key', ...(scopes ? { scopes } : {}) });
    const disk = async (scopes?: readonly string[]): Promise<Answer> =>
      new Person(stage, json(await made(root, scopes)).key).ask('core', 'GET', '/v1/system/disk');
    assert.equal((await root.ask('core', 'GET', '/v1/system/disk')).status, 200);
    for (const scopes of [undefined, ['*'], ['system'], ['read']]) {
      const refused = await disk(scopes);
      assert.equal(refused.status, 403, JSON.stringify(scopes));
      assert.match(refused.text, /scope \\"admin\\"/);
    }
    for (const scopes of [['admin'], ['*', 'admin']]) assert.equal((await disk(scopes)).status, 200);
    assert.equal((await made(ann, ['admin'])).status, 403);
  });
}
