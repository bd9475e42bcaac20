import assert from 'node:assert/strict';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Completions } from '../../runtime/completions/completions.js';
import { KvCache } from '../../runtime/kv-cache/kv-cache.js';
import { Models } from '../../runtime/models/residency/models.js';
import type { Runtime } from '../../runtime/runtime.js';
import { emptyDataDir } from '../support/daemon.js';
import { puppetPath } from '../support/models/cache.js';
import { PUPPET_SCRIPTS } from '../support/models/puppet-scripts.js';
import { ANY_EVENTS, type Expected, expectations, type Scenario, scenarios } from '../support/scenario.js';

const dataDir = emptyDataDir();
const folder = join(dataDir, 'cache', 'kv');
const model = puppetPath();
const SYSTEM = { role: 'system', content: 'You are a careful assistant that answers in few words and never guesses. '.repeat(4) };
const QUESTION = { role: 'user', content: 'hello' };
const KEY = /^[0-9a-f]{24}$/;

/** A daemon as far as these endpoints see one; `restart` ends its models and opens everything anew. */
class Stage {
  models = new Models({ dataDir });
  completions = new Completions({ models: this.models });
  #cache = new KvCache({ folder });
  readonly kvCache = async () => this.#cache;

  async restart(): Promise<void> {
    await this.close();
    this.models = new Models({ dataDir });
    this.completions = new Completions({ models: this.models });
    this.#cache = new KvCache({ folder });
  }

  async close(): Promise<void> {
    await this.#cache.close();
    await this.models.close();
  }
}

const stage = new Stage();
let prepared = '';
let answered = '';
let bare = '';

const post = (name: string, path: string, body: () => unknown, expected: Expected = {}): Scenario => ({
  name,
  method: 'POST',
  path,
  body,
  ...expectations(expected),
});
const chat = (name: string, more: () => object, expected: Expected): Scenario =>
  post(name, '/v1/chat/completions', () => ({ model, temperature: 0, messages: [SYSTEM, QUESTION], ...more() }), expected);

