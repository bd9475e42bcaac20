import assert from 'node:assert/strict';
import { copyFileSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Models } from '../../../../runtime/models/models.js';
import { tinyPath } from '../../../support/models/cache.js';

const never = new AbortController().signal;
const root = mkdtempSync(join(tmpdir(), 'quern-stand-in-'));
const repository = join(root, 'hub', 'models--org--tiny');

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
  after(async () => {
    await models.close();
    rmSync(root, { recursive: true });
  });
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
