// Runs a daemon from build/ in this process, asks each of six things while it is warm, and sends to the parent which of our files ran (V8 coverage).
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { Session } from 'node:inspector/promises';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import { join, relative, sep } from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { root } from './steps.mjs';

/** Requests before the counted ones, and the counted ones: a file ran that ran in each of these. */
const WARM = 3;
const COUNTED = 3;
/** After so long, what a request leaves for later is done, such as the writing of its event. */
const SETTLED_MS = 500;
const POLL_MS = 100;
const [CORE, RUNTIME] = await Promise.all([freePort(), freePort()]);
const PROJECT = `http://127.0.0.1:${CORE}/v1/projects/default/house`;
/** A port that nobody uses. */
function freePort() {
  return new Promise((resolve, reject) => {
    const server = createServer().on('error', reject);
    server.listen(0, '127.0.0.1', () => {
      const { port } = server.address();
      server.close(() => resolve(port));
    });
  });
}

const TEXT = 'The volcano Etna erupts in Sicily.\n\nSourdough bread needs flour, water and salt.\n\nOslo lies in Norway.\n';

async function answered(url, init) {
  const reply = await fetch(url, init);
  const text = await reply.text();
  if (!reply.ok) throw new Error(`${init?.method ?? 'GET'} ${url}: ${reply.status} ${text}`);
  return text;
}

const post = (url, body) => answered(url, { method: 'POST', headers: { 'content-type': 'application/json' }, body: JSON.stringify(body) });

function upload(name) {
  const body = new FormData();
  body.append('file', new Blob([TEXT + name]), `${name}.txt`);
  return answered(`${PROJECT}/datasets/default/data`, { method: 'POST', body });
}

/** The plainest kinds of everything, so that what a kind of search adds is not counted. */
const projectOf = (model) => `version: v1
runtime:
  models: [{name: default, provider: universal, model: ${model}}]
rag:
  databases:
    - name: main
      type: NativeStore
      embedding_strategies: [{name: words, type: LexicalEmbedder}]
      retrieval_strategies: [{name: dense, type: BasicSimilarityStrategy}]
  data_processing_strategies: [{name: texts, parsers: [{type: auto}]}]
datasets: [{name: default, database: main, data_processing_strategy: texts}]
`;

const ROWS = Array.from({ length: 40 }, (_none, at) => [at % 7, (at * 3) % 5]);
const REQUESTS = {
  'GET of a project': () => answered(PROJECT),
  'chat with retrieval, streamed': () =>
    post(`${PROJECT}/chat/completions`, {
      messages: [{ role: 'user', content: 'Where is Etna?' }],
      stream: true,
      max_tokens: 8,
    }),
  'rag query': () => post(`${PROJECT}/rag/query`, { query: 'Where is Etna?' }),
  upload: (at) => upload(`more-${at}`),
  'anomaly fit': () => post(`http://127.0.0.1:${RUNTIME}/v1/anomaly/fit`, { model: 'house', backend: 'knn', data: ROWS, overwrite: true }),
  embeddings: () => post(`http://127.0.0.1:${RUNTIME}/v1/embeddings`, { model: 'quern-lexical', input: ['Where is Etna?', 'Bread'] }),
};

async function prepare() {
  await upload('first');
  const { task_id: task } = JSON.parse(await post(`${PROJECT}/datasets/default/actions`, { action_type: 'process' }));
  for (let state = ''; state !== 'SUCCESS'; await sleep(POLL_MS)) {
    ({ state } = JSON.parse(await answered(`${PROJECT}/tasks/${task}`)));
    if (state === 'FAILURE') throw new Error('the document of the house could not be taken in');
  }
}

/** Our sources with a function that ran since the last call. */
async function filesRun(session) {
  const { result } = await session.post('Profiler.takePreciseCoverage');
  return result
    .filter(({ url, functions }) => url.startsWith('file:') && functions.some(({ ranges: [{ count }] }) => count > 0))
    .map(({ url }) => relative(join(root, 'build'), fileURLToPath(url)).split(sep).join('/').replace(/js$/, 'ts'))
    .filter((file) => file.endsWith('.ts') && !file.startsWith('..'));
}

async function measure() {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-house-'));
  process.on('exit', () => rmSync(dataDir, { recursive: true, force: true }));
  const session = new Session();
  session.connect();
  await session.post('Profiler.enable');
  await session.post('Profiler.startPreciseCoverage', { callCount: true, detailed: false });
  const [{ startDaemon }, { readOptions }, { FIRST_MODEL }] = await Promise.all(
    ['gateway/daemon/daemon', 'gateway/daemon/options', 'models/built-in'].map((name) => import(join(root, `build/${name}.js`))),
  );
  const folder = join(dataDir, 'projects/default/house');
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'project.yaml'), projectOf(FIRST_MODEL.name));
  await startDaemon(readOptions(['--data-dir', dataDir, '--port', String(CORE), '--runtime-port', String(RUNTIME)], {}), { core: true });
  await prepare();
  for (const [name, ask] of Object.entries(REQUESTS)) {
    for (let at = 0; at < WARM; at += 1) await ask(at);
    const runs = [];
    for (let at = WARM; at < WARM + COUNTED; at += 1) {
      await sleep(SETTLED_MS);
      await filesRun(session);
      await ask(at);
      runs.push(new Set(await filesRun(session)));
    }
    process.send({ name, files: [...runs[0]].filter((file) => runs.every((run) => run.has(file))).sort() });
  }
}

// The daemon survives errors that nobody caught.
await measure().then(
  () => process.exit(0),
  (error) => {
    process.stderr.write(`${error.stack}\n`);
    process.exit(1);
  },
);
