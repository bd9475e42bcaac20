import assert from 'node:assert/strict';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { coreEndpoints } from '../../gateway/core/index.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { recordWork as recordedWork } from '../../runtime/events/recording.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import { writeProject } from '../support/dataset-stage.js';
import { RecordedExchange } from '../support/exchange.js';
import { DOCUMENTS, DOCUMENTS_PROJECT } from '../support/retrieval-project.js';
import { openRetrievalStage, type RetrievalStage } from '../support/retrieval-stage.js';
import { ANY_EVENTS, type Scenario, scenarios } from '../support/scenario.js';
import { FINISH } from '../unit/runtime/chat/scripted-provider.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-events-'));
const P = '/v1/projects/ns/p';
const LOGS = `${P}/event_logs`;
const MODEL = '{name: m, provider: universal, model: x, api_key: canary-key-of-the-model}';
const bare = (events: string): string => `version: v1\nruntime: {models: [${MODEL}]}\nevents: ${events}\n`;
writeProject(dataDir, 'ns', 'p', `${DOCUMENTS_PROJECT}events: {max_age_days: 30}\n`);
writeProject(dataDir, 'ns', 'empty', bare('{}'));
writeProject(dataDir, 'ns', 'hashed', bare('{content: hash}'));
writeProject(dataDir, 'ns', 'silent', bare('{content: "off"}'));
writeProject(dataDir, 'ns', 'keys', bare('{}'));
writeProject(dataDir, 'ns', 'gone', bare('{}'));

let stage: RetrievalStage;
let id = '';

const chat = (name: string, body: object, more: Partial<Scenario> = {}, project = 'p'): Scenario => ({
  name,
  method: 'POST',
  path: `/v1/projects/ns/${project}/chat/completions`,
  headers: { 'X-No-Session': '1' },
  body,
  ...more,
});
const list = (name: string, query: string, json: Scenario['json'], project = 'p'): Scenario => ({
  name,
  path: `/v1/projects/ns/${project}/event_logs${query}`,
  ...(json ? { json } : {}),
});
const newest = (name: string, json: Scenario['json'], project = 'p'): Scenario[] => [
  list(`${name}: the newest in the list`, '?limit=1', (body) => (id = body.events[0].event_id), project),
  { name, path: () => `/v1/projects/ns/${project}/event_logs/${id}`, ...(json ? { json } : {}) },
];
const user = (content: string, more: object = {}): object => ({ messages: [{ role: 'user', content }], ...more });
const refused = (query: string, contains: readonly string[]): Scenario => ({
  name: `72 ${query} is refused`,
  path: `${LOGS}?${query}`,
  status: 422,
  contains,
});
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
const names = (body: any): string[] => body.sub_events.map((one: { event_name: string }) => one.event_name);

const READING: Scenario[] = [
  list('72 an empty project has none', '', (body) => assert.deepEqual(body, { total: 0, events: [], limit: 10, offset: 0 }), 'empty'),
  refused('limit=0', ['limit']),
  refused('limit=101', ['limit']),
  refused('limit=ten', ['limit']),
  refused('offset=-1', ['offset']),
  refused('start_time=yesterday', ['start_time', 'yesterday', 'ISO 8601']),
  refused('end_time=2026-02-30', ['end_time']),
  refused('status=odd', ['status']),
  { name: 'an unknown project', path: '/v1/projects/ns/nope/event_logs', status: 404, contains: ['ns/nope'] },
  {
    name: '72 an unknown event is named with its project',
    path: `${LOGS}/evt_none`,
    status: 404,
    contains: ["Event 'evt_none' not found in project 'ns/p'"],
  },
  ...['..', '%2e%2e', '..%2fproject.yaml', '%2e%2e%2f%2e%2e%2fx'].map(
    (path): Scenario => ({ name: `72 ${path} is no event`, path: `${LOGS}/${path}`, status: 404, lacks: ['version: v1'] }),
  ),
  { name: 'an id that no event can have', path: `${LOGS}/${'e'.repeat(6_000)}`, status: 404, contains: ['not found'] },
];