const table: Scenario[] = [
  { name: 'an empty cache', path: '/v1/cache', json: (body) => assert.deepEqual(body, { entries: [], count: 0 }) },
  post(
    'preparing decodes and saves',
    '/v1/cache/prepare',
    () => ({ model, messages: [SYSTEM], pinned: true }),
    (body) => {
      assert.match(body.cache_key, KEY);
      assert.deepEqual([body.model, body.segments.map((one: { type: string }) => one.type)], [model, ['system']]);
      assert.ok(body.token_count > 50 && body.size_bytes > 1000, JSON.stringify(body));
      prepared = body.cache_key;
      assert.deepEqual(
        readdirSync(folder).filter((name) => name.endsWith('.kvstate')),
        [`${prepared}.kvstate`],
      );
    },
  ),
  post(
    'preparing the same again gives the same key',
    '/v1/cache/prepare',
    () => ({ model, messages: [SYSTEM], tools: null, pinned: null, ttl: null, warm: null }),
    (body) => assert.equal(body.cache_key, prepared),
  ),
  {
    name: 'it is listed',
    path: '/v1/cache',
    json: ({ entries: [entry], count }) => {
      assert.deepEqual([count, entry.cache_key, entry.model_id, entry.tier], [1, prepared, model, 'ram']);
      assert.deepEqual([entry.pinned, entry.hit_count, entry.is_expired], [true, 0, false]);
      assert.match(entry.content_hash, /^[0-9a-f]{16}$/);
    },
  },
  post(
    'it covers a conversation with its beginning',
    '/v1/cache/validate',
    () => ({ cache_key: prepared, model, messages: [SYSTEM, QUESTION] }),
    (body) => {
      assert.deepEqual([body.status, body.cache_key, body.invalidated_at, body.reason], ['hit', prepared, null, 'full_match']);
      assert.ok(body.reusable_tokens > 50);
    },
  ),
  post(
    'it does not cover another',
    '/v1/cache/validate',
    () => ({ cache_key: prepared, model, messages: [QUESTION] }),
    (body) => assert.deepEqual([body.status, body.reusable_tokens, body.reason], ['miss', 0, 'no_match']),
  ),
  post(
    'an unknown key',
    '/v1/cache/validate',
    () => ({ cache_key: 'f'.repeat(24), model, messages: [QUESTION] }),
    (body) => assert.deepEqual([body.status, body.reason], ['miss', 'cache_key_not_found']),
  ),
  post(
    'another model',
    '/v1/cache/validate',
    () => ({ cache_key: prepared, model: 'other', messages: [SYSTEM] }),
    async (body) => {
      assert.match(body.reason, /^model_mismatch: /);
      await stage.restart();
    },
  ),
  chat(
    'after a restart a chat goes on from the prepared state',
    () => ({ cache_key: prepared, return_cache_key: true }),
    (body) => {
      assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer);
      const { x_cache: report, usage } = body;
      assert.deepEqual([report.hit, report.status, report.cache_key], [true, 'hit', prepared]);
      assert.ok(report.reused_tokens > 50 && report.reused_tokens < usage.prompt_tokens, JSON.stringify([report, usage]));
      assert.match(report.new_cache_key, KEY);
      assert.ok(report.cached_tokens > usage.prompt_tokens);
      answered = report.new_cache_key;
    },
  ),
  chat(
    'the next turn goes on from the answer',
    () => ({
      cache_key: answered,
      stream: true,
      messages: [SYSTEM, QUESTION, { role: 'assistant', content: PUPPET_SCRIPTS.hello.answer }, { role: 'user', content: 'hello' }],
    }),
    {
      events: [ANY_EVENTS, /"status":"hit"/, '[DONE]'],
      json: (_body, answer) => {
        assert.match(answer.text, /event: x_cache\ndata: \{"hit":true,"status":"hit".*\}\n\ndata: \[DONE\]/);
        const report = JSON.parse(answer.events.at(-2)!);
        assert.ok(report.reused_tokens > 60, JSON.stringify(report));
        assert.equal(report.new_cache_key, null);
      },
    },
  ),
  ...[
    { n_ctx: 2048, n_slots: 4, kv_unified: false },
    { n_ctx: 2048, n_slots: 8, kv_unified: false },
    { n_ctx: 4096, n_slots: 2, kv_unified: true },
  ].map((shape) =>
    chat(
      `another buffer takes the state of an answer: ${JSON.stringify(shape)}`,
      () => ({
        ...shape,
        cache_key: answered,
        messages: [SYSTEM, QUESTION, { role: 'assistant', content: PUPPET_SCRIPTS.hello.answer }, { role: 'user', content: 'hello' }],
      }),
      (body) => {
        assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer);
        assert.ok(body.x_cache.hit && body.x_cache.reused_tokens > 60, JSON.stringify(body.x_cache));
      },
    ),
  ),
  chat(
    'a changed question is a partial hit',
    () => ({ cache_key: answered, messages: [SYSTEM, { role: 'user', content: 'count' }] }),
    ({ x_cache: report }) => {
      assert.deepEqual([report.hit, report.status], [false, 'partial_hit']);
      assert.ok(report.reused_tokens > 50);
    },
  ),
  chat(
    'an unknown key is a miss, and answers',
    () => ({ cache_key: 'f'.repeat(24) }),
    (body) => {
      assert.deepEqual([body.x_cache.status, body.x_cache.reused_tokens], ['miss', 0]);
      assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer);
    },
  ),
  chat(
    'the report of several choices is that of the first',
    () => ({ cache_key: prepared, n: 2 }),
    (body) => {
      assert.deepEqual(
        body.choices.map((one: { message: { content: string } }) => one.message.content),
        Array(2).fill(PUPPET_SCRIPTS.hello.answer),
      );
      assert.equal(body.x_cache.hit, true);
    },
  ),
  chat(
    'without a key there is no report',
    () => ({}),
    (body) => assert.ok(!('x_cache' in body)),
  ),
  {
    name: 'counts',
    path: '/v1/cache/stats',
    json: async (body) => {
      assert.deepEqual([body.total_entries, body.total_hits, body.total_partial_hits, body.total_misses], [2, 6, 1, 1]);
      assert.equal(body.hit_rate, 6 / 8);
      assert.equal(body.pinned_entries, 1);
      assert.ok(body.ram_bytes > 0 && body.disk_bytes >= body.ram_bytes);
      assert.equal(body.by_tier.ram + body.by_tier.disk, 2);
      await stage.restart();
      const file = join(folder, `${prepared}.kvstate`);
      const bytes = readFileSync(file);
      bytes[5000] = bytes[5000]! ^ 1;
      writeFileSync(file, bytes);
    },
  },
  chat(
    'a damaged state is a miss, and is removed',
    () => ({ cache_key: prepared }),
    ({ x_cache: report }) => {
      assert.equal(report.status, 'miss');
      assert.ok(!readdirSync(folder).includes(`${prepared}.kvstate`));
    },
  ),
  post(
    'an index without a state',
    '/v1/cache/prepare',
    () => ({ model, messages: [SYSTEM, QUESTION], warm: false, ttl: 60 }),
    (body) => {
      assert.deepEqual([body.size_bytes, body.segments.length], [0, 2]);
      bare = body.cache_key;
      assert.ok(body.token_count > 50);
    },
  ),
  chat(
    'a key without a state is no hit',
    () => ({ cache_key: bare }),
    (body) => {
      assert.equal(body.choices[0].message.content, PUPPET_SCRIPTS.hello.answer);
      assert.deepEqual(body.x_cache, {
        hit: false,
        status: 'miss',
        cache_key: bare,
        reused_tokens: 0,
        new_cache_key: null,
        cached_tokens: 0,
      });
    },
  ),
  post(
    'preparing decodes what the index alone knew',
    '/v1/cache/prepare',
    () => ({ model, messages: [SYSTEM, QUESTION] }),
    (body) => {
      assert.ok(body.cache_key !== bare && body.size_bytes > 1000, JSON.stringify(body));
      prepared = body.cache_key;
    },
  ),
  post(
    'without decoding, what is kept answers',
    '/v1/cache/prepare',
    () => ({ model, messages: [SYSTEM, QUESTION], warm: false }),
    (body) => assert.ok(body.cache_key === prepared && body.size_bytes > 1000, JSON.stringify(body)),
  ),
  post(
    'a model that is not there leaves the index alone',
    '/v1/cache/prepare',
    () => ({ model: 'no/such-model', messages: [QUESTION] }),
    (body) => assert.equal(body.size_bytes, 0),
  ),
  {
    name: 'nothing has expired',
    method: 'POST',
    path: '/v1/cache/gc',
    json: (body) => assert.deepEqual(body, { status: 'ok', removed: 0 }),
  },
  {
    name: 'an entry can be removed',
    method: 'DELETE',
    path: () => `/v1/cache/${answered}`,
    json: (body) => assert.deepEqual(body, { status: 'evicted', cache_key: answered }),
  },
  { name: 'once', method: 'DELETE', path: () => `/v1/cache/${answered}`, status: 404, contains: ['Cache entry', 'not found'] },
  { name: 'a key that is a path', method: 'DELETE', path: '/v1/cache/..%2f..%2findex', status: 404 },
  post('too many messages', '/v1/cache/prepare', () => ({ model, messages: Array(201).fill(QUESTION) }), {
    status: 400,
    contains: ['201 messages', 'at most 200'],
  }),
  post(
    'too many tools',
    '/v1/cache/prepare',
    () => ({
      model,
      messages: [QUESTION],
      tools: Array.from({ length: 129 }, (_, index) => ({ type: 'function', function: { name: `f${index}` } })),
    }),
    { status: 400, contains: ['129 tools'] },
  ),
  post('too much text', '/v1/cache/prepare', () => ({ model, messages: [{ role: 'user', content: 'x'.repeat(200_001) }] }), {
    status: 400,
    contains: ['200001 characters', 'at most 200000'],
  }),
  post(
    'escapes of JSON are no text',
    '/v1/cache/prepare',
    () => ({
      model,
      warm: false,
      messages: [
        { role: 'user', content: 'x\n'.repeat(80_000) },
        { role: 'user', content: [{ type: 'text', text: '"\u{1f600}'.repeat(20_000) }] },
      ],
    }),
    (body) => assert.equal(body.token_count, 50_000),
  ),
  post('no messages', '/v1/cache/prepare', () => ({ model, messages: [] }), { status: 422, contains: ['messages'] }),
  post('a negative ttl', '/v1/cache/prepare', () => ({ model, messages: [QUESTION], ttl: -1 }), { status: 422, contains: ['ttl'] }),
  post('a key of the wrong type', '/v1/cache/validate', () => ({ model, messages: [QUESTION], cache_key: 5 }), {
    status: 422,
    contains: ['cache_key'],
  }),
];

