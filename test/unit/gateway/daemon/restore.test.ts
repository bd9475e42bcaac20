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
    for (const [path, text] of [
      ['projects/p', 'old'],
      ['state/data.mdb', 'old'],
      ['only-old', 'old'],
      ['before-1/x', 'older'],
      ['quern.lock', 'held'],
      ['restore-ab/projects/p', 'new'],
      ['restore-ab/state/data.mdb', 'new'],
      ['restore-ab/only-new', 'new'],
      ['restore.json', JSON.stringify({ arriving: 'restore-ab', aside: 'before-2' })],
    ] as const) {
      mkdirSync(join(dataDir, path, '..'), { recursive: true });
      writeFileSync(join(dataDir, path), text);
    }
    isReached = isCutAt(number, () => finishRestore(dataDir));
    finishRestore(dataDir);
    finishRestore(dataDir);
    assert.deepEqual(
      readdirSync(dataDir).sort(),
      ['before-1', 'before-2', 'only-new', 'projects', 'quern.lock', 'state'],
      `cut at ${number}`,
    );
    for (const path of ['projects/p', 'state/data.mdb', 'only-new'])
      assert.equal(readFileSync(join(dataDir, path), 'utf8'), 'new', `cut at ${number}`);
    for (const path of ['projects/p', 'state/data.mdb', 'only-old'])
      assert.equal(readFileSync(join(dataDir, 'before-2', path), 'utf8'), 'old');
    rmSync(dataDir, { recursive: true });
  }
  assert.ok(number > 8, `only ${number} changes were cut`);
});