const CHATS: Scenario[] = [
  chat('a chat with passages', user('Where does the volcano erupt?', { temperature: 0.5 })),
  ...newest('its record has the steps in their order and the data of the spec', (body) => {
    assert.match(body.event_id, /^evt_\d{8}_\d{6}_inference_[0-9a-f]{6}$/);
    assert.match(body.request_id, /^req_[0-9a-f]{12}$/);
    assert.deepEqual([body.type, body.event_type, body.status, body.error], ['inference', 'inference', 'completed', null]);
    assert.deepEqual([body.namespace, body.project, body.session_id], ['ns', 'p', null]);
    assert.match(body.config_hash, /^[0-9a-f]{64}$/);
    assert.deepEqual(names(body), ['request_received', 'rag_query_start', 'rag_retrieval_complete', 'response_generated']);
    assert.deepEqual(body.events, body.sub_events);
    const [received, asked, found, generated] = body.sub_events;
    assert.deepEqual(received.data, { message_length: 29, model: 'plain', rag_enabled: true });
    const question = {
      database: 'first_db',
      top_k: 3,
      retrieval_strategy: 'near',
      rag_queries_count: 1,
      query: 'Where does the volcano erupt?',
    };
    assert.deepEqual(asked.data, question);
    assert.equal(found.data.chunks_retrieved, 3);
    assert.equal(found.data.top_chunks.length, 2);
    assert.deepEqual(Object.keys(found.data.top_chunks[0]), ['rank', 'content_preview', 'source', 'score']);
    assert.equal(found.data.top_chunks[0].source, 'Volcano.md');
    assert.equal(generated.data.response.choices[0].message.content, 'echo: Where does the volcano erupt?');
    for (const { timestamp, duration_ms: ms } of body.sub_events) {
      assert.ok(ms >= 0 && ms < 60_000);
      assert.equal(new Date(timestamp).toISOString(), timestamp);
    }
    const { data } = body;
    assert.equal(data.model, 'plain');
    assert.deepEqual(data.messages, [{ role: 'user', content: 'Where does the volcano erupt?' }]);
    assert.equal(data.response, 'echo: Where does the volcano erupt?');
    assert.deepEqual(data.tokens, { prompt: 7, completion: 2, total: 9 });
    assert.equal(data.request.temperature, 0.5);
    assert.equal(data.passages.length, 3);
    assert.ok(data.duration_ms > 0 && data.duration_ms === body.total_elapsed_time_ms);
    assert.equal(body.time_to_first_token_ms, null);
  }),
  list('its item in the list', '?type=inference&limit=1', ({ total, events, limit, offset }) => {
    assert.deepEqual([total, limit, offset], [1, 1, 0]);
    const [{ summary, duration_ms: ms, ...item }] = events;
    assert.deepEqual(summary, { model: 'plain', tokens: { prompt: 7, completion: 2, total: 9 }, duration_ms: ms });
    assert.deepEqual([item.type, item.event_type, item.status], ['inference', 'inference', 'completed']);
  }),
  chat('a stream', user('Hello', { stream: true, model: 'silent' }), { headers: { 'X-Session-ID': 's1' }, events: [ANY_EVENTS] }),
  ...newest('the steps of a stream', (body) => {
    assert.deepEqual(names(body), [
      'request_received',
      'llm_inference_start',
      'llm_first_token',
      'llm_inference_complete',
      'stream_complete',
    ]);
    assert.deepEqual(body.sub_events[1].data, { model: 'silent' });
    assert.deepEqual(body.sub_events[3].data, { finish_reason: 'stop' });
    assert.equal(body.session_id, 's1');
    assert.equal(body.data.response, 'echo: Hello');
    assert.ok(body.time_to_first_token_ms > 0 && body.time_to_first_token_ms <= body.total_elapsed_time_ms);
  }),
  {
    ...chat('a chat that fails', user('x', { rag_enabled: false })),
    body: () => {
      stage.provider.say([new Failure('unavailable', 'The model is away.')]);
      return user('x', { rag_enabled: false });
    },
    status: 503,
  },
  ...newest('a failure has its reason', (body) => {
    assert.deepEqual([body.status, body.error], ['failed', 'The model is away.']);
    assert.equal(body.metadata.code, 'unavailable');
    assert.deepEqual(names(body), ['request_received']);
  }),
  {
    ...chat('a stream that breaks off', {}),
    body: () => {
      stage.provider.say([{ type: 'text', text: 'half' }, new Failure('model_failed', 'The model broke.')]);
      return user('x', { rag_enabled: false, stream: true });
    },
    events: [ANY_EVENTS],
  },
  ...newest('a stream that failed says so', (body) => {
    assert.deepEqual([body.status, body.error, body.metadata.reason], ['failed', 'stream_failed', 'The model broke.']);
    assert.equal(body.data.response, 'half');
  }),
  {
    ...chat('a model that does not exist', user('x', { model: 'nobody' })),
    status: 400,
    json: () => stage.provider.say((request) => [{ type: 'text', text: `echo: ${request.messages.at(-1)?.content}` }, FINISH]),
  },
  ...newest('is a failed event', (body) => assert.deepEqual([body.status, body.data.model], ['failed', 'nobody'])),
  list('by session', '?session_id=s1', (body) => assert.equal(body.total, 1)),
  list('by status', '?status=failed&type=inference', (body) => assert.equal(body.total, 3)),
  list('by model', '?model=silent', (body) => assert.equal(body.total, 1)),
  list('the newest first, in pages', '?type=inference&limit=2&offset=1', (body) => {
    assert.deepEqual([body.total, body.limit, body.offset, body.events.length], [5, 2, 1, 2]);
    assert.ok(body.events[0].timestamp >= body.events[1].timestamp);
  }),
  list('from today on', `?start_time=${new Date().toISOString().slice(0, 10)}`, (body) => assert.ok(body.total >= 5)),
  list('up to yesterday', `?end_time=${new Date(Date.now() - 86_400_000).toISOString()}`, (body) => assert.equal(body.total, 0)),
];

