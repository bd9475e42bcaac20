import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it, mock } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { closeWhenRefused, endWhenRefused } from '../../gateway/accounts/revocation.js';
import { coreEndpoints } from '../../gateway/core/index.js';
import type { Refusal, SocketListener } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { ADMIN, type FrontStage, OPERATOR_KEY, openFrontStage, Person, personOf } from '../support/accounts/front-stage.js';
import type { Answer } from '../support/exchange.js';
import { HubServer } from '../support/hub-server.js';

const PROJECT = { name: 'diary' };

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
function json(answer: Answer): any {
  return JSON.parse(answer.text);
}

/** An answer without what is its own each time. */
function plain({ status, text }: Answer): string {
  return `${status} ${text.replace(/"request_id":"[^"]*"/, '')}`;
}

describe('accounts in front of the daemon', () => {
  let stage: FrontStage;
  let ann: Person;
  let bob: Person;
  let root: Person;
  let nobody: Person;
  before(async () => {
    stage = await openFrontStage({ quern: { hosts: ['127.0.0.1:19'], namespaces: { library: { roles: ['user'], write: ['editor'] } } } });
    nobody = new Person(stage);
    [ann, bob, root] = await Promise.all([
      personOf(stage, 'ann@example.com'),
      personOf(stage, 'bob@example.com'),
      personOf(stage, ADMIN.email, ADMIN.password),
    ]);
    assert.equal((await ann.ask('core', 'POST', '/v1/projects/anns', PROJECT)).status, 200);
  });
  after(() => stage?.close());

  it('give and take the roles that the module file names', async () => {
    const { directory } = stage.front.accounts;
    const id = await directory.idOf('bob@example.com');
    assert.equal((await root.ask('core', 'POST', '/v1/projects/library', { name: 'shelf' })).status, 200);
    const set = async (role: string): Promise<number> => (await root.ask('core', 'POST', `/admin/data/users/${id}/role`, { role })).status;
    const makes = async (name: string): Promise<number> => (await bob.ask('core', 'POST', '/v1/projects/library', { name })).status;
    assert.equal(await makes('one'), 403);
    assert.equal(await set('editor'), 200);
    assert.equal(await makes('one'), 200);
    assert.equal(await set('editor,admin'), 200);
    assert.equal((await bob.ask('core', 'GET', '/v1/system/disk')).status, 200);
    assert.equal(await set('user'), 200);
    assert.deepEqual([await makes('two'), (await bob.ask('core', 'GET', '/v1/system/disk')).status], [403, 403]);
    for (const role of ['edditor', '', ',', 'editor,boss']) assert.equal(await set(role), 400, role);
    const rootId = await directory.idOf(ADMIN.email);
    await assert.rejects(directory.setRole(rootId, 'editor'), { kind: 'conflict' });
    for (const name of ['shelf', 'one']) await root.ask('core', 'DELETE', `/v1/projects/library/${name}`);
  });

  it('name no file of the machine to others than those who run it', async () => {
    const own = join(stage.runtime.dataDir, 'models', 'own.gguf');
    await mkdir(join(stage.runtime.dataDir, 'models'), { recursive: true });
    await writeFile(own, 'no model');
    const outside = join(stage.runtime.dataDir, 'outside.gguf');
    await writeFile(outside, 'no model');
    const messages = [{ role: 'user', content: 'x' }];
    const asked = (person: Person, body: object): Promise<Answer> =>
      person.ask('universal', 'POST', '/v1/chat/completions', { model: 'quern-tiny', messages, max_tokens: 1, ...body });
    const refused = /outside the models folder and the model cache/;
    for (const path of [outside, join(stage.runtime.dataDir, 'models', '..', 'outside.gguf'), '/nowhere/at/all.gguf', '~/nowhere.gguf'])
      for (const body of [{ model: path }, { lora: [{ path }] }]) {
        const { status, text } = await asked(ann, body);
        assert.deepEqual([status, refused.test(text)], [403, true], `${JSON.stringify(body)} ${text}`);
      }
    assert.match((await asked(ann, { chat_template: '/etc/nowhere.jinja' })).text, refused);
    assert.match((await ann.ask('universal', 'POST', '/v1/embeddings', { model: '/nowhere/at', input: 'x' })).text, refused);
    assert.doesNotMatch((await asked(ann, { model: own })).text, refused);
    assert.doesNotMatch((await asked(root, { model: outside })).text, refused);
  });

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

  it('want a sign-in of every endpoint but those that say so', async () => {
    for (const [api, endpoints] of [
      ['core', coreEndpoints],
      ['universal', universalEndpoints],
    ] as const)
      for (const { method, path, access } of endpoints) {
        const { status, text } = await nobody.ask(api, method, path.replaceAll(/\{\w+\+?\}/g, 'x'), method === 'POST' ? {} : undefined);
        if (access === 'anyone') assert.equal(status, 200, `${method} ${path}`);
        else {
          assert.equal(status, 401, `${method} ${path}`);
          assert.match(text, /sign-in\/email/);
        }
      }
    assert.equal((await nobody.ask('core', 'GET', '/v1/not/there')).status, 401);
    assert.equal((await nobody.ask('core', 'DELETE', '/v1/models')).status, 401);
  });

  it('refuse what is no key and no token, and take the key of the machine', async () => {
    for (const token of ['wrong', 'sk_wrong', `${ann.token}x`, 'a.b'])
      assert.equal((await new Person(stage, token).ask('core', 'GET', '/v1/models')).status, 401, token);
    assert.equal((await new Person(stage, OPERATOR_KEY).ask('core', 'GET', '/v1/projects/anns/diary')).status, 200);
  });

  it('tell clients of OpenAI in their own form', async () => {
    const answer = await nobody.ask('core', 'POST', '/v1/projects/anns/diary/chat/completions', {}, { 'user-agent': 'OpenAI/JS 5' });
    assert.equal(answer.status, 401);
    assert.equal(json(answer).error.type, 'authentication_error');
  });

  it('show no details of the machine to others than those who run it', async () => {
    for (const api of ['core', 'universal'] as const) {
      for (const person of [nobody, ann]) {
        const { status, text } = await person.ask(api, 'GET', '/health');
        assert.equal(status, 200);
        assert.match(text, /"accounts":true/);
        assert.doesNotMatch(text, /quern-front-|node_version/);
      }
      assert.match((await root.ask(api, 'GET', '/health')).text, /quern-front-|node_version/);
    }
    assert.equal((await ann.ask('core', 'GET', '/v1/system/disk')).status, 403);
    assert.equal(json(await ann.ask('core', 'GET', '/info')).data_directory, '');
    assert.equal(json(await root.ask('core', 'GET', '/info')).data_directory, stage.runtime.dataDir);
  });

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

  it('keep what is in no namespace for each person, under any name', async () => {
    const buffer = { buffer_id: 'readings', window_size: 10 };
    for (const person of [ann, bob]) assert.equal((await person.ask('universal', 'POST', '/v1/polars/buffers', buffer)).status, 200);
    const rows = { buffer_id: 'readings', data: [{ word: 'marmalade' }] };
    assert.equal((await ann.ask('core', 'POST', '/v1/ml/polars/append', rows)).status, 200);
    assert.match((await ann.ask('universal', 'GET', '/v1/polars/buffers/readings/data')).text, /marmalade/);
    assert.doesNotMatch((await bob.ask('universal', 'GET', '/v1/polars/buffers/readings/data')).text, /marmalade/);
    assert.equal(json(await root.ask('universal', 'GET', '/v1/polars/buffers')).total, 0);
  });

  it('know at once that somebody has signed out, was banned, or that a key was revoked', async () => {
    const { key, id } = json(await ann.ask('core', 'POST', '/api/module/apikeys', { name: 'a key' }));
    const byKey = new Person(stage, key);
    assert.equal((await byKey.ask('core', 'GET', '/v1/models')).status, 200);
    await ann.ask('core', 'DELETE', `/api/module/apikeys/${id}`);
    assert.equal((await byKey.ask('core', 'GET', '/v1/models')).status, 401);
    const guest = await personOf(stage, 'guest@example.com');
    assert.equal((await guest.ask('core', 'GET', '/v1/models')).status, 200);
    await guest.ask('core', 'POST', '/api/auth/sign-out', {});
    assert.equal((await guest.ask('core', 'GET', '/v1/models')).status, 401);
  });

  it('keep the projects of users away from this machine and its private networks', async () => {
    const { config } = json(await ann.ask('core', 'GET', '/v1/projects/anns/diary')).project;
    const asked = async (base_url: string): Promise<string> => {
      config.runtime.models = [{ name: 'away', provider: 'openai', model: 'x', base_url }];
      config.runtime.default_model = 'away';
      assert.equal((await ann.ask('core', 'PUT', '/v1/projects/anns/diary', { config })).status, 200);
      return (await ann.ask('core', 'POST', '/v1/projects/anns/diary/chat/completions', { messages: [{ role: 'user', content: 'x' }] }))
        .text;
    };
    assert.match(await asked('http://127.0.0.1:9/v1'), /quern\.hosts.*AddressRefused|AddressRefused.*quern\.hosts/);
    assert.match(await asked('http://10.1.2.3/v1'), /AddressRefused/);
    for (const host of ['127.0.0.1', 'localhost', '[::1]']) assert.doesNotMatch(await asked(`http://${host}:19/v1`), /AddressRefused/);
    assert.match(await asked('http://localhost:20/v1'), /AddressRefused/);
  });

  it('end the WebSockets and the streams of who has signed out', async () => {
    let isStill = true;
    const told: string[] = [];
    const peer = { send: () => true, bufferedBytes: 0, close: (code: number, reason: string) => told.push(`${code} ${reason}`) };
    const listener = closeWhenRefused({ open: () => undefined, message: () => undefined, closed: () => undefined }, async () => isStill, 5);
    listener.open(peer);
    await sleep(30);
    assert.deepEqual(told, []);
    isStill = false;
    for (let tries = 0; tries < 100 && told.length === 0; tries++) await sleep(5);
    listener.closed(1008);
    assert.equal(told[0], '1008 signed out');
    let sent = 0;
    async function* endless(): AsyncGenerator<string, void, undefined> {
      for (;;) {
        await sleep(1);
        yield 'data: x\n\n';
      }
    }
    isStill = true;
    for await (const _item of endWhenRefused(endless(), async () => isStill, 5)) {
      sent += 1;
      if (sent === 20) isStill = false;
    }
    assert.ok(sent >= 20);
    const asking = (token: string) =>
      stage.core.upgrade({
        path: '/v1/anns/diary/voice/chat',
        query: '',
        remoteAddress: '',
        header: (name) => ({ host: 'localhost', authorization: `Bearer ${token}` })[name] ?? '',
      });
    assert.equal(((await asking('wrong')) as Refusal).status, 401);
  });

  it('end the WebSockets of who has lost a role', async () => {
    const guest = await personOf(stage, 'former@example.com');
    const { id } = json(await guest.ask('core', 'GET', '/api/module/me'));
    const become = async (role: string): Promise<void> =>
      assert.equal((await root.ask('core', 'POST', `/admin/data/users/${id}/role`, { role })).status, 200);
    await become('admin');
    mock.timers.enable({ apis: ['setInterval'] });
    try {
      const headers: Record<string, string> = { host: 'localhost', authorization: `Bearer ${guest.token}` };
      const header = (name: string): string => headers[name] ?? '';
      const listener = (await stage.universal.upgrade({ path: '/v1/audio/chat', query: '', remoteAddress: '', header })) as SocketListener;
      const told: string[] = [];
      const tick = async (): Promise<void> => {
        mock.timers.tick(5_000);
        await sleep(50);
      };
      listener.open({ send: () => true, bufferedBytes: 0, close: (code, reason) => told.push(`${code} ${reason}`) });
      await tick();
      assert.deepEqual(told, []);
      await become('user');
      await tick();
      assert.deepEqual(told, ['1008 signed out']);
      listener.closed(1008);
    } finally {
      mock.timers.reset();
    }
  });

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

  it('take a cookie from pages of the own origin alone', async () => {
    const { headers } = await nobody.ask('core', 'POST', '/api/auth/sign-in/email', {
      email: 'ann@example.com',
      password: 'correct horse 7 battery',
    });
    const cookie = headers['set-cookie']!.split(';')[0]!;
    assert.match(cookie, /demo/);
    const make = (more: Record<string, string>): Promise<Answer> =>
      nobody.ask('core', 'POST', '/v1/projects/anns', { name: 'by-cookie' }, { cookie, ...more });
    assert.equal((await make({})).status, 403);
    assert.equal((await make({ origin: 'http://localhost:9999' })).status, 403);
    assert.equal((await make({ origin: 'null' })).status, 403);
  });
});

describe('a module file of accounts in front of the daemon', () => {
  const opening = async (config: object, environment: object = {}): Promise<void> =>
    (await openFrontStage(config, { environment })).close();

  it('may not take a path of the daemon for its page', async () => {
    await assert.rejects(opening({ admin: { path: '/v1' } }), /admin\.path: \/v1 is a path of the daemon/);
  });

  it('wants a strong secret and an address, as a daemon is no development server', async () => {
    const strict = { NODE_ENV: undefined };
    await assert.rejects(opening({}, { ...strict, AUTH_SECRET: undefined }), /AUTH_SECRET/);
    await assert.rejects(opening({}, { ...strict, AUTH_SECRET: 'short' }), /AUTH_SECRET/);
    await assert.rejects(opening({}, { ...strict, AUTH_URL: undefined }), /AUTH_URL/);
  });
});
