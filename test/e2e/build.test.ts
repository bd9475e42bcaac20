import assert from 'node:assert/strict';
import { spawnSync } from 'node:child_process';
import { appendFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';

const ROOT = join(import.meta.dirname, '../../..');

describe('a build that cannot be made', () => {
  let tree: string;
  beforeEach(() => {
    tree = mkdtempSync(join(tmpdir(), 'quern-build-'));
    for (const name of ['scripts', 'schemas', 'package.json', 'package-lock.json'])
      cpSync(join(ROOT, name), join(tree, name), { recursive: true });
  });
  afterEach(() => rmSync(tree, { recursive: true, force: true }));

  const run = (script: string): { status: number | null; stderr: string } =>
    spawnSync(process.execPath, [join(tree, 'scripts', script)], { encoding: 'utf8', cwd: tree });

  it('says which packages are missing after a production install', () => {
    mkdirSync(join(tree, 'node_modules/lmdb'), { recursive: true });
    // Nothing that npm installed differs from the lock file.
    writeFileSync(join(tree, 'node_modules/.package-lock.json'), '{"packages":{}}');
    const { status, stderr } = run('start.mjs');
    assert.equal(status, 1);
    assert.match(stderr, /^quern: build\/bundle\/main\.js is not built, .*npm ci \(without --omit=dev\).*\n$/);
  });

  it('names the schema file that is no JSON', () => {
    symlinkSync(join(ROOT, 'node_modules'), join(tree, 'node_modules'));
    appendFileSync(join(tree, 'schemas/core/chat.json'), '}');
    const { status, stderr } = run('schemas.mjs');
    assert.equal(status, 1);
    assert.match(stderr, /^schemas\/core\/chat\.json: .+\n$/);
  });
});