const DOCUMENT_EVENTS: Scenario[] = [
  list('each file is an event', '?type=rag_processing&limit=100', (body) => {
    assert.equal(body.total, Object.keys(DOCUMENTS).length);
    id = body.events[0].event_id;
  }),
  {
    name: 'with what became of it',
    path: () => `${LOGS}/${id}`,
    json: (body) => {
      assert.deepEqual(names(body), ['file_received', 'file_parsed', 'processing_complete']);
      assert.deepEqual(
        [body.status, body.data.status, body.data.dataset, body.data.database],
        ['completed', 'success', 'docs', 'first_db'],
      );
      assert.ok(body.data.stored_count > 0 && body.data.filename in DOCUMENTS);
    },
  },
  list('and so is the task', '?type=dataset_ingestion', (body) => {
    assert.equal(body.total, 1);
    id = body.events[0].event_id;
  }),
  {
    name: 'with its counts',
    path: () => `${LOGS}/${id}`,
    json: (body) => {
      const files = Object.keys(DOCUMENTS).length;
      assert.deepEqual([body.data.processed_files, body.data.failed_files, body.data.total_files], [files, 0, files]);
      assert.equal(body.sub_events.at(-1).data.files.length, files);
    },
  },
  {
    name: 'it cannot be run again',
    method: 'POST',
    path: () => `${LOGS}/${id}/replay`,
    body: {},
    status: 400,
    contains: ['dataset_ingestion'],
  },
];

const CONTENT: Scenario[] = [
  chat('content as a hash', user('private words'), {}, 'hashed'),
  ...newest(
    'keeps no words',
    (body) => {
      assert.match(body.data.response, /^sha256:/);
      assert.match(body.data.messages, /^sha256:/);
      assert.doesNotMatch(JSON.stringify(body), /private words/);
      assert.equal(body.data.tokens.total, 9);
    },
    'hashed',
  ),
  {
    name: 'and cannot be run again',
    method: 'POST',
    path: () => `/v1/projects/ns/hashed/event_logs/${id}/replay`,
    body: {},
    status: 409,
    contains: ['hash'],
  },
  chat('no content', user('private words', { stream: true }), { events: [ANY_EVENTS] }, 'silent'),
  ...newest(
    'leaves no trace of it',
    (body) => {
      assert.equal(body.data.messages, undefined);
      assert.doesNotMatch(JSON.stringify(body), /private words/);
      assert.deepEqual([body.metadata.content, body.status], ['off', 'completed']);
    },
    'silent',
  ),
  chat(
    'secrets in what is said',
    user('My api_key=canary-said and https://u:canary-url@host', { variables: { password: 'canary-variable' } }),
    {},
    'keys',
  ),
  ...newest(
    'are masked',
    (body) => {
      assert.doesNotMatch(JSON.stringify(body), /canary/);
      assert.match(body.data.messages[0].content, /^My api_key=\*\*\*/);
    },
    'keys',
  ),
  {
    name: 'no secret reaches the disk',
    path: '/v1/projects/ns/keys/event_logs',
    json: () => assert.doesNotMatch(readFileSync(join(dataDir, 'state', 'data.mdb'), 'latin1'), /canary-(?:said|url|variable|key)/),
  },
];

