import assert from 'node:assert/strict';
import { once } from 'node:events';
import { mkdirSync, mkdtempSync, rmSync, statfsSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type ModelsContext, modelEndpoints } from '../../gateway/core/models.js';
import { Hub } from '../../runtime/models/fetch/hub.js';
import { cacheKey, encoderKey } from '../../runtime/models/residency/key.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { HubServer } from '../support/hub-server.js';
import { ANY_EVENTS, type Scenario, scenarios } from '../support/scenario.js';

const root = mkdtempSync(join(tmpdir(), 'quern-model-api-'));
const cache = join(root, 'hub');
const outbound = new Outbound();
const server = await HubServer.start();
let models = new Models({ dataDir: root });
const JSON_HEADERS = { 'content-type': 'application/json' };
const SIZE = 200_000;
const never = new AbortController().signal;

const context = (): ModelsContext => {
  const settings = {
    endpoint: server.url,
    token: null,
    offline: false,
    cache,
    stallMs: 60_000,
    connections: 2,
    pauseMs: 5,
    proxies: () => null,
  };
  server.put('org/gguf', {
    'model-Q4_K_M.gguf': Buffer.alloc(SIZE, 1),
    'model-Q8_0-00001-of-00002.gguf': Buffer.alloc(SIZE, 2),
    'model-Q8_0-00002-of-00002.gguf': Buffer.alloc(SIZE, 3),
    'mmproj-model-F16.gguf': Buffer.alloc(3000, 4),
  });
  server.put('org/broken', { 'model.gguf': Buffer.alloc(SIZE, 5) });
  server.put('org/huge', { 'model.gguf': Buffer.alloc(2000, 6) });
  return { dataDir: root, models: { keys: () => models.keys() }, hub: new Hub(outbound, settings) };
};

/** Loads a model of this key; without an end where it is to be caught at that. */
function load(key: string, isEndless = false): void {
  const devices = { requested: 'auto', available: [], used: [], why: null };
  const engine = { pid: undefined, status: { devices, notes: [] }, close: async () => {} };
  const loading = async (stop: AbortSignal) => (isEndless ? await once(stop, 'abort').then(() => engine) : engine);
  const held = models.hold({ key, type: 'any', name: key, sizeBytes: 0, load: (_circuit, stop) => loading(stop) }, never);
  held.catch(() => {});
}

/** Unloads all that the rows have loaded. */
function unload(): void {
  void models.close();
  models = new Models({ dataDir: root });
}

const folderOf = (repository: string): string => join(cache, `models--${repository.replace('/', '--')}`);

/** Puts a repository into the cache as other programs do. */
function cached(...repositories: string[]): void {
  for (const repository of repositories) {
    const snapshot = join(folderOf(repository), 'snapshots', 'abc', 'onnx');
    mkdirSync(snapshot, { recursive: true });
    writeFileSync(join(snapshot, 'model.onnx'), 'graph');
  }
}

/** A removal while the cache has `repositories` and the models of these keys are loaded. */
const removal = (name: string, id: string, more: Partial<Scenario>, repositories: string[], ...keys: string[]): Scenario => ({
  name,
  method: 'DELETE',
  path: () => {
    unload();
    cached(...repositories);
    for (const key of keys) load(key);
    return `/v1/models/${id}`;
  },
  ...more,
});
const kept: Partial<Scenario> = { status: 409, contains: ['ModelInUse'] };
const minilm = 'sentence-transformers/all-MiniLM-L6-v2';
const bart = 'facebook/bart-large-mnli';
const exportedBart = 'Xenova/bart-large-mnli';

/** Makes the hub list a size that no disk has. */
function listHuge(): object {
  const { bavail, bsize } = statfsSync(root);
  const served = server.put('org/huge', { 'model.gguf': Buffer.alloc(2000, 6) });
  Object.defineProperty(served.files.get('model.gguf')!.bytes, 'length', { value: bavail * bsize + 1e9 });
  return { model_name: 'org/huge' };
}

