import assert from 'node:assert/strict';
import fs, { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { syncBuiltinESMExports } from 'node:module';
import { join } from 'node:path';
import { it } from 'node:test';
import { finishRestore } from '../../../../gateway/daemon/backup/restore.js';
import { emptyDataDir } from '../../../support/daemon.js';

const CHANGES = ['mkdirSync', 'renameSync', 'rmSync'] as const;

/** Runs work in which the change of the disk with the given number fails, and all later ones; true where it was reached. */
function isCutAt(number: number, work: () => void): boolean {
  const originals = CHANGES.map((name) => fs[name]);
  let count = 0;
  for (const name of CHANGES) {
    const original = fs[name] as (...parameters: unknown[]) => unknown;
    Object.assign(fs, {
      [name]: (...parameters: unknown[]) => {
        count += 1;
        if (count >= number) throw new Error('cut');
        return original(...parameters);
      },
    });
  }
  syncBuiltinESMExports();
  try {
    work();
    return false;
  } catch (error) {
    assert.equal((error as Error).message, 'cut');
    return true;
  } finally {
    for (const [index, name] of CHANGES.entries()) Object.assign(fs, { [name]: originals[index] });
    syncBuiltinESMExports();
  }
}

it('a restore that is cut at any change of the disk is finished by the next start', () => {
  const folder = emptyDataDir();
  let number = 1;
  for (let isReached = true; isReached; number += 1) {
    const dataDir = join(folder, String(number));
    const mark = {
      arriving: 'restore-ab',
      aside: 'before-2',
      leaving: ['projects', 'state', 'only-old', 'models/anomaly'],
      coming: ['projects', 'state', 'only-new', 'models/anomaly', 'models/classifier'],
    };
    for (const [path, text] of [
      ...['projects/p', 'state/data.mdb', 'only-old', 'models/anomaly/a', 'models/own.gguf', 'logs/quern.log'].map(
        (old) => [old, 'old'] as const,
      ),
      ['before-1/x', 'older'],
      ['quern.lock', 'held'],
      ...['projects/p', 'state/data.mdb', 'only-new', 'models/anomaly/b', 'models/classifier/c'].map(
        (name) => [`restore-ab/${name}`, 'new'] as const,
      ),
      ['restore.json', JSON.stringify(mark)],
    ] as const) {
      mkdirSync(join(dataDir, path, '..'), { recursive: true });
      writeFileSync(join(dataDir, path), text);
    }
    isReached = isCutAt(number, () => finishRestore(dataDir));
    // What is no part of a backup comes meanwhile.
    mkdirSync(join(dataDir, 'uploads'), { recursive: true });
    finishRestore(dataDir);
    finishRestore(dataDir);
    const at = (path: string): string => readFileSync(join(dataDir, path), 'utf8');
    const entries = ['before-1', 'before-2', 'logs', 'models', 'only-new', 'projects', 'quern.lock', 'state', 'uploads'];
    assert.deepEqual(readdirSync(dataDir).sort(), entries, `cut at ${number}`);
    assert.deepEqual(readdirSync(join(dataDir, 'models')).sort(), ['anomaly', 'classifier', 'own.gguf']);
    for (const path of ['projects/p', 'state/data.mdb', 'only-new', 'models/anomaly/b', 'models/classifier/c'])
      assert.equal(at(path), 'new', `cut at ${number}`);
    for (const path of ['projects/p', 'state/data.mdb', 'only-old', 'models/anomaly/a'])
      assert.equal(at(`before-2/${path}`), 'old', `cut at ${number}`);
    rmSync(dataDir, { recursive: true });
  }
  assert.ok(number > 8, `only ${number} changes were cut`);
});
