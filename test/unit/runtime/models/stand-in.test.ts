import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Encoders } from '../../../../runtime/encoders/encoders.js';
import { Models } from '../../../../runtime/models/residency/models.js';
import { tinyPath } from '../../../support/models/cache.js';
import { writeEncoder } from '../../../support/models/tiny-encoders.js';

const never = new AbortController().signal;
const root = mkdtempSync(join(tmpdir(), 'quern-stand-in-'));
const repository = join(root, 'hub', 'models--org--tiny');

after(() => rmSync(root, { recursive: true }));

/** Puts a file of a revision into the cache, as a pull does. */
function pulled(revision: string, name: string, blob: string): void {
  const snapshot = join(repository, 'snapshots', revision);
  for (const folder of [snapshot, join(repository, 'blobs'), join(repository, 'refs')]) mkdirSync(folder, { recursive: true });
  copyFileSync(tinyPath(), join(repository, 'blobs', blob));
  symlinkSync(join('..', '..', 'blobs', blob), join(snapshot, name));
  writeFileSync(join(repository, 'refs', 'main'), revision);
}

describe('a file that stands in for another quantisation', () => {
  const models = new Models({ dataDir: root, places: { hub: join(root, 'hub') } });
  after(() => models.close());
  const acquire = () => models.acquire('org/tiny:Q4_K_M', { n_ctx: 512, n_slots: 1 }, never);

  it('answers until the wanted one is there, and then no more', async () => {
    pulled('one', 'tiny-Q8_0.gguf', 'aaa');
    const before = await acquire();
    assert.equal(basename(before.model.info.path), 'tiny-Q8_0.gguf');
    assert.match(before.model.info.notes.join(), /Q4_K_M/);
    pulled('one', 'tiny-Q4_K_M.gguf', 'bbb');
    const now = await acquire();
    assert.equal(basename(now.model.info.path), 'tiny-Q4_K_M.gguf');
    assert.doesNotMatch(now.model.info.notes.join(), /Q4_K_M/);
    assert.equal(now.key, before.key);
    assert.equal((await before.model.countTokens(['a'])).length, 1, 'who uses the other one keeps it');
    before.release();
    now.release();
    assert.equal(models.loaded().length, 1);
  });

  it('stays loaded when another revision has the same file', async () => {
    const [{ pid } = {}] = models.loaded();
    pulled('two', 'tiny-Q4_K_M.gguf', 'bbb');
    const again = await acquire();
    assert.equal(models.loaded()[0]?.pid, pid);
    again.release();
  });
});

describe('a graph that stands in for another format', () => {
  const models = new Models({ dataDir: root, places: { hub: join(root, 'hub') } });
  after(() => models.close());

  it('is left for the wanted one when that is there', async () => {
    const place = join(root, 'models', 'tiny', 'embedder');
    writeEncoder(place, { head: 'vectors', pooling: 'mean' });
    // Each looks for the files anew.
    const embed = () => new Encoders({ models }).embed({ model: 'tiny/embedder:INT8', signal: never }, ['a dog']);
    await embed();
    const [{ pid } = {}] = models.loaded();
    assert.match(models.loaded()[0]!.status.notes.join(), /INT8/);
    await embed();
    assert.equal(models.loaded()[0]!.pid, pid);
    copyFileSync(join(place, 'onnx/model.onnx'), join(place, 'onnx/model_int8.onnx'));
    await embed();
    assert.deepEqual([models.loaded().length, models.loaded()[0]!.pid === pid], [1, false]);
    assert.doesNotMatch(models.loaded()[0]!.status.notes.join(), /INT8/);
  });
});
