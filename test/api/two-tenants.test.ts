import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { coreEndpoints, coreSockets } from '../../gateway/core/index.js';
import type { SocketListener } from '../../gateway/http/transport.js';
import { universalEndpoints } from '../../gateway/universal/index.js';
import type { Runtime } from '../../runtime/runtime.js';
import type { Voice } from '../../runtime/voice/voice.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { ADMIN, type FrontStage, openFrontStage, type Person, personOf } from '../support/accounts/front-stage.js';
import { Speaker, withVoice } from '../support/accounts/speaker.js';
import type { Answer } from '../support/exchange.js';
import { until } from '../support/until.js';
import { namedBody, namedForm } from '../support/worst-bodies.js';

/** Stands in everything that Ann keeps. */
const CANARY = 'marmalade7731';
const PROJECT = '/v1/projects/anns/privatebook';
const MODEL = 'quern-tiny';

/** Members of answers that say when, or how fast, and not what. */
const OF_THE_MOMENT = /"(?:request_id|created|timestamp|latency|last_check|[a-z_]*(?:seconds|_ms|remaining|accessed|_at))":[^,}]*/g;

/** Ids by the names that requests have for them. */
type Ids = Readonly<Record<string, string>>;

const LISTS = [
  ['core', coreEndpoints],
  ['universal', universalEndpoints],
] as const;

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
function json(answer: Answer): any {
  assert.ok(answer.status < 300, `${answer.status}: ${answer.text}`);
  return JSON.parse(answer.text);
}

/** An id of the same form that nothing has. */
function otherId(id: string): string {
  return id
    .replaceAll(/[0-9]/g, (digit) => String((Number(digit) + 3) % 10))
    .replaceAll(/[a-f]/g, (letter) => 'bcdefa'['abcdef'.indexOf(letter)]!)
    .replaceAll(/[g-z]/g, (letter) => 'hijklmnopqrstuvwxyzg'['ghijklmnopqrstuvwxyz'.indexOf(letter)]!);
}

