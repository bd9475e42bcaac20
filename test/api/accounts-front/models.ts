import assert from 'node:assert/strict';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { it } from 'node:test';
import { ADMIN, openFrontStage, type Person, personOf } from '../../support/accounts/front-stage.js';
import { ann, json, nobody, root } from '../../support/accounts/people.js';
import type { Answer } from '../../support/exchange.js';
import { HubServer } from '../../support/hub-server.js';
/** Who makes, fetches and sees models. */
export function guardsModels(): void {
  it('know made models by their names, and stop and remove them by these', async () => {
    const copy = { source: 'quern-tiny', destination: 'mine' };
    assert.equal((await root.ask('universal', 'POST', '/api/copy', copy)).status, 200);
    assert.equal((await ann.ask('universal', 'GET', '/v1/models/mine/capabilities')).status, 200);
    const messages = [{ role: 'user', content: 'x' }];
    await ann.ask('universal', 'POST', '/v1/chat/completions', { model: 'quern-tiny', messages, max_tokens: 1 });
    const stop = (model: string): Promise<Answer> => root.ask('core', 'POST', '/v1/models/unload', { model });
    assert.match((await stop('nothing')).text, /quern ps/);
    assert.equal((await stop('Quern-Tiny:latest')).status, 200);
    assert.equal((await root.ask('core', 'DELETE', '/v1/models/mine')).status, 200);
    assert.equal((await ann.ask('universal', 'GET', '/v1/models/mine/capabilities')).status, 404);
    const kept = await root.ask('core', 'DELETE', '/v1/models/quern-tiny');
    assert.deepEqual([kept.status, /comes with this program/.test(kept.text)], [409, true]);
  });

  it('fetch no model for who only has a namespace, and none with the token of who runs the machine', async () => {
    const hub = await HubServer.start();
    const cache = await mkdtemp(join(tmpdir(), 'quern-front-hub-'));
    const names = ['HF_ENDPOINT', 'HF_HUB_CACHE', 'HF_TOKEN'];
    const before = names.map((name) => process.env[name]);
    Object.assign(process.env, { HF_ENDPOINT: hub.url, HF_HUB_CACHE: cache, HF_TOKEN: 'hf_canary' });
    const shared = { library: { roles: ['user'], write: ['user'] } };
    const hosts = [new URL(hub.url).host];
    const own = await openFrontStage({ quern: { hosts, namespaces: shared, fetch_models: true } });
    try {
      hub.put('org/costly', { 'model.gguf': Buffer.alloc(800, 'x') });
      const [eve, keeper] = [await personOf(own, 'eve@example.com'), await personOf(own, ADMIN.email, ADMIN.password)];
      const config = { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'org/costly' }] } };
      const chat = async (person: Person, namespace: string): Promise<Answer> => {
        const project = `/v1/projects/${namespace}/p`;
        await person.ask('core', 'POST', `/v1/projects/${namespace}`, { name: 'p' });
        assert.equal((await person.ask('core', 'PUT', project, { config: { ...config, name: 'p', namespace } })).status, 200);
        const asked = { messages: [{ role: 'user', content: 'x' }], rag_enabled: false };
        return person.ask('core', 'POST', `${project}/chat/completions`, asked);
      };
      const refused = await chat(ann, 'others');
      assert.equal(refused.status, 404);
      assert.match(refused.text, /pull it first, or ask those who run this machine/);
      assert.equal(hub.seen.length, 0);
      for (const namespace of ['library', 'eves']) {
        await chat(eve, namespace);
        assert.ok(hub.seen.length > 0, namespace);
        assert.ok(hub.seen.every(({ authorization }) => authorization === undefined));
        await rm(join(cache, 'models--org--costly'), { recursive: true, force: true });
        hub.seen.length = 0;
      }
      hub.put('org/costly', { 'model.gguf': Buffer.alloc(800, 'y') }, { token: 'hf_canary' });
      await chat(keeper, 'keepers');
      assert.ok(hub.seen.some(({ authorization }) => authorization === 'Bearer hf_canary'));
    } finally {
      await own.close();
      await hub.close();
      for (const [at, name] of names.entries()) {
        if (before[at] === undefined) delete process.env[name];
        else process.env[name] = before[at];
      }
      await rm(cache, { recursive: true, force: true });
    }
  });

  it('have models fetched for those only whose project it is, and for a fit of who runs the machine', async () => {
    process.env.HF_HUB_OFFLINE = '1';
    const config = { version: 'v1', runtime: { models: [{ name: 'm', provider: 'universal', model: 'nobody/nothing' }] } };
    assert.equal((await root.ask('core', 'POST', '/v1/projects/library', { name: 'waiting' })).status, 200);
    const project = '/v1/projects/library/waiting';
    const { config: own } = json(await root.ask('core', 'GET', project)).project;
    assert.equal((await root.ask('core', 'PUT', project, { config: { ...own, ...config } })).status, 200);
    const chat = { messages: [{ role: 'user', content: 'x' }] };
    const fit = {
      model: 'c',
      base_model: 'nobody/nothing',
      training_data: ['a', 'b', 'c', 'd'].map((text, at) => ({ text, label: `${at % 2}` })),
    };
    const told = async (who: Person, path: string, body: object): Promise<string> => {
      const { status, text } = await who.ask('core', 'POST', path, body);
      assert.equal(status, 404, text);
      return text;
    };
    // Only who may fetch comes so far as to be told that the hub is not to be asked.
    assert.match(await told(ann, `${project}/chat/completions`, chat), /ask those who run this machine/);
    assert.match(await told(root, `${project}/chat/completions`, chat), /HF_HUB_OFFLINE/);
    assert.match(await told(ann, '/v1/ml/classifier/fit', fit), /It was not fetched for this request/);
    assert.match(await told(root, '/v1/ml/classifier/fit', fit), /HF_HUB_OFFLINE/);
    assert.equal((await ann.ask('core', 'GET', '/v1/tasks')).status, 403);
    delete process.env.HF_HUB_OFFLINE;
  });

  it('show the built-in models to who has signed in, and what is in memory to who runs the machine', async () => {
    assert.equal(json(await ann.ask('core', 'GET', '/v1/models')).built_in[0].name, 'quern-tiny');
    assert.equal(json(await ann.ask('universal', 'GET', '/health')).builtin_models[0].name, 'quern-tiny');
    assert.equal(json(await nobody.ask('universal', 'GET', '/health')).builtin_models, undefined);
    assert.equal((await ann.ask('core', 'GET', '/v1/models/loaded')).status, 403);
  });
}