let recorded = '';
const replay = (name: string, body: unknown, json: Scenario['json']): Scenario => ({
  name,
  method: 'POST',
  path: () => `${LOGS}/${recorded}/replay`,
  body,
  ...(json ? { json } : {}),
});
const REPLAYS: Scenario[] = [
  { name: 'an event that is not there', method: 'POST', path: `${LOGS}/evt_none/replay`, body: {}, status: 404, contains: ['evt_none'] },
  {
    name: 'a configuration that is neither',
    method: 'POST',
    path: `${LOGS}/evt_none/replay`,
    body: { config: 'old' },
    status: 422,
    contains: ['config'],
  },
  chat('a first turn', user('One'), { headers: { 'X-Session-ID': 'long' } }),
  chat('a turn with history', user('Where does the volcano erupt?', { rag_top_k: 2 }), { headers: { 'X-Session-ID': 'long' } }),
  list('its event', '?limit=1', (body) => (recorded = body.events[0].event_id)),
  chat('a later turn', user('Three'), { headers: { 'X-Session-ID': 'long' } }),
  replay('runs with the history of that moment, and nothing differs', {}, (body) => {
    assert.deepEqual([body.config, body.differs, body.notes], ['recorded', [], []]);
    assert.equal(body.recorded.event_id, recorded);
    assert.notEqual(body.replayed.event_id, recorded);
    assert.equal(body.replayed.config_hash, body.recorded.config_hash);
    assert.equal(body.replayed.response, 'echo: Where does the volcano erupt?');
    assert.equal(body.replayed.passages.length, 2);
    const { messages } = stage.provider.asked.at(-1)!.request;
    assert.deepEqual(
      messages.map(({ role }) => role),
      ['system', 'user', 'assistant', 'user'],
    );
    id = body.replayed.event_id;
  }),
  { name: 'and is an event itself', path: () => `${LOGS}/${id}`, json: (body) => assert.equal(body.metadata.replay_of, recorded) },
];

const LATER: Scenario[] = [
  {
    name: 'the project changes',
    method: 'PUT',
    path: P,
    body: () => {
      // biome-ignore lint/suspicious/noExplicitAny: a configuration as a client changes it
      const config = structuredClone(stage.projects.get('ns', 'p').config) as any;
      // Its model is nobody's, which a file may say and a request may not.
      config.rag.databases[0].retrieval_strategies.pop();
      config.runtime.models[0].name = 'renamed';
      config.runtime.default_model = 'renamed';
      config.prompts = [{ name: 'base', messages: [{ role: 'system', content: 'Be rude.' }] }];
      return { config };
    },
  },
  replay('on the recorded configuration the old prompt and model are back', { config: 'recorded' }, (body) => {
    assert.deepEqual(body.differs, []);
    assert.match(String(stage.provider.asked.at(-1)!.request.messages[0]!.content), /^Be kind/);
    assert.equal(body.replayed.model, 'plain');
  }),
  replay(
    "on today's the new ones run, and what differs is said",
    () => {
      stage.provider.say([{ type: 'text', text: 'Go away.' }, FINISH]);
      return { config: 'current' };
    },
    (body) => {
      assert.deepEqual(body.differs, ['model', 'text']);
      assert.match(String(stage.provider.asked.at(-1)!.request.messages[0]!.content), /^Be rude/);
      assert.deepEqual([body.recorded.model, body.replayed.model], ['plain', 'renamed']);
    },
  ),
  replay('on another model', { config: 'current', model: 'silent' }, (body) => {
    assert.deepEqual([body.replayed.model, body.replayed.passages], ['silent', []]);
    assert.ok(body.differs.includes('model') && body.differs.includes('passages'));
  }),
  replay(
    'a run that fails is an answer too',
    () => {
      stage.provider.say([new Failure('unavailable', 'The model is away.')]);
      return {};
    },
    (body) => {
      assert.deepEqual([body.replayed.status, body.replayed.error], ['failed', 'The model is away.']);
      assert.ok(body.differs.includes('status') && body.differs.includes('text'));
    },
  ),
  { name: 'its session is deleted', method: 'DELETE', path: `${P}/chat/sessions/long` },
  replay('and the answer says that the history is missing', {}, (body) =>
    assert.match(body.notes.join(), /Session long does not have its 2 earlier messages/),
  ),
];

