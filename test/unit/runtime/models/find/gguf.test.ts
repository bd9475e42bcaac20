import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ModelPlaces } from '../../../../../runtime/models/find/contract.js';
import { findGguf } from '../../../../../runtime/models/find/gguf.js';
import { hubCacheFolder } from '../../../../../runtime/models/find/hub-cache.js';
import { findLanguage } from '../../../../../runtime/models/find/language.js';
import { knownModels } from '../../../../../runtime/models/find/places.js';

describe('finding models', () => {
  let root = '';
  let places: ModelPlaces;
  const put = (path: string, text = 'GGUF'): string => {
    const whole = join(root, path);
    mkdirSync(dirname(whole), { recursive: true });
    writeFileSync(whole, text);
    return whole;
  };
  const link = (target: string, path: string): void => {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    symlinkSync(target, join(root, path));
  };
  before(() => {
    root = mkdtempSync(join(tmpdir(), 'quern-models-'));
    places = { folder: join(root, 'data', 'models'), builtIn: join(root, 'builtin'), hub: join(root, 'hub') };
    put('builtin/standin.gguf');
    put('data/models/mine-Q8_0.gguf');
    put('data/models/sub/deep.gguf');
    put('data/models/mine-imatrix.gguf');
    for (const quant of ['Q8_0', 'Q4_K_M', 'BF16-00001-of-00002', 'BF16-00002-of-00002']) put(`data/models/acme/tiny/tiny-${quant}.gguf`);
    put('data/models/acme/tiny/mmproj-F16.gguf');
    put('data/models/acme/tiny/tiny-imatrix.gguf');
    put('data/models/acme/matrix/imatrix.gguf');
    put('data/models/solo/solo-Q8_0.gguf');
    put('data/models/solo/BF16/solo-BF16-00001-of-00002.gguf');
    put('data/models/org/repo/repo-Q6_K.gguf');
    put('data/models/org/empty/config.json', '{}');
    put('data/models/org/config.json', '{}');
    put('data/models/vendor/stray-F16.gguf');
    put('data/models/vendor/small/small-Q4_K_M.gguf');
    put('outside/secret.gguf');
    link(join(root, 'outside'), 'data/models/way-out');
    link(join(root, 'outside'), 'data/models/acme/way-out');
    link(join(root, 'outside', 'secret.gguf'), 'data/models/acme/linked/linked.gguf');
    const repo = 'hub/models--org--repo';
    put(`${repo}/blobs/aaa`);
    put(`${repo}/refs/main`, 'new');
    link('../../blobs/aaa', `${repo}/snapshots/new/repo-Q8_0.gguf`);
    link('../../blobs/aaa', `${repo}/snapshots/old/repo-Q4_K_M.gguf`);
    link('../../blobs/absent', `${repo}/snapshots/new/repo-F16.gguf`);
    put(`${repo}/snapshots/new/repo-Q2_K.gguf`, '');
    put(`${repo}/snapshots/new/sub/repo-BF16-00001-of-00002.gguf`);
    put(`${repo}/snapshots/new/mmproj-F16.gguf`);
    put('hub/models--org--empty/snapshots/x/config.json', '{}');
    put('hub/models--org--cached/snapshots/new/cached-Q4_K_M.gguf');
  });
  after(() => rmSync(root, { recursive: true, force: true }));

  const found: [string, string, string, boolean][] = [
    ['standin', 'builtin/standin.gguf', 'built-in', false],
    ['standin:Q4_0', 'builtin/standin.gguf', 'built-in', true],
    ['mine-Q8_0', 'data/models/mine-Q8_0.gguf', 'file', false],
    ['mine-Q8_0.gguf', 'data/models/mine-Q8_0.gguf', 'file', false],
    ['sub/deep.gguf', 'data/models/sub/deep.gguf', 'file', false],
    ['acme/tiny', 'data/models/acme/tiny/tiny-Q4_K_M.gguf', 'folder', false],
    ['acme/tiny:q8_0', 'data/models/acme/tiny/tiny-Q8_0.gguf', 'folder', false],
    ['acme/tiny:BF16', 'data/models/acme/tiny/tiny-BF16-00001-of-00002.gguf', 'folder', false],
    ['acme/tiny:Q2_K', 'data/models/acme/tiny/tiny-Q4_K_M.gguf', 'folder', true],
    ['solo', 'data/models/solo/solo-Q8_0.gguf', 'folder', false],
    ['solo:BF16', 'data/models/solo/BF16/solo-BF16-00001-of-00002.gguf', 'folder', false],
    ['vendor', 'data/models/vendor/stray-F16.gguf', 'folder', false],
    ['vendor/small', 'data/models/vendor/small/small-Q4_K_M.gguf', 'folder', false],
    ['org/repo', 'data/models/org/repo/repo-Q6_K.gguf', 'folder', false],
    ['org/repo:Q4_K_M', 'hub/models--org--repo/snapshots/old/repo-Q4_K_M.gguf', 'hub', false],
    ['org/repo:q8_0', 'hub/models--org--repo/snapshots/new/repo-Q8_0.gguf', 'hub', false],
    ['org/repo:BF16', 'hub/models--org--repo/snapshots/new/sub/repo-BF16-00001-of-00002.gguf', 'hub', false],
    ['org/repo:F16', 'data/models/org/repo/repo-Q6_K.gguf', 'folder', true],
    ['org/repo:Q2_K', 'data/models/org/repo/repo-Q6_K.gguf', 'folder', true],
    ['org/cached:F16', 'hub/models--org--cached/snapshots/new/cached-Q4_K_M.gguf', 'hub', true],
  ];
  for (const [name, path, source, noted] of found) {
    it(`finds ${name}`, async () => {
      const model = await findGguf(name, places);
      assert.deepEqual([model.weights[0], model.source, model.notes.length > 0], [join(root, path), source, noted]);
      assert.deepEqual(await findLanguage(name, {}, places), model);
    });
  }

  it('finds absolute paths', async () => {
    assert.equal((await findGguf(join(root, 'outside', 'secret.gguf'), places)).source, 'file');
  });

  const absent: [string, RegExp][] = [
    ['org/absent', /hub.*models--org--absent.*quern pull org\/absent/],
    ['org/empty:Q8_0', /models--org--empty/],
    ['nothing', /standin/],
    ['acme/absent', /data\/models\/acme\/absent.*models--acme--absent/],
    ['acme/way-out', /data\/models\/acme\/way-out/],
    ['acme/linked', /data\/models\/acme\/linked/],
    ['acme/matrix', /data\/models\/acme\/matrix/],
    ['acme', /data\/models\/acme/],
    ['way-out', /data\/models\/way-out/],
    ['nothing.gguf', /data\/models\/nothing\.gguf/],
    ['/nowhere/x.gguf', /\/nowhere\/x\.gguf/],
  ];
  for (const [name, message] of absent) {
    it(`says where it looked for ${name}`, () =>
      assert.rejects(findGguf(name, places), { kind: 'not_found', code: 'ModelNotFound', message }));
  }

  for (const name of ['../outside/secret.gguf', 'sub/../../../outside/secret.gguf', 'way-out/secret.gguf']) {
    it(`does not follow ${name}`, () => assert.rejects(findGguf(name, places), { kind: 'bad_request' }));
  }

  it('lists what it knows', async () => {
    assert.deepEqual(await knownModels(places), [
      ...['standin', 'mine-Q8_0.gguf', 'org/cached', 'org/empty', 'org/repo'],
      ...['acme/tiny', 'solo', 'solo/BF16', 'sub', 'vendor', 'vendor/small'],
    ]);
    assert.deepEqual(await knownModels({ folder: '/no', builtIn: '/no', hub: '/no' }), []);
  });

  const hubs: [NodeJS.ProcessEnv, string][] = [
    [{ HF_HUB_CACHE: '/a', HF_HOME: '/b' }, '/a'],
    [{ HF_HOME: '/b' }, '/b/hub'],
    [{ XDG_CACHE_HOME: '/c' }, '/c/huggingface/hub'],
    [{ HF_HUB_CACHE: '~/a' }, join(homedir(), 'a')],
    [{ HF_HOME: '~' }, join(homedir(), 'hub')],
    [{ HF_HOME: 'b' }, resolve('b/hub')],
    [{ HF_HUB_CACHE: './a', HF_HOME: '/b' }, resolve('a')],
    [{ HUGGINGFACE_HUB_CACHE: '~/c' }, join(homedir(), 'c')],
    [{ XDG_CACHE_HOME: '~/c', HF_HOME: '' }, join(homedir(), 'c', 'huggingface', 'hub')],
    [{ HF_HUB_CACHE: '/~/a' }, '/~/a'],
  ];
  for (const [env, folder] of hubs) it(`looks for the hub cache in ${folder}`, () => assert.equal(hubCacheFolder(env), folder));
});