const post = (path: string, body: unknown, more: Partial<Scenario> = {}): Omit<Scenario, 'name'> => ({
  method: 'POST',
  path,
  body,
  headers: JSON_HEADERS,
  ...more,
});
const progress = { event: 'progress', file: 'model-Q4_K_M.gguf', downloaded: SIZE, total: SIZE, percent: 100 };

const TABLE: Scenario[] = [
  {
    name: 'lists an empty cache, and what is built in',
    path: '/v1/models',
    json: ({ data, built_in: [first], ...rest }) => {
      assert.deepEqual([data, first.name, rest], [[], 'quern-tiny', {}]);
      assert.ok(first.description.length > 0);
    },
  },
  {
    name: 'refuses another provider',
    path: '/v1/models?provider=ollama',
    status: 400,
    contains: ['UnsupportedProvider', 'ollama'],
  },
  {
    name: 'checks a download',
    ...post('/v1/models/validate-download', { model_name: 'org/gguf:q4_k_m' }),
    json: (body) => {
      assert.deepEqual([body.can_download, body.required_bytes], [true, SIZE]);
      assert.ok(body.available_bytes > SIZE && body.cache_info.total_bytes > 0 && body.system_info.path === '/');
    },
  },
  {
    name: 'forbids nothing where it cannot be found out',
    ...post('/v1/models/validate-download', { model_name: 'org/absent' }),
    json: (body) => {
      assert.deepEqual([body.can_download, body.warning, body.available_bytes, body.cache_info.total_bytes], [true, true, 0, 0]);
      assert.match(body.message, /org\/absent/);
    },
  },
  {
    name: 'says that there is no room for a download',
    ...post('/v1/models/validate-download', null),
    body: listHuge,
    json: (body) => assert.deepEqual([body.can_download, body.warning], [false, true]),
  },
  {
    name: 'refuses a download for which there is no room',
    ...post('/v1/models/download', { model_name: 'org/huge' }, { status: 400 }),
    contains: ['NotEnoughSpace', 'HF_HUB_CACHE'],
  },
  {
    name: 'lists the forms of a model, shards together and without projectors',
    path: '/v1/models/org/gguf/quantizations',
    json: (body) =>
      assert.deepEqual(body.options, [
        { filename: 'model-Q4_K_M.gguf', quantization: 'Q4_K_M', size_bytes: SIZE, size_human: '195.3KB' },
        { filename: 'model-Q8_0-00001-of-00002.gguf', quantization: 'Q8_0', size_bytes: 2 * SIZE, size_human: '390.6KB' },
      ]),
  },
  { name: 'takes an id with an escaped slash', path: '/v1/models/org%2Fgguf/quantizations', contains: ['Q4_K_M'] },
  { name: 'explains an unknown repository', path: '/v1/models/org/absent/quantizations', status: 404, contains: ['ModelNotFound'] },
  { name: 'knows nothing else below a model', path: '/v1/models/org/gguf', status: 405 },
  {
    name: 'downloads, with done and complete at the end',
    ...post('/v1/models/download', { model_name: 'org/gguf', provider: 'universal' }),
    answerHeaders: { 'content-type': 'text/event-stream; charset=utf-8' },
    events: [
      ...(statfsSync(root).bavail / statfsSync(root).blocks < 0.1 ? [{ event: 'warning' }] : []),
      {
        event: 'init',
        model_id: 'org/gguf',
        quantization: 'Q4_K_M',
        selected_file: 'model-Q4_K_M.gguf',
        total_size: SIZE,
        is_gguf: true,
        file_count: 1,
      },
      { event: 'start', file: 'model-Q4_K_M.gguf', total: SIZE },
      ANY_EVENTS,
      progress,
      { event: 'end', file: 'model-Q4_K_M.gguf' },
      { event: 'done' },
      { event: 'complete', model_name: 'org/gguf' },
    ],
  },
  {
    name: 'fetches all shards of the wanted quantisation and no other file',
    ...post('/v1/models/download', { model_name: 'org/gguf:Q8_0' }),
    contains: ['00001-of-00002', '00002-of-00002', '"complete"'],
    lacks: ['mmproj', '"cached"'],
  },
  {
    name: 'fetches a projector when asked',
    ...post('/v1/models/download', { model_name: 'org/gguf:mmproj' }),
    contains: ['mmproj-model-F16'],
  },
  {
    name: 'says that another quantisation is taken',
    ...post('/v1/models/download', { model_name: 'org/gguf:Q2_K' }),
    contains: ['"warning"', 'Q2_K', '"cached"', '"complete"'],
  },
  {
    name: 'tells a failure under way as an event',
    path: '/v1/models/download',
    method: 'POST',
    headers: JSON_HEADERS,
    body: () => {
      server.mischief('model.gguf', { kind: 'flip', at: 9 }, 99);
      return { model_name: 'org/broken' };
    },
    contains: ['"event":"error"', 'DownloadDamaged'],
    lacks: ['"complete"', '"done"'],
  },
  { name: 'answers what cannot begin with its status', ...post('/v1/models/download', { model_name: 'org/absent' }, { status: 404 }) },
  { name: 'refuses a name that is none', ...post('/v1/models/download', { model_name: '../../etc/passwd' }, { status: 400 }) },
  { name: 'refuses a body without a name', ...post('/v1/models/download', {}, { status: 422 }), contains: ['model_name'] },
  {
    name: 'lists what is cached and what lies in the models folder',
    path: () => {
      mkdirSync(join(root, 'models', 'own', 'encoder'), { recursive: true });
      writeFileSync(join(root, 'models', 'own', 'encoder', 'model_int8.onnx'), 'x');
      writeFileSync(join(root, 'models', 'mine-Q6_K.gguf'), 'GGUF');
      writeFileSync(join(root, 'models', 'mine-imatrix.gguf'), 'GGUF');
      writeFileSync(join(root, 'models', 'own', 'encoder', 'imatrix.gguf'), 'GGUF');
      return '/v1/models';
    },
    json: (body) => {
      const [first, second, third] = body.data;
      assert.deepEqual(
        [first.model_id, first.id, first.format, first.quantizations, first.size_bytes, first.source, first.revisions.length],
        ['org/gguf', 'org/gguf', 'gguf', ['Q4_K_M', 'Q8_0'], 3 * SIZE + 3000, 'hub', 1],
      );
      assert.deepEqual([second.id, second.format, second.quantizations, second.source], ['own/encoder', 'onnx', ['INT8'], 'folder']);
      assert.deepEqual([third.id, third.format, third.quantizations], ['mine-Q6_K.gguf', 'gguf', ['Q6_K']]);
      assert.equal(body.data.length, 3);
    },
  },
  {
    name: 'says where a model lies that was put there by hand, and leaves it there',
    method: 'DELETE',
    path: '/v1/models/own/encoder:INT8',
    status: 404,
    contains: ['ModelNotFound', 'by hand', join(root, 'models', 'own', 'encoder')],
    lacks: ['lists what is'],
  },
  {
    name: 'says so of a single file too',
    method: 'DELETE',
    path: '/v1/models/mine-Q6_K',
    status: 404,
    contains: ['by hand', join(root, 'models', 'mine-Q6_K.gguf')],
  },
  {
    name: 'keeps a model that is loaded',
    method: 'DELETE',
    path: () => {
      load(cacheKey('org/gguf', 'Q8_0', {}));
      return '/v1/models/org/gguf';
    },
    ...kept,
    contains: ['ModelInUse', 'quern stop org/gguf'],
  },
  {
    name: 'keeps a model that is still loading',
    method: 'DELETE',
    path: () => {
      unload();
      load(cacheKey('org/gguf', null, {}), true);
      return '/v1/models/org/gguf';
    },
    ...kept,
  },
  {
    name: 'keeps a model whose file is loaded by its path',
    method: 'DELETE',
    path: () => {
      unload();
      load(cacheKey(join(cache, 'models--org--gguf', 'snapshots', 'abc', 'model.gguf'), null, {}));
      return '/v1/models/org/gguf';
    },
    ...kept,
  },
  {
    name: 'removes a model with all its quantisations',
    method: 'DELETE',
    path: () => {
      unload();
      return '/v1/models/org/gguf:Q8_0?provider=universal';
    },
    json: (body) => {
      assert.deepEqual([body.model_name, body.revisions_deleted, body.size_freed], ['org/gguf', 1, 3 * SIZE + 3000]);
      assert.equal(body.path, join(cache, 'models--org--gguf'));
    },
  },
  { name: 'does not know it any more', method: 'DELETE', path: '/v1/models/org/gguf', status: 404, contains: ['ModelNotFound'] },
  { name: 'removes nothing for another provider', method: 'DELETE', path: '/v1/models/org/gguf?provider=lemonade', status: 400 },
  removal(
    'keeps what a short name stands for',
    minilm,
    kept,
    [minilm],
    encoderKey('embedding', { format: 'onnx', id: 'all-MiniLM-L6-v2', quantisation: null }),
  ),
  removal('keeps the weights of an OCR engine', 'monkt/paddleocr-onnx', kept, ['monkt/paddleocr-onnx'], 'ocr:paddleocr:any'),
  removal(
    'removes the weights of another OCR engine',
    'monkt/paddleocr-onnx',
    {},
    ['monkt/paddleocr-onnx'],
    'ocr:easyocr:en',
    'ocr:tesseract:en',
  ),
  removal('takes no name that could stand for two', 'org--two', { status: 400, contains: ['InvalidModelName'] }, ['org/two']),
  removal('has kept that model', 'org/two', {}, []),
  {
    name: 'lists no forms of a model whose weights do not run here, without those that could stand in for it',
    path: () => {
      server.put(bart, { 'model.safetensors': Buffer.alloc(SIZE, 7), 'config.json': '{}' });
      return `/v1/models/${bart}/quantizations`;
    },
    json: (body) => assert.deepEqual(body.options, []),
  },
  {
    name: 'lists the forms of the weights that stand in for a model',
    path: () => {
      server.put(exportedBart, { 'onnx/model.onnx': Buffer.alloc(SIZE, 8), 'onnx/model_int8.onnx': Buffer.alloc(3000, 9) });
      return `/v1/models/${bart}/quantizations`;
    },
    json: (body) =>
      assert.deepEqual(
        body.options.map((option: { filename: string }) => option.filename),
        ['onnx/model_int8.onnx', 'onnx/model.onnx'],
      ),
  },
  removal(
    'keeps the weights that stand in for a model, loaded by their own name',
    bart,
    kept,
    [exportedBart],
    encoderKey('classification', { format: 'onnx', id: exportedBart, quantisation: null }),
  ),
  removal(
    'removes the weights that stand in for a model, when they are all there is',
    bart,
    { json: (body) => assert.deepEqual([body.model_name, body.path], [bart, folderOf(exportedBart)]) },
    [exportedBart],
  ),
  removal('finds neither then', bart, { status: 404, contains: [bart] }, []),
  {
    name: 'removes the weights that run here, not the same model in the form of another program',
    method: 'DELETE',
    path: () => {
      cached(exportedBart);
      mkdirSync(join(folderOf(bart), 'snapshots', 'abc'), { recursive: true });
      writeFileSync(join(folderOf(bart), 'snapshots', 'abc', 'model.safetensors'), 'weights');
      return `/v1/models/${bart}`;
    },
    json: (body) => assert.equal(body.path, folderOf(exportedBart)),
  },
  removal('removes the model itself where that is there', bart, { json: (body) => assert.equal(body.path, folderOf(bart)) }, [
    bart,
    exportedBart,
  ]),
  { name: 'removes nothing outside the cache', method: 'DELETE', path: '/v1/models/..%2F..%2Fetc', status: 404 },
];

scenarios(
  'model cache',
  {
    endpoints: modelEndpoints,
    context,
    close: async ({ hub }) => {
      await hub.close();
      await outbound.close();
      await server.close();
      rmSync(root, { recursive: true, force: true });
    },
  },
  TABLE,
);
