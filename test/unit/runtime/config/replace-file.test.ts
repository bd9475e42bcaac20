import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { fileFailure } from '../../../../runtime/base/durable-files.js';
import { backupsOf, MAX_BACKUPS, replaceFile } from '../../../../runtime/config/replace-file.js';

const root = mkdtempSync(join(tmpdir(), 'quern-write-'));
after(() => rmSync(root, { recursive: true, force: true }));

test('write: backups are dated in UTC, numbered on within a second, and limited to the newest', async () => {
  const path = join(root, 'a.yaml');
  const now = new Date('2026-03-29T02:30:05+02:00');
  for (let round = 0; round <= MAX_BACKUPS + 5; round += 1) await replaceFile(path, `${round}`, now);
  const names = await backupsOf(path);
  assert.equal(names.length, MAX_BACKUPS);
  assert.equal(names.at(-1), 'a.20260329_003005_025.yaml');
  assert.deepEqual(
    names.map((name) => Number(readFileSync(join(root, name), 'utf8'))),
    Array.from({ length: MAX_BACKUPS }, (_item, index) => index + 5),
  );
  assert.equal(readFileSync(path, 'utf8'), `${MAX_BACKUPS + 5}`);
});

test('write: a clock set back does not cost the newest backup', async () => {
  const path = join(root, 'b.yaml');
  for (let second = 0; second <= MAX_BACKUPS; second += 1)
    await replaceFile(path, `${second}`, new Date(Date.UTC(2026, 5, 1, 0, 0, second)));
  await replaceFile(path, 'last', new Date(0));
  const names = await backupsOf(path);
  assert.equal(names[0], 'b.19700101_000000.yaml');
  assert.equal(readFileSync(join(root, names[0]!), 'utf8'), `${MAX_BACKUPS}`);
});

test('write: a rename that fails leaves what was there and nothing else', async () => {
  const directory = join(root, 'c');
  mkdirSync(join(directory, 'target', 'content'), { recursive: true });
  await assert.rejects(replaceFile(join(directory, 'target'), 'text'));
  assert.deepEqual(readdirSync(directory), ['target']);
  writeFileSync(join(directory, 'file'), '');
  await assert.rejects(replaceFile(join(directory, 'file', 'below'), 'text'));
  assert.deepEqual(readdirSync(directory).sort(), ['file', 'target']);
});

test('write: a full disk and missing rights are told apart from other errors', () => {
  const of = (code: string): unknown => fileFailure(Object.assign(new Error(code), { code }), 'write x');
  for (const code of ['ENOSPC', 'EDQUOT', 'EFBIG']) assert.equal((of(code) as { status: number }).status, 507);
  for (const code of ['EACCES', 'EPERM', 'EROFS']) assert.equal((of(code) as { status: number }).status, 403);
  assert.equal((of('EIO') as { code: string }).code, 'EIO');
});