const GOING: Scenario[] = [
  {
    name: 'a reader hears of an event when it is stored',
    path: '/v1/projects/ns/gone/event_logs',
    json: async () => {
      stage.provider.say([{ type: 'text', text: 'heard' }, FINISH]);
      const exchange = new RecordedExchange({ path: '/v1/projects/ns/gone/event_logs/stream?type=inference' });
      stage.application.request(exchange);
      await stage.call('POST', '/v1/projects/ns/gone/chat/completions', user('Listen'));
      await stage.events.flush();
      await stage.call('DELETE', '/v1/projects/ns/gone?purge=true');
      const answer = await exchange.done;
      assert.equal(answer.events.length, 1);
      const { type, event_id: heard } = JSON.parse(answer.events[0]!);
      assert.equal(type, 'inference');
      assert.ok(answer.text.includes(`id: ${heard}\n`));
    },
  },
  {
    name: 'a reader of the log of the server',
    path: '/v1/event_logs',
    json: async (body) => {
      assert.equal(body.total, 0);
      const exchange = new RecordedExchange({ path: '/v1/event_logs/stream?type=fit' });
      stage.application.request(exchange);
      await recordedWork(
        stage.events,
        { type: 'fit', model: 'm' },
        async () => undefined,
        () => ({}),
      );
      await stage.events.flush();
      stage.events.endStreams();
      const answer = await exchange.done;
      id = JSON.parse(answer.events[0]!).event_id;
    },
  },
  {
    name: 'what belongs to no project is in its list',
    path: '/v1/event_logs?model=m',
    json: ({ events, total }) => assert.deepEqual([total, events[0].event_id, events[0].namespace, events[0].project], [1, id, '', '']),
  },
  { name: 'and can be read', path: () => `/v1/event_logs/${id}`, json: (body) => assert.equal(body.data.model, 'm') },
  { name: 'an event of no log', path: '/v1/event_logs/evt_none', status: 404, contains: ["'evt_none'", 'the log of the server'] },
  { name: '.. is no event of the server', path: '/v1/event_logs/%2e%2e', status: 404 },
  { name: 'a time that is none', path: '/v1/event_logs?start_time=soon', status: 422, contains: ['soon'] },
  { name: 'a stream of an unknown project', path: '/v1/projects/ns/nope/event_logs/stream', status: 404 },
  { name: 'a stream with a wrong filter', path: `${LOGS}/stream?status=odd`, status: 422 },
  { name: 'the project is made anew', method: 'POST', path: '/v1/projects/ns', body: { name: 'gone' } },
  list('and has no events', '', (body) => assert.equal(body.total, 0), 'gone'),
];

scenarios<Runtime>(
  'event logs',
  {
    endpoints: coreEndpoints,
    context: async () => {
      stage = await openRetrievalStage(dataDir);
      await stage.take(`${P}/datasets/docs`, DOCUMENTS);
      return stage;
    },
    close: async () => {
      await stage.close();
      rmSync(dataDir, { recursive: true, force: true });
    },
  },
  [...READING, ...CHATS, ...DOCUMENT_EVENTS, ...CONTENT, ...REPLAYS, ...LATER, ...GOING],
);
