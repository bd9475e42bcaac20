import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonUnderTest, startDaemon } from '../support/daemon.js';
import { type GoShape, goRefusals } from '../support/go-struct.js';

const COMPONENT: GoShape = { name: 'string', status: 'string', message: 'string', latency_ms: 'int' };
const HEALTH: GoShape = { status: 'string', summary: 'string', components: [COMPONENT], seeds: [COMPONENT], timestamp: 'int' };
const ERROR: GoShape = { detail: 'any', message: 'string', error: 'string', request_id: 'string' };
const PROJECT: GoShape = {
  project: { namespace: 'string', name: 'string', config: {}, validation_error: 'string', last_modified: 'string' },
};
const VERSION: GoShape = {
  latest_version: 'string',
  name: 'string',
  release_notes: 'string',
  release_url: 'string',
  published_at: 'string',
  from_cache: 'bool',
  install: { mac_linux: 'string', windows: 'string' },
};
const DATASET: GoShape = { name: 'string', database: 'string', data_processing_strategy: 'string', files: ['string'] };
const UPLOAD: GoShape = { filename: 'string', hash: 'string', processed: 'bool', skipped: 'bool', task_id: 'string', status: 'string' };
const TASK: GoShape = { task_id: 'string', state: 'string', meta: { current: 'int', total: 'int' }, result: {}, error: 'string' };
const QUERY: GoShape = {
  query: 'string',
  results: [{ content: 'string', score: 'float', metadata: {}, chunk_id: 'string', document_id: 'string' }],
  total_results: 'int',
  processing_time_ms: 'float',
};
const CHUNK: GoShape = { choices: [{ index: 'int', delta: { role: 'string', content: 'string' }, finish_reason: 'string' }] };
/** What the command line calls itself. */
const HEADERS = { 'Content-Type': 'application/json', 'User-Agent': 'Go-http-client/1.1' };
const P = '/v1/projects/cli/mine';
const LIMIT_MS = 120_000;

describe("the reference system's command line, by the types that it reads and the steps that it takes", () => {
  let daemon: DaemonUnderTest;
  let file: string;

  before(async () => {
    daemon = await startDaemon({ args: ['--delete-projects'] });
    file = join(daemon.dataDir, 'projects/cli/mine/llamafarm.yaml');
    mkdirSync(join(daemon.dataDir, 'projects/cli/mine'), { recursive: true });
    writeFileSync(
      file,
      [
        'version: v1',
        'name: mine',
        'namespace: cli',
        'runtime: {models: [{name: default, provider: universal, model: quern-tiny}]}',
        'rag:',
        '  databases:',
        '    - name: main_db',
        '      type: NativeStore',
        '      embedding_strategies: [{name: words, type: LexicalEmbedder}]',
        '      retrieval_strategies: [{name: near, type: HybridUniversalStrategy}]',
        '  data_processing_strategies: [{name: universal_rag, parsers: [{type: auto}]}]',
        '',
      ].join('\n'),
    );
  });
  after(async () => assert.equal(await daemon.end(), 0, daemon.output()));

  /** The answer, read as the types of the command line. */
  // biome-ignore lint/suspicious/noExplicitAny: answers of every shape
  async function call(method: string, path: string, shape: GoShape, body?: unknown, status = 200): Promise<any> {
    const form = body instanceof FormData;
    const sent = body === undefined ? {} : { body: form ? body : JSON.stringify(body) };
    const answer = await fetch(daemon.core + path, { method, headers: form ? { 'User-Agent': HEADERS['User-Agent'] } : HEADERS, ...sent });
    const text = await answer.text();
    assert.equal(answer.status, status, text);
    const value: unknown = JSON.parse(text);
    assert.deepEqual(goRefusals(value, shape), []);
    return value;
  }

  it('finds every service healthy, as it asks before each command', async () => {
    const { status, components } = await call('GET', '/health', HEALTH);
    assert.equal(status, 'healthy');
    for (const name of ['server', 'rag-service', 'universal-runtime'])
      assert.equal(components.find((one: { name: string }) => one.name === name)?.status, 'healthy', name);
    await call('GET', '/info', { version: 'string', data_directory: 'string' });
    await call('GET', '/v1/system/version-check', VERSION);
  });

  it('shares the project file with it', async () => {
    await call('GET', P, PROJECT);
    await call(
      'POST',
      `${P}/datasets`,
      { dataset: DATASET },
      { name: 'notes', database: 'main_db', data_processing_strategy: 'universal_rag' },
    );
    assert.match(readFileSync(file, 'utf8'), /name: notes/);
    writeFileSync(file, readFileSync(file, 'utf8').replace('model: quern-tiny', 'model: quern-tiny, description: edited by hand'));
    const { models } = await call('GET', `${P}/models`, {
      total: 'int',
      models: [{ name: 'string', provider: 'string', model: 'string' }],
    });
    assert.equal(models[0].description, 'edited by hand');
  });

  it('uploads, waits for the task and asks', async () => {
    const form = new FormData();
    form.set('file', new Blob(['The mill stands at the river Iller.']), 'mill.txt');
    const { processed, task_id: id } = await call('POST', `${P}/datasets/notes/data?auto_process=true`, UPLOAD, form);
    assert.equal(processed, true);
    let state = '';
    for (const until = performance.now() + LIMIT_MS; state !== 'SUCCESS' && performance.now() < until; await sleep(50)) {
      ({ state } = await call('GET', `${P}/tasks/${id}`, TASK));
    }
    assert.equal(state, 'SUCCESS');
    const { results } = await call('POST', `${P}/rag/query`, QUERY, { query: 'Where is the mill?', rerank_model: undefined });
    assert.match(results[0].content, /Iller/);
  });

  it('streams a chat, and reads every refusal as a sentence', async () => {
    const body = { messages: [{ role: 'user', content: 'Hello!' }], stream: true, max_tokens: 8 };
    const answer = await fetch(`${daemon.core}${P}/chat/completions`, { method: 'POST', headers: HEADERS, body: JSON.stringify(body) });
    const frames = (await answer.text()).split('\n').filter((line) => line.startsWith('data: '));
    assert.equal(frames.at(-1), 'data: [DONE]');
    for (const frame of frames.slice(0, -1)) assert.deepEqual(goRefusals(JSON.parse(frame.slice(6)), CHUNK), []);
    const refused: [string, string, unknown, number][] = [
      ['POST', '/v1/projects/cli/nope/chat/completions', body, 404],
      ['POST', `${P}/chat/completions`, {}, 422],
      ['POST', `${P}/chat/completions`, { ...body, model: 'nope' }, 400],
      ['GET', '/v1/projects/cli/nope', undefined, 404],
      ['POST', `${P}/rag/query`, { query: 'x', database: 'nope' }, 404],
      ['POST', '/v1/nlp/embeddings', { model: 'no/model', input: 'x' }, 404],
    ];
    for (const [method, path, sent, status] of refused) {
      const { message, detail } = await call(method, path, ERROR, sent, status);
      assert.ok(typeof detail === 'string' && message.length > 10, path);
    }
  });

  it('deletes a project for good where the daemon was told so', async () => {
    await call('DELETE', P, PROJECT);
    await call('GET', P, ERROR, undefined, 404);
  });
});