/** Makes one of everything that a person can keep. */
async function furnish(ann: Person): Promise<Ids> {
  const post = async (api: 'core' | 'universal', path: string, body: unknown, headers = {}) =>
    json(await ann.ask(api, 'POST', path, body, headers));
  const form = (text: string) => namedForm('core/datasets#UploadForm', {}).text.replace('\r\n\r\ntext\r\n', `\r\n\r\n${text}\r\n`);
  const { type } = namedForm('core/datasets#UploadForm', {});
  const { config } = (await post('core', '/v1/projects/anns', { name: 'privatebook' })).project;
  const [database] = config.rag.databases;
  const [strategy] = config.rag.data_processing_strategies;
  config.prompts = [{ name: CANARY, messages: [{ role: 'system', content: `${CANARY} {{word | default}}` }] }];
  config.mcp = { servers: [{ name: 'anns-server', transport: 'stdio', command: CANARY }] };
  config.memory = { enabled: true };
  json(await ann.ask('core', 'PUT', PROJECT, { config }));
  await post('core', `${PROJECT}/datasets`, { name: 'papers', data_processing_strategy: strategy.name, database: database.name });
  const { hash, task_id: uploading } = await post('core', `${PROJECT}/datasets/papers/data`, form(`Where the ${CANARY} is.`), {
    'content-type': type,
  });
  const task = uploading ?? (await post('core', `${PROJECT}/datasets/papers/actions`, { action_type: 'process' })).task_id;
  await until(async () => /SUCCESS|FAILURE/.test((await ann.ask('core', 'GET', `${PROJECT}/tasks/${task}`)).text), 'the file is processed');
  const said = { messages: [{ role: 'user', content: `Keep ${CANARY}.` }], max_tokens: 3 };
  await post('core', `${PROJECT}/chat/completions`, said, { 'x-session-id': 'anns-session' });
  const { conversation } = await post('core', `${PROJECT}/conversations`, { title: CANARY, settings: { max_tokens: 3 } });
  const attached = { name: CANARY, media_type: 'text/plain', url: `data:text/plain,${CANARY}` };
  const turn = { message: { content: `Keep ${CANARY}.`, attachments: [attached] } };
  const { events: told } = await ann.ask('core', 'POST', `${PROJECT}/conversations/${conversation.id}/turns`, turn);
  const { user } = JSON.parse(told[0]!);
  const { question } = await post('core', `${PROJECT}/questions`, { query: CANARY, relevant: [{ file_hash: hash }] });
  const fact = await ann.ask('core', 'POST', `${PROJECT}/memory/add`, { content: `Ann hides ${CANARY}.` });
  let events: { event_id: string }[] = [];
  await until(async () => {
    events = json(await ann.ask('core', 'GET', `${PROJECT}/event_logs`)).events;
    return events.length > 0;
  }, 'there is an event');
  const rows = [[1], [2], [3], [4], [5], [6], [7], [8], [9], [50]];
  await post('universal', '/v1/polars/buffers', { buffer_id: `buffer-${CANARY}`, window_size: 50 });
  await post('universal', '/v1/polars/append', { buffer_id: `buffer-${CANARY}`, data: [{ word: CANARY }] });
  await post('universal', '/v1/anomaly/stream', { model_id: `stream-${CANARY}`, data: { value: 1 } });
  const { filename } = await post('universal', '/v1/anomaly/fit', {
    model: `anomaly-${CANARY}`,
    backend: 'ecod',
    data: rows,
    overwrite: true,
  });
  const training_data = [
    { text: `sweet ${CANARY}`, label: CANARY },
    { text: 'sour lemon', label: 'no' },
  ];
  await post('universal', '/v1/classifier/fit', { model: `labels-${CANARY}`, base_model: 'quern-tfidf', training_data, overwrite: true });
  const { id: file } = await post('universal', '/v1/files', form(CANARY), { 'content-type': type });
  const { id: response } = await post('universal', '/v1/responses', { model: MODEL, input: `Keep ${CANARY}.`, max_output_tokens: 3 });
  const { cache_key: key } = await post('universal', '/v1/cache/prepare', { model: MODEL, messages: said.messages });
  return {
    ...{ namespace: 'anns', project: 'privatebook', dataset: 'papers', dataset_id: 'papers', session_id: 'anns-session', task_id: task },
    ...{ file_hash: hash, database: database.name, database_name: database.name, event_id: events[0]!.event_id, server: 'anns-server' },
    ...{
      uuid: String(
        (fact.status < 300 && Object.values(JSON.parse(fact.text)).find((value) => /^[0-9a-f-]{36}$/.test(String(value)))) ||
          crypto.randomUUID(),
      ),
    },
    ...{
      buffer_id: `buffer-${CANARY}`,
      model_id: `stream-${CANARY}`,
      model: `labels-${CANARY}`,
      name: `labels-${CANARY}`,
      filename: filename ?? `anomaly-${CANARY}_ecod.json`,
    },
    ...{
      page: '1',
      question_id: question.id,
      conversation_id: conversation.id,
      message_id: user.id,
      attachment_id: user.attachments[0].id,
    },
    ...{ file_id: file, cache_key: key, id: 'anns-call', example_id: 'concierge', table: 'facts', generation: '1', response_id: response },
  };
}

/** What an endpoint is asked with, its places filled with ids. */
function requestOf(endpoint: Endpoint<Runtime>, ids: Ids): { path: string; body: unknown; headers: Record<string, string> } {
  const path = endpoint.path.replaceAll(/\{(\w+)\+?\}/g, (_, name: string) => ids[name] ?? 'unknown');
  const values: Ids = {
    ...ids,
    ...(endpoint.path.includes('{namespace}') || /example_/.test(endpoint.id) ? {} : { project: `${ids.namespace}/${ids.project}` }),
  };
  // Names of new things are not ids of old ones.
  const { name: _, ...inBody } = values;
  const query = endpoint.query ? Object.entries(namedBody(endpoint.query, inBody)).filter(([, value]) => typeof value !== 'object') : [];
  const asked = `${path}${query.length > 0 ? `?${new URLSearchParams(query.map(([name, value]): [string, string] => [name, String(value)]))}` : ''}`;
  const headers = { 'x-active-project': `${ids.namespace}/${ids.project}`, 'x-session-id': ids.session_id! };
  if (endpoint.body) return { path: asked, body: namedBody(endpoint.body, inBody), headers };
  if (!endpoint.multipart) return { path: asked, body: undefined, headers };
  const { type, text } = namedForm(endpoint.multipart.form, inBody);
  return { path: asked, body: text, headers: { ...headers, 'content-type': type } };
}

/** The text of an answer, without ids, times and counts of this run. */
function plain(text: string, ids: Ids): string {
  const without = text.replaceAll(/"request_id":"[^"]*"/g, '');
  return Object.values(ids)
    .sort((a, b) => b.length - a.length)
    .reduce((said, id) => said.replaceAll(id, 'ID'), without);
}

