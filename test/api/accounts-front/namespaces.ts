import assert from 'node:assert/strict';
import { it } from 'node:test';
import { ann, bob, json, PROJECT, plain, root } from '../../support/accounts/people.js';
/** Whose a namespace is, and what its members may do. */
export function guardsNamespaces(): void {
  it('give a namespace to who first makes a project in it, and show it to nobody else', async () => {
    const missing = await bob.ask('core', 'GET', '/v1/projects/nowhere/diary');
    const others = await bob.ask('core', 'GET', '/v1/projects/anns/diary');
    assert.equal(plain(others), plain(missing).replaceAll('nowhere', 'anns'));
    assert.equal(plain(await bob.ask('core', 'GET', '/v1/projects/anns')), plain(await bob.ask('core', 'GET', '/v1/projects/nowhere')));
    assert.equal((await bob.ask('core', 'POST', '/v1/projects/anns', { name: 'mine' })).status, 403);
    assert.equal((await bob.ask('core', 'POST', '/v1/projects/ANNS', { name: 'mine' })).status, 403);
    assert.equal((await bob.ask('core', 'POST', '/v1/projects/default', { name: 'mine' })).status, 403);
    assert.equal(json(await ann.ask('core', 'GET', '/v1/projects/anns')).total, 1);
    assert.equal((await root.ask('core', 'GET', '/v1/projects/anns/diary')).status, 200);
  });

  it('say of what is no name of a namespace what is wrong with it', async () => {
    for (const name of ['a%22b', '..%2Fx', 'a%5Cb', '%F0%9F%8D%8B', 'x'.repeat(200), 'nowhere'])
      for (const [method, path, body] of [
        ['GET', `/v1/projects/${name}`, undefined],
        ['GET', `/v1/projects/${name}/diary`, undefined],
        ['POST', `/v1/projects/${name}/diary/datasets`, { name: 'a', data_processing_strategy: 'b', database: 'c' }],
        ['GET', `/v1/projects/${name}/diary/event_logs`, undefined],
      ] as const)
        assert.equal(plain(await bob.ask('core', method, path, body)), plain(await root.ask('core', method, path, body)), path);
    assert.notEqual((await bob.ask('core', 'POST', '/v1/projects/a%22b', PROJECT)).status, 200);
  });

  it('give one of two who begin a namespace at the same time to the first', async () => {
    const made = await Promise.all([ann, bob].map((one) => one.ask('core', 'POST', '/v1/projects/raced', PROJECT)));
    assert.deepEqual(made.map(({ status }) => status).sort(), [200, 403]);
  });

  it('give a namespace back where nothing was made in it, and when its last project is purged', async () => {
    const failed = await ann.ask('core', 'POST', '/v1/projects/wanted', { name: 'x', config_template: 'not-there' });
    assert.ok(failed.status >= 400, failed.text);
    assert.equal((await bob.ask('core', 'POST', '/v1/projects/wanted', PROJECT)).status, 200);
    assert.equal((await bob.ask('core', 'POST', '/v1/projects/wanted', { name: 'second' })).status, 200);
    assert.equal((await bob.ask('core', 'POST', '/v1/projects/wanted', PROJECT)).status, 409);
    assert.equal((await bob.ask('core', 'DELETE', '/v1/projects/wanted/second?purge=true')).status, 200);
    assert.equal((await ann.ask('core', 'POST', '/v1/projects/wanted', PROJECT)).status, 403);
    assert.equal((await bob.ask('core', 'DELETE', '/v1/projects/wanted/diary?purge=true')).status, 200);
    assert.equal((await ann.ask('core', 'POST', '/v1/projects/wanted', PROJECT)).status, 200);
    assert.equal((await bob.ask('core', 'GET', '/v1/projects/wanted/diary')).status, 404);
  });

  it('let members of a shared namespace ask, its writers change, and keep the sessions of members apart', async () => {
    assert.equal((await root.ask('core', 'POST', '/v1/projects/library', { name: 'books' })).status, 200);
    const project = '/v1/projects/library/books';
    assert.equal((await ann.ask('core', 'GET', project)).status, 200);
    assert.equal((await ann.ask('core', 'DELETE', project)).status, 403);
    assert.equal((await ann.ask('core', 'GET', `${project}/event_logs`)).status, 403);
    const said = { messages: [{ role: 'user', content: 'Remember the word marmalade.' }], max_tokens: 4 };
    const turn = await ann.ask('core', 'POST', `${project}/chat/completions`, said, { 'x-session-id': 'one' });
    assert.equal(turn.status, 200, turn.text);
    assert.equal(turn.headers['x-session-id'], 'one');
    const own = await ann.ask('core', 'GET', `${project}/chat/sessions/one/history`);
    assert.match(own.text, /marmalade/);
    const others = await bob.ask('core', 'GET', `${project}/chat/sessions/one/history`);
    assert.doesNotMatch(others.text, /marmalade/);
    assert.equal(plain(others).replaceAll('one', 'two'), plain(await bob.ask('core', 'GET', `${project}/chat/sessions/two/history`)));
    const begun = await ann.ask('core', 'POST', `${project}/chat/completions`, said);
    const id = begun.headers['x-session-id']!;
    assert.match((await ann.ask('core', 'GET', `${project}/chat/sessions/${id}/history`)).text, /marmalade/);
  });

  it('keep what is in no namespace for each person, under any name', async () => {
    const buffer = { buffer_id: 'readings', window_size: 10 };
    for (const person of [ann, bob]) assert.equal((await person.ask('universal', 'POST', '/v1/polars/buffers', buffer)).status, 200);
    const rows = { buffer_id: 'readings', data: [{ word: 'marmalade' }] };
    assert.equal((await ann.ask('core', 'POST', '/v1/ml/polars/append', rows)).status, 200);
    assert.match((await ann.ask('universal', 'GET', '/v1/polars/buffers/readings/data')).text, /marmalade/);
    assert.doesNotMatch((await bob.ask('universal', 'GET', '/v1/polars/buffers/readings/data')).text, /marmalade/);
    assert.equal(json(await root.ask('universal', 'GET', '/v1/polars/buffers')).total, 0);
  });
}
