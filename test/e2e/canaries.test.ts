import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, relative } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { secretPlaces } from '../support/secret-places.js';
import { until } from '../support/until.js';

// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
type Loose = any;

const CANARY = /canary[\w-]*/g;
const KEY = 'canary-key-of-the-daemon';
const STATUSES = [400, 401, 403, 404, 422, 500, 503, 429, 200];
/** Answers that take longer are not waited for: hosts are asked again and again here. */
const LONGEST_ANSWER_MS = 30_000;
/** Streams of events have no end; what came until then is looked at. */
const LONGEST_STREAM_MS = 2_000;
const LONGEST_TASK_MS = 2_000;
const PATIENCE_MS = 240_000;

/** What came of an answer until its end, or until it was given up. */
async function textOf({ body }: Response): Promise<string> {
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of body ?? []) pieces.push(piece);
  } catch {}
  return Buffer.concat(pieces).toString();
}

/** A host that knows nothing and repeats all that it was sent, in bodies of every kind. */
async function startEcho(): Promise<{ server: Server; base: string; asked: () => string }> {
  let asked = '';
  let count = 0;
  const server = createServer((request, reply) => {
    const status = STATUSES[count++ % STATUSES.length]!;
    let body = '';
    request.on('data', (chunk: Buffer) => (body += chunk.toString()));
    request.on('end', () => {
      const said = JSON.stringify({ body, url: request.url, headers: request.headers });
      asked += said;
      reply.writeHead(status, { 'content-type': 'application/json', 'retry-after': '0' });
      reply.end(JSON.stringify({ error: { message: `refused: ${said}`, code: said }, detail: said, message: said }));
    });
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  return { server, base: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked: () => asked };
}

/** A project with a canary in every place that can hold a secret; what asks a host asks `base`. */
function projectOf(base: string): string {
  const { host } = new URL(base);
  const embedders = ['UniversalEmbedder', 'HuggingFaceEmbedder', 'SentenceTransformerEmbedder', 'OpenAIEmbedder'];
  const list = (lines: readonly string[]): string => lines.map((line) => `    - ${line}\n`).join('');
  const lexical = 'embedding_strategies: [{name: w, type: LexicalEmbedder}], retrieval_strategies: [{name: r, type: BM25Retriever}]';
  const databases = [
    ...embedders.map(
      (type, at) =>
        `{name: e${at}, type: NativeStore, embedding_strategies: [{name: e, type: ${type}, config: {model: m, api_key: canary-embedder-${at}, base_url: "${base}/v1?key=canary-query-${at}", max_retries: 0}}], ` +
        `retrieval_strategies: [{name: x, type: ElasticRetriever, config: {host: "${base}", api_key: canary-elastic}}, {name: y, type: ElasticRetriever, config: {host: "${base}", username: u, password: canary-password}}, {name: v, type: VectorRetriever}]}`,
    ),
    `{name: qdrant, type: QdrantStore, config: {host: "http://${host}", api_key: canary-qdrant}, ${lexical}}`,
    `{name: chroma, type: ChromaStore, config: {host: "http://${host}", api_key: canary-chroma}, ${lexical}}`,
    `{name: bad, type: QdrantStore, config: {host: "http://u:canary-user@${host}", distance: odd, api_key: canary-bad}, ${lexical}}`,
  ];
  const names = [...embedders.map((_type, at) => `e${at}`), 'qdrant', 'chroma', 'bad'];
  return `version: v1
runtime:
  models:
    - {name: hosted, provider: openai, model: x, base_url: "${base}/v1?api_key=canary-in-query", api_key: canary-of-model, extra_body: {headers: {X-Team-Token: canary-header}, password: canary-extra}, model_api_parameters: {auth_token: canary-parameter}}
    - {name: env, provider: openai, model: x, base_url: "${base}/v1", api_key: "\${env:QUERN_CANARY_KEY}"}
    - {name: refused, provider: openai, model: x, base_url: "${base}/v1", api_key: "\${env:CANARY_ELSEWHERE}"}
    - {name: user, provider: openai, model: x, base_url: "http://u:canary-in-user@${host}/v1"}
    - {name: runner, provider: ollama, model: x, base_url: "${base}/v1?token=canary-runner", api_key: canary-of-runner}
    - {name: far, provider: universal, model: x, base_url: "${base}/v1", api_key: canary-of-far}
mcp:
  servers:
    - {name: s, transport: stdio, command: run --token canary-command, args: [--api-key, canary-argument], env: {any_name: canary-env}}
    - {name: h, transport: http, base_url: "http://u:canary-mcp@h", headers: {any_name: canary-mcp-header}}
rag:
  databases:
${list(databases)}datasets:
${list(names.map((name) => `{name: d_${name}, database: ${name}}`)).replaceAll('    - ', '  - ')}extra: {client_secret: canary-unknown, deep: [{credentials: [canary-list]}]}
`;
}

describe('canaries in every secret field', () => {
  let echo: Awaited<ReturnType<typeof startEcho>>;
  let daemon: DaemonUnderTest;
  let project: string;
  /** Every answer, with the request that it was given to. */
  const answers: { asked: string; status: number; text: string }[] = [];

  async function ask(
    method: string,
    url: string,
    body?: unknown,
    longestMs = LONGEST_ANSWER_MS,
  ): Promise<{ status: number; text: string }> {
    const isForm = body instanceof FormData;
    const asked = `${method} ${url.replace(/^http:\/\/[^/]+/, '')}`;
    const answered = fetch(url, {
      method,
      headers: {
        'x-api-key': KEY,
        'x-active-project': 'keep/p',
        ...(body === undefined || isForm ? {} : { 'content-type': 'application/json' }),
      },
      ...(body === undefined ? {} : { body: isForm ? body : JSON.stringify(body) }),
      signal: AbortSignal.timeout(/^GET .*\/stream$/.test(asked) ? LONGEST_STREAM_MS : longestMs),
    }).then(async (response) => ({
      asked,
      status: response.status,
      text: `${JSON.stringify([...response.headers])}\n${await textOf(response)}`,
    }));
    const answer = await answered.catch((error: Error) => ({ asked, status: 0, text: error.name }));
    answers.push(answer);
    return answer;
  }

  const P = '/v1/projects/keep/p';
  const core = (method: string, path: string, body?: unknown) => ask(method, daemon.core + path, body);
  /** The same where the answer is needed for what follows. */
  const surely = async (method: string, path: string, body?: unknown) => {
    const answer = await ask(method, daemon.core + path, body, PATIENCE_MS);
    assert.notEqual(answer.status, 0, `${method} ${path}: ${answer.text}`);
    return answer;
  };

  before(async () => {
    echo = await startEcho();
    const dataDir = emptyDataDir();
    project = projectOf(echo.base);
    const folder = join(dataDir, 'projects/keep/p');
    mkdirSync(folder, { recursive: true });
    writeFileSync(join(folder, 'project.yaml'), project);
    mkdirSync(join(dataDir, 'projects/keep/invalid'));
    writeFileSync(join(dataDir, 'projects/keep/invalid/project.yaml'), project.replace('version: v1', 'version: v0'));
    mkdirSync(join(dataDir, 'projects/keep/broken'));
    writeFileSync(join(dataDir, 'projects/keep/broken/project.yaml'), `${project}broken: *canary-alias\n`);
    daemon = await startDaemon({
      dataDir,
      args: ['--api-key', KEY],
      env: { QUERN_CANARY_KEY: 'canary-from-the-environment', CANARY_ELSEWHERE: 'canary-elsewhere', LOG_LEVEL: 'debug' },
    });
  });
  after(async () => {
    await daemon?.end('SIGKILL');
    echo?.server.close();
  });

  it('the project has one in every place that the schemas and the plug-ins know', () => {
    const isThere = (place: string): boolean => {
      const [owner, ...names] = place.split('.');
      const name = names.at(-1)!;
      return project.split('\n').some((line) => new RegExp(`\\b${name}: canary`).test(line) && (names.length > 1 || line.includes(owner!)));
    };
    assert.deepEqual(
      secretPlaces().filter((place) => !isThere(place)),
      [],
    );
  });

  it('models that are asked and refused repeat none', async () => {
    for (const model of ['hosted', 'env', 'refused', 'user', 'runner', 'far']) {
      for (let round = 0; round < 9; round += 1) {
        const stream = round % 2 === 1;
        await core('POST', `${P}/chat/completions`, { model, stream, rag_enabled: false, messages: [{ role: 'user', content: 'x' }] });
      }
    }
    for (const key of ['canary-of-model', 'canary-from-the-environment', 'canary-in-query', 'canary-header'])
      assert.ok(echo.asked().includes(key), `${key} was not used`);
    assert.ok(!echo.asked().includes('canary-elsewhere'));
  });

  it('the help, which looks at the project, repeats none', async () => {
    // Its pages are read at the first question, which is let take longer than an answer.
    const help = `${daemon.core}/v1/projects/llamafarm/project_seed`;
    const headers = { 'x-api-key': KEY, 'content-type': 'application/json' };
    assert.equal((await fetch(`${help}/rag/query`, { method: 'POST', headers, body: '{"query":"secrets"}' })).status, 200);
    const asked = { messages: [{ role: 'user', content: 'What is wrong with my project, and which settings has it?' }] };
    const { text } = await surely('POST', '/v1/projects/llamafarm/project_seed/chat/completions', asked);
    assert.match(text, /About keep\/p:/);
  });

  it('databases that are asked and refused repeat none, nor do tasks', async () => {
    for (const name of ['e0', 'e1', 'e2', 'e3', 'qdrant', 'chroma', 'bad']) {
      await core('POST', `${P}/rag/query`, { query: 'x', database: name });
      for (const retrieval_strategy of ['x', 'y', 'v'])
        await core('POST', `${P}/rag/query`, { query: 'x', database: name, retrieval_strategy });
      for (const part of ['health', 'stats', 'documents']) await core('GET', `${P}/rag/${part}?database=${name}`);
      for (const part of ['', '/documents']) await core('GET', `${P}/rag/databases/${name}${part}`);
      await core('PATCH', `${P}/rag/databases/${name}`, { config: { api_key: '***', host: 'http://elsewhere.example' } });
      const form = new FormData();
      form.append('files', new Blob(['Something to read.']), 'a.txt');
      await core('POST', `${P}/datasets/d_${name}/data/bulk`, form);
      const { text } = await surely('POST', `${P}/datasets/d_${name}/actions`, { action_type: 'process' });
      const id = /"task_id":"([^"]+)"/.exec(text)![1]!;
      for (const until = Date.now() + LONGEST_TASK_MS; Date.now() < until; await sleep(100)) {
        const task = await core('GET', `${P}/tasks/${id}`);
        if (/"state":"(SUCCESS|FAILURE)"/.test(task.text)) break;
      }
      await core('GET', `${P}/datasets/d_${name}/data`);
    }
    for (const key of ['canary-embedder-3', 'canary-query-3', 'canary-qdrant', 'canary-chroma'])
      await until(() => echo.asked().includes(key), `${key} is used`);
  });

  it('no endpoint of either API shows one, with a body that is empty, wrong or the project itself', async () => {
    const names: Record<string, string> = {
      namespace: 'keep',
      project: 'p',
      database_name: 'e0',
      database: 'e0',
      dataset: 'd_e0',
      model_id: 'hosted',
    };
    for (const base of [daemon.core, daemon.runtime]) {
      const { paths } = (await (await fetch(`${base}/openapi.json`, { headers: { 'x-api-key': KEY } })).json()) as Loose;
      const operations = Object.entries(paths as Loose).flatMap(([path, item]) =>
        Object.keys(item as object).map((method) => [path, method.toUpperCase()]),
      );
      // What removes things comes last.
      operations.sort(([, one], [, other]) => Number(one === 'DELETE') - Number(other === 'DELETE'));
      for (const [path, method] of operations as [string, string][]) {
        const at = path.replace(/\{(\w+)[^}]*\}/g, (_whole, name: string) => names[name] ?? 'x');
        if (method === 'GET' || method === 'DELETE') await ask(method, base + at);
        else for (const body of [{}, { model: 'hosted', config: { runtime: 7 }, name: 3 }]) await ask(method, base + at, body);
      }
    }
    for (const name of ['p', 'invalid', 'broken']) {
      const { text } = await surely('GET', `/v1/projects/keep/${name}`);
      await core('GET', `/v1/projects/keep/${name}/models`);
      if (name === 'broken') continue;
      const { config } = JSON.parse(text.slice(text.indexOf('\n') + 1)).project;
      await core('PUT', `/v1/projects/keep/${name}`, { config: { ...config, version: 'v1' } });
      await core('PUT', `/v1/projects/keep/${name}`, {
        config: { ...config, runtime: { models: [{ ...config.runtime.models[0], name: 'new' }] } },
      });
    }
    await core('DELETE', '/v1/projects/keep/invalid?purge=true');
    for (const name of ['e1', 'qdrant', 'bad']) {
      await core('DELETE', `${P}/datasets/d_${name}`);
      await core('DELETE', `${P}/rag/databases/${name}`);
    }
  });

  it('and none was found in any answer, log line or file besides the project files', async () => {
    assert.ok(answers.length > 200, `${answers.length} answers`);
    assert.ok(answers.some(({ text }) => text.includes('***')));
    const leaks = answers.flatMap(({ asked, status, text }) => {
      const found = text.match(CANARY);
      return found ? [`${asked}: ${status} ${[...new Set(found)].join(' ')}: ${text.slice(0, 600)}`] : [];
    });
    assert.deepEqual(leaks, []);
    await daemon.end();
    assert.deepEqual(
      daemon
        .output()
        .split('\n')
        .filter((line) => line.match(CANARY)),
      [],
    );
    const files = readdirSync(daemon.dataDir, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile());
    const holding = files.flatMap((entry) => {
      const path = join(entry.parentPath, entry.name);
      // The project's own file and its dated backups hold what its writer wrote.
      // What a project file said before lies beside it, and in its generations.
      if (/^(?:\d+\.\d+\.(?:api|file|restore)\.[0-9a-f]{64}\.)?project(\.\d{8}_\d{6}(_\d{3})?)?\.yaml$/.test(entry.name)) return [];
      const found = readFileSync(path, 'latin1').match(CANARY);
      return found ? [`${relative(daemon.dataDir, path)}: ${[...new Set(found)].join(' ')}`] : [];
    });
    assert.ok(files.length > 3);
    assert.deepEqual(holding, []);
  });
});