describe('of two people who share a daemon', () => {
  let stage: FrontStage;
  let ann: Person;
  let bob: Person;
  let ids: Ids;
  let nothing: Ids;
  before(async () => {
    process.env.HF_HUB_OFFLINE = '1';
    stage = await openFrontStage();
    [ann, bob] = await Promise.all([personOf(stage, 'ann@example.com'), personOf(stage, 'bob@example.com')]);
    ids = await furnish(ann);
    const same = new Set(['page', 'example_id', 'table', 'generation', 'database', 'database_name']);
    nothing = Object.fromEntries(Object.entries(ids).map(([name, id]) => [name, same.has(name) ? id : otherId(id)]));
  });
  after(async () => {
    delete process.env.HF_HUB_OFFLINE;
    await stage?.close();
  });

  /** Everything that Ann can read of hers. */
  async function annsThings(): Promise<Record<string, string>> {
    const found: Record<string, string> = {};
    for (const [api, endpoints] of LISTS)
      for (const endpoint of endpoints.filter(
        ({ method, streams, access }) => method === 'GET' && !streams && access !== 'admins' && access !== 'anyone',
      )) {
        if (/event_log|model_quantizations|disk|stats|usage/.test(endpoint.id)) continue;
        const { path, headers } = requestOf(endpoint, ids);
        const { status, text } = await ann.ask(api, 'GET', path, undefined, headers);
        found[`${api} ${path}`] = `${status} ${text.replaceAll(OF_THE_MOMENT, '')}`;
      }
    return found;
  }

  it('one finds by no endpoint and no id what the other has', async () => {
    const before = await annsThings();
    assert.ok(Object.values(before).filter((text) => text.includes(CANARY)).length > 12, 'Ann has things');
    for (const [api, endpoints] of LISTS)
      for (const endpoint of endpoints) {
        if (endpoint.id === 'mcp') continue;
        const ask = async (world: Ids): Promise<Answer> => {
          const { path, body, headers } = requestOf(endpoint, world);
          // A stream of what will happen has no end.
          if (endpoint.streams && endpoint.method === 'GET') return bob.beginning(api, path, headers);
          return bob.ask(api, endpoint.method, path, body, headers);
        };
        const what = `${api} ${endpoint.method} ${endpoint.path}`;
        const annsAnswer = await ask(ids);
        if (endpoint.access === 'admins' || endpoint.access === 'founders') {
          assert.equal(annsAnswer.status, 403, what);
          continue;
        }
        const missing = await ask(nothing);
        assert.equal(annsAnswer.status, missing.status, `${what}: ${annsAnswer.text} instead of ${missing.text}`);
        const said = `${JSON.stringify(annsAnswer.headers)} ${annsAnswer.text}`;
        if (annsAnswer.status >= 400) assert.equal(plain(annsAnswer.text, ids), plain(missing.text, nothing), what);
        const sentBack = Object.values(ids).filter((id) => id.includes(CANARY));
        const told = sentBack.reduce((text, id) => text.replaceAll(id, ''), said);
        assert.ok(!told.includes(CANARY), `${what} told: ${said}`);
      }
    const afterwards = await annsThings();
    for (const [path, text] of Object.entries(before)) assert.equal(afterwards[path], text, path);
  });

  it('have ids of every kind that a path names', () => {
    const named = LISTS.flatMap(([, endpoints]) =>
      endpoints.flatMap(({ path }) => [...path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name!)),
    );
    assert.deepEqual(
      [...new Set(named)].filter((name) => !Object.hasOwn(ids, name)),
      [],
      'let Ann make one of these, and tell its id',
    );
  });

  it('one finds by no message of MCP what the other has', async () => {
    const call = async (method: string, params: object, query = ''): Promise<Answer> =>
      bob.ask('core', 'POST', `/mcp${query}`, { jsonrpc: '2.0', id: 1, method, params }, { accept: 'application/json, text/event-stream' });
    const both = async (make: (world: Ids) => readonly [method: string, params: object, query?: string]): Promise<void> => {
      const [annsAnswer, missing] = [await call(...make(ids)), await call(...make(nothing))];
      const [method] = make(ids);
      assert.equal(plain(annsAnswer.text, ids), plain(missing.text, nothing), JSON.stringify(make(ids)));
      assert.equal(annsAnswer.status, missing.status, method);
    };
    for (const method of ['resources/list', 'prompts/list', 'tools/list']) {
      const { text } = await call(method, {});
      assert.doesNotMatch(text, /anns|marmalade/, method);
      await both((world) => [method, {}, `?project=${world.namespace}/${world.project}`]);
    }
    for (const endpoint of coreEndpoints.filter(({ tool, access }) => tool && access !== 'founders'))
      await both((world) => {
        const names = [...endpoint.path.matchAll(/\{(\w+)\+?\}/g)].map(([, name]) => name!);
        const { name: _, ...inBody } = world;
        const body = endpoint.body ? namedBody(endpoint.body, inBody) : {};
        return [
          'tools/call',
          { name: endpoint.id, arguments: { ...body, ...Object.fromEntries(names.map((name) => [name, world[name]])) } },
        ];
      });
    const place = (world: Ids): string => `${world.namespace}/${world.project}`;
    await both((world) => ['resources/read', { uri: `quern://projects/${place(world)}` }]);
    await both((world) => ['resources/read', { uri: `quern://projects/${place(world)}/${world.dataset}/${world.file_hash}` }]);
    await both((world) => ['prompts/get', { name: `${place(world)}/${CANARY}` }]);
    const ref = { type: 'ref/resource', uri: 'quern://projects/{namespace}/{project}/{dataset}/{document}' };
    for (const [name, known] of [
      ['namespace', []],
      ['project', ['namespace']],
      ['dataset', ['namespace', 'project']],
      ['document', ['namespace', 'project', 'dataset']],
    ] as const)
      await both((world) => [
        'completion/complete',
        { ref, argument: { name, value: '' }, context: { arguments: Object.fromEntries(known.map((one) => [one, world[one]!])) } },
      ]);
  });

  it('one hears by no WebSocket what the other has', async () => {
    const heard = async (world: Ids, path: string): Promise<string> => {
      const headers: Record<string, string> = { host: 'localhost', authorization: `Bearer ${bob.token}` };
      const listener = (await stage.core.upgrade({
        path: path.replaceAll(/\{(\w+)\}/g, (_, name: string) => world[name]!),
        query: `session_id=${world.session_id}`,
        remoteAddress: '127.0.0.1',
        header: (name) => headers[name] ?? '',
      })) as SocketListener;
      if (!('open' in listener)) return JSON.stringify(listener);
      let said = '';
      const closed = new Promise<void>((resolve) => {
        listener.open({
          send: (content) => {
            said += content;
            return true;
          },
          bufferedBytes: 0,
          close: (code, reason) => {
            said += ` ${code} ${reason}`;
            resolve();
          },
        });
      });
      await closed;
      listener.closed(1000);
      return plain(said, world);
    };
    for (const { path } of coreSockets) {
      const missing = await heard(nothing, path);
      assert.match(missing, /not found/);
      assert.equal(await heard(ids, path), missing, path);
    }
  });
});

