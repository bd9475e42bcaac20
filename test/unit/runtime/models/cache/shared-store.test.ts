import assert from 'node:assert/strict';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { dirname, join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { openSession } from '../../../../../runtime/engines/onnx/session.js';
import { cachedModels } from '../../../../../runtime/models/cache/list.js';
import type { ModelPlaces } from '../../../../../runtime/models/find/contract.js';
import { findGguf } from '../../../../../runtime/models/find/gguf.js';
import { findRepository } from '../../../../../runtime/models/find/repository.js';
import { floats, writeOnnx } from '../../../../support/models/writers/onnx-writer.js';
import { bytesOf, type HubStage, hubStage } from '../fetch/stage.js';

const X = 'a'.repeat(64);
const Y = `b${'c'.repeat(63)}`;
const Z = 'd'.repeat(64);
const V = 'e'.repeat(64);
const MARKER = 'blobs/.huggingface-shared-blobs';
const GRAPH = writeOnnx({
  nodes: [{ op: 'Add', inputs: ['x', 'w'], outputs: ['y'] }],
  initializers: [{ ...floats('w', [2], [0, 0]), external: { location: 'model.onnx_data', length: '8' } }],
  inputs: [{ name: 'x', type: 'float32', dims: [2] }],
  outputs: [{ name: 'y', type: 'float32', dims: [2] }],
});

describe('a cache with the store of large files that all repositories share', () => {
  let stage: HubStage;
  let places: ModelPlaces;
  const put = (path: string, content: string | Uint8Array): void => {
    mkdirSync(dirname(join(stage.cache, path)), { recursive: true });
    writeFileSync(join(stage.cache, path), content);
  };
  /** As Python's client lays it out: the file in the store, a link to it among the blobs, and a link to that in the snapshot. */
  const share = (repository: string, file: string, name: string, etag: string, content: Uint8Array): void => {
    const folder = `models--${repository.replace('/', '--')}`;
    const list = `blobs/${name.slice(0, 2)}/${name}.refs`;
    const known = existsSync(join(stage.cache, list)) ? readFileSync(join(stage.cache, list), 'utf8') : '';
    put(`blobs/${name.slice(0, 2)}/${name}`, content);
    put(list, `${known}${folder}/blobs/${etag}\n`);
    put(`${folder}/refs/main`, 'c1');
    mkdirSync(join(stage.cache, folder, 'blobs'), { recursive: true });
    symlinkSync(`../../blobs/${name.slice(0, 2)}/${name}`, join(stage.cache, folder, 'blobs', etag));
    const shown = join(stage.cache, folder, 'snapshots/c1', file);
    mkdirSync(dirname(shown), { recursive: true });
    symlinkSync(`${'../'.repeat(file.split('/').length + 1)}blobs/${etag}`, shown);
  };
  /** A folder as a process leaves it that ends while it opens a graph. */
  const leave = (name: string, ageS: number): void => {
    mkdirSync(join(stage.cache, '.locks', name), { recursive: true });
    utimesSync(join(stage.cache, '.locks', name), Date.now() / 1000 - ageS, Date.now() / 1000 - ageS);
  };
  const leftFolders = (): string[] => readdirSync(join(stage.cache, '.locks')).filter((name) => name.startsWith('quern-open'));
  before(async () => {
    stage = await hubStage();
    places = { folder: join(stage.cache, 'own'), builtIn: join(stage.cache, 'none'), hub: stage.cache };
    put(MARKER, '1\n');
    share('org/chat', 'm-Q8_0.gguf', X, 'e1', bytesOf(2048));
    share('org/copy', 'same.gguf', X, 'e2', bytesOf(2048));
    share('org/graph', 'onnx/model.onnx', Y, 'e3', GRAPH);
    share('org/graph', 'onnx/model.onnx_data', Z, 'e4', new Uint8Array(Float32Array.of(1, 2).buffer));
  });
  after(() => stage.close());

  it('has its models found, listed and taken without the hub', async () => {
    assert.match((await findGguf('org/chat:Q8_0', places)).weights[0], /snapshots\/c1\/m-Q8_0\.gguf$/);
    assert.deepEqual((await findRepository('org/graph', places)).files, ['onnx/model.onnx', 'onnx/model.onnx_data']);
    const listed = await cachedModels(places);
    assert.deepEqual(
      listed.map(({ id, format, sizeBytes }) => [id, format, sizeBytes]),
      [
        ['org/chat', 'gguf', 2048],
        ['org/copy', 'gguf', 2048],
        ['org/graph', 'onnx', GRAPH.length + 8],
      ],
    );
    const offline = stage.hub({ offline: true });
    assert.deepEqual((await offline.plan('org/chat', new AbortController().signal)).missingBytes, 0);
    assert.deepEqual((await offline.plan('org/graph', new AbortController().signal)).missingBytes, 0);
  });

  it('has graphs opened whose weights lie in another of its folders, and leaves nothing behind', async () => {
    const path = join(stage.cache, 'models--org--graph/snapshots/c1/onnx/model.onnx');
    leave('quern-open-old', 7200);
    leave('quern-open-new', 60);
    const session = await openSession(path, { threads: 1, provider: 'cpu' });
    const { y } = await session.run({ x: { type: 'float32', dims: [2], data: Float32Array.of(1, 1) } });
    assert.deepEqual([...y!.data], [2, 3]);
    await session.close();
    assert.deepEqual(leftFolders(), ['quern-open-new']);
  });

  it('says that it must be writable for such a graph', async () => {
    rmSync(join(stage.cache, '.locks'), { recursive: true });
    put('.locks', 'in the way');
    const path = join(stage.cache, 'models--org--graph/snapshots/c1/onnx/model.onnx');
    await assert.rejects(openSession(path, { threads: 1, provider: 'cpu' }), { code: 'InvalidModelFile', message: /must be writable/ });
    rmSync(join(stage.cache, '.locks'));
  });

  it('has no weights read through a link in the place of a folder of blobs', async () => {
    put('archive/models--x/snapshots/c1/model.onnx', GRAPH);
    put('outside/w', new Uint8Array(8));
    symlinkSync('../../outside', join(stage.cache, 'archive/models--x/blobs'));
    symlinkSync('../../blobs/w', join(stage.cache, 'archive/models--x/snapshots/c1/model.onnx_data'));
    const path = join(stage.cache, 'archive/models--x/snapshots/c1/model.onnx');
    await assert.rejects(openSession(path, { threads: 1, provider: 'cpu' }), /a link to the outside/);
  });

  it('refuses links that lead past it', async () => {
    put('elsewhere/secret.gguf', 'GGUF');
    mkdirSync(join(stage.cache, 'models--org--sly/snapshots/c1'), { recursive: true });
    symlinkSync('../../../elsewhere/secret.gguf', join(stage.cache, 'models--org--sly/snapshots/c1/secret.gguf'));
    await assert.rejects(findGguf('org/sly', places), { code: 'ModelNotFound' });
  });

  it('removes a model whose folder is a link to another disk', async () => {
    put('other-disk/moved/blobs/e7', bytesOf(512));
    put('other-disk/moved/refs/main', 'c1');
    mkdirSync(join(stage.cache, 'other-disk/moved/snapshots/c1'), { recursive: true });
    symlinkSync('../../blobs/e7', join(stage.cache, 'other-disk/moved/snapshots/c1/m.gguf'));
    symlinkSync('other-disk/moved', join(stage.cache, 'models--org--moved'));
    assert.match((await findGguf('org/moved', places)).weights[0], /m\.gguf$/);
    symlinkSync('other-disk/moved', join(stage.cache, 'models--org--second'));
    const real = realpathSync(join(stage.cache, 'models--org--moved/snapshots'));
    for (const key of [`llm:${real}/c1/m.gguf`, 'llm:org/second'])
      await assert.rejects(
        stage.hub().remove('org/moved', () => [key]),
        { code: 'ModelInUse' },
      );
    rmSync(join(stage.cache, 'models--org--second'));
    assert.equal((await stage.hub().remove('org/moved', () => [])).freedBytes, 512);
    assert.deepEqual(readdirSync(join(stage.cache, 'other-disk/moved')), []);
    assert.equal(readdirSync(stage.cache).includes('models--org--moved'), false);
  });

  it('removes of a link to the folder of another repository the link alone', async () => {
    share('org/big', 'm.gguf', V, 'e5', bytesOf(64));
    symlinkSync('models--org--big', join(stage.cache, 'models--org--alias'));
    assert.match((await findGguf('org/alias', places)).weights[0], /m\.gguf$/);
    const { freedBytes, revisions } = await stage.hub().remove('org/alias', () => ['llm:org/big']);
    assert.deepEqual([freedBytes, revisions], [0, 0]);
    assert.match((await findGguf('org/big', places)).weights[0], /m\.gguf$/);
    assert.equal(readdirSync(stage.cache).includes('models--org--alias'), false);
    await stage.hub().remove('org/big', () => []);
  });

  it('gives back what a removed model alone had, and keeps what another has', async () => {
    const hub = stage.hub();
    const stored = (name: string): boolean => existsSync(join(stage.cache, 'blobs', name.slice(0, 2), name));
    assert.equal((await hub.remove('org/chat', () => [])).freedBytes, 0);
    assert.equal(stored(X), true);
    assert.match((await findGguf('org/copy', places)).weights[0], /same\.gguf$/);
    assert.equal((await hub.remove('org/copy', () => [])).freedBytes, 2048);
    assert.deepEqual(readdirSync(join(stage.cache, 'blobs', X.slice(0, 2))), [`${X}.refs`]);
    writeFileSync(join(stage.cache, 'blobs', Y.slice(0, 2), `${Y}.refs`), 'models--org--graph/blobs/e3\nmodels--org--other/blobs/e9\n');
    mkdirSync(join(stage.cache, 'models--org--other/blobs'), { recursive: true });
    symlinkSync(`../../blobs/${Y.slice(0, 2)}/${Y}`, join(stage.cache, 'models--org--other/blobs/e9'));
    assert.equal((await hub.remove('org/graph', () => [])).freedBytes, 8);
    assert.deepEqual([stored(Y), stored(Z)], [true, false]);
  });

  /** Whether a file of the store is there when the one repository with a link to it is removed; its list is replaced before. */
  const isKept = async (list: string | null): Promise<boolean> => {
    share('org/one', 'm.gguf', V, 'e5', bytesOf(64));
    if (list === null) rmSync(join(stage.cache, `blobs/ee/${V}.refs`));
    else put(`blobs/ee/${V}.refs`, list);
    const { freedBytes } = await stage.hub().remove('org/one', () => []);
    const kept = existsSync(join(stage.cache, 'blobs/ee', V));
    assert.equal(freedBytes, kept ? 0 : 64);
    return kept;
  };

  it('keeps what may have another link', async () => {
    mkdirSync(join(stage.cache, 'kernels--org--k/blobs'), { recursive: true });
    mkdirSync(join(stage.cache, 'own'), { recursive: true });
    mkdirSync(join(stage.cache, 'models--org--loop'));
    for (const link of ['kernels--org--k/blobs/e6', 'own/e6']) symlinkSync(join(stage.cache, 'blobs/ee', V), join(stage.cache, link));
    symlinkSync('blobs', join(stage.cache, 'models--org--loop/blobs'));
    assert.equal(await isKept(null), true);
    assert.equal(await isKept('kernels--org--k/blobs/e6\n'), true);
    assert.equal(await isKept('models--org--loop/blobs/e6\n'), true);
    // No client makes such a line.
    assert.equal(await isKept('own/e6\n'), false);
    put(MARKER, '2\n');
    assert.equal(await isKept(''), true);
    put(MARKER, '1\n');
    renameSync(join(stage.cache, 'blobs'), join(stage.cache, 'elsewhere/blobs'));
    symlinkSync('elsewhere/blobs', join(stage.cache, 'blobs'));
    assert.equal(await isKept(''), true);
    rmSync(join(stage.cache, 'blobs'));
    renameSync(join(stage.cache, 'elsewhere/blobs'), join(stage.cache, 'blobs'));
    assert.equal(await isKept(''), false);
  });

  it('puts a file back to which a link is made meanwhile', async () => {
    mkdirSync(join(stage.cache, 'models--org--late/blobs'), { recursive: true });
    let isMade = false;
    const watch = (): void => {
      isMade = readdirSync(join(stage.cache, 'blobs/ee')).some((name) => name.endsWith('.quern.incomplete'));
      if (isMade) symlinkSync(`../../blobs/ee/${V}`, join(stage.cache, 'models--org--late/blobs/e9'));
      else watching = setImmediate(watch);
    };
    mkdirSync(join(stage.cache, 'blobs/ee'), { recursive: true });
    let watching = setImmediate(watch);
    const others = Array.from({ length: 200 }, (_, index) => `models--org--gone/blobs/${index}\n`).join('');
    const kept = await isKept(`${others}models--org--late/blobs/e9\n`);
    clearImmediate(watching);
    assert.deepEqual([isMade, kept], [true, true]);
    rmSync(join(stage.cache, 'models--org--late'), { recursive: true });
  });

  it('has what a removal or an opening left behind taken after an hour', async ({ mock }) => {
    put(`blobs/ee/${V}.00c0ffee.quern.incomplete`, 'left');
    leave('quern-open-old', 7200);
    assert.equal(await isKept(''), false);
    assert.deepEqual(readdirSync(join(stage.cache, 'blobs/ee')), [`${V}.00c0ffee.quern.incomplete`, `${V}.refs`]);
    assert.equal(leftFolders().includes('quern-open-old'), false);
    mock.timers.enable({ apis: ['Date'], now: Date.now() + 7_200_000 });
    assert.equal(await isKept(''), false);
    assert.deepEqual(readdirSync(join(stage.cache, 'blobs/ee')), [`${V}.refs`]);
  });
});
