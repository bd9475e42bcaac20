import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { test } from 'node:test';

const FOLDER = join(import.meta.dirname, '..', '..', '..', '..', 'models', 'tiny');

for (const table of ['pages', 'labelled', 'toolboxes'])
  test(`the hand-written ${table} of the built-in model's generator are sound`, (t) => {
    const { status, stdout, stderr, error } = spawnSync('python3', ['-B', '-m', `generate.${table}`], {
      cwd: FOLDER,
      encoding: 'utf8',
      timeout: 60_000,
    });
    if ((error as NodeJS.ErrnoException | undefined)?.code === 'ENOENT') return t.skip('there is no python3');
    assert.equal(status, 0, stdout + stderr);
  });