describe('of two people who speak with a project that is shared with them', () => {
  let stage: FrontStage;
  let voice: Voice;
  before(async () => {
    stage = await openFrontStage({ quern: { namespaces: { library: { roles: ['user'] } } } });
    voice = withVoice(stage);
  });
  after(async () => {
    await voice?.close();
    await stage?.close();
  });

  it('one is not told what the other has said', async () => {
    const [ann, bob, root] = await Promise.all([
      personOf(stage, 'ann@example.com'),
      personOf(stage, 'bob@example.com'),
      personOf(stage, ADMIN.email, ADMIN.password),
    ]);
    const place = '/v1/projects/library/books';
    const { config } = json(await root.ask('core', 'POST', '/v1/projects/library', { name: 'books' })).project;
    config.memory = { default_store: 'main', stores: [{ name: 'main', working_memory: {} }] };
    config.voice = { llm_model: config.runtime.models[0].name };
    config.runtime.models[0].model_api_parameters = { max_tokens: 4 };
    json(await root.ask('core', 'PUT', place, { config }));
    const speaker = await Speaker.of(ann, 'library/books');
    await speaker.say('The word of Ann is marmalade.');
    speaker.close();
    const recalled = async (): Promise<string> => (await root.ask('core', 'POST', `${place}/memory/recall`, { query: 'the word' })).text;
    await until(async () => (await recalled()).includes('marmalade'), 'what was said is recalled');
    const asked = { messages: [{ role: 'user', content: 'What is the word of Ann?' }], include_sources: true, max_tokens: 4 };
    const sources = async (person: Person): Promise<string> =>
      JSON.stringify(json(await person.ask('core', 'POST', `${place}/chat/completions`, asked)).sources);
    assert.match(await sources(ann), /marmalade/);
    assert.doesNotMatch(await sources(bob), /marmalade/);
  });
});