scenarios(
  'the KV cache endpoints',
  {
    endpoints: universalEndpoints,
    context: () => stage as unknown as Runtime,
    close: () => stage.close(),
  },
  table,
);

const small = join(dataDir, 'cache', 'small');
const firstOf = (text: string) => [{ role: 'system', content: text }];
let kept = '';

scenarios(
  'a KV cache full of pinned entries',
  {
    endpoints: universalEndpoints,
    context: () => {
      const models = new Models({ dataDir });
      const cache = new KvCache({ folder: small, limits: { entries: 1 } });
      const close = async () => {
        await cache.close();
        await models.close();
      };
      return { models, completions: new Completions({ models }), kvCache: async () => cache, close } as unknown as Runtime;
    },
    close: (runtime) => runtime.close(),
  },
  [
    post(
      'one is kept',
      '/v1/cache/prepare',
      () => ({ model, messages: firstOf('One.'), pinned: true }),
      (body) => {
        kept = body.cache_key;
      },
    ),
    post('another is refused', '/v1/cache/prepare', () => ({ model, messages: firstOf('Two.'), pinned: true }), {
      status: 413,
      contains: ['CacheFull', '1 pinned', 'DELETE /v1/cache'],
      json: () =>
        assert.deepEqual(
          readdirSync(small).filter((name) => name.endsWith('.kvstate')),
          [`${kept}.kvstate`],
        ),
    }),
    post(
      'the same again is not another',
      '/v1/cache/prepare',
      () => ({ model, messages: firstOf('One.'), pinned: true }),
      (body) => assert.equal(body.cache_key, kept),
    ),
    { name: 'it is deleted', method: 'DELETE', path: () => `/v1/cache/${kept}` },
    post('then there is room', '/v1/cache/prepare', () => ({ model, messages: firstOf('Two.'), pinned: true })),
  ],
);
