import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { after, test } from 'node:test';
import { containedPath, isName, liesInside, MAX_NAME_CHARACTERS, quote, requireName } from '../../../../runtime/base/names.js';
import { check } from '../../../../schemas/validate.js';

const root = mkdtempSync(join(tmpdir(), 'quern-names-'));
after(() => rmSync(root, { recursive: true, force: true }));

const GOOD = ['a', 'A1', '0', 'my-project', 'my_project', 'v1.2.3', 'a'.repeat(MAX_NAME_CHARACTERS), 'console', 'com', 'nully'];
const BAD = [
  '',
  '.',
  '..',
  '...',
  '.hidden',
  '-a',
  '_a',
  'a/b',
  'a\\b',
  '/etc',
  '//host/share',
  '\\\\host\\share',
  'C:',
  'C:\\x',
  'a:b',
  'a\0',
  '\0',
  'a\n',
  'a b',
  ' a',
  'a ',
  '../a',
  'a/..',
  'a/../../b',
  '..\\a',
  '%2e%2e',
  '%2e%2e%2f',
  '..%2f',
  '%00',
  '%252e%252e',
  'a..b',
  'a..',
  'a.',
  '․․',
  '．．',
  'раypal',
  'ﬁle',
  'é',
  '名',
  '😀',
  'a\u202eb',
  'a\u200b',
  '\ufeffa',
  'CON',
  'con',
  'nul',
  'NUL.txt',
  'aux.yaml',
  'com1',
  'LPT9.x',
  'prn',
  'a'.repeat(MAX_NAME_CHARACTERS + 1),
  '~',
  '~root',
  '$HOME',
  '*',
  '?',
  'a|b',
  'a;b',
  "a'b",
  'a"b',
  '<a>',
  'a\tb',
  'file:///etc/passwd',
  '....//',
  '..;/',
  '/..',
  './a',
  'a/./b',
]; // prettier-ignore

test('names: the allow-list takes ordinary names', () => {
  for (const name of GOOD) assert.equal(isName(name), true, name);
});

test('names: traversal, devices, control characters, look-alikes and long names are refused', () => {
  for (const name of BAD) assert.equal(isName(name), false, JSON.stringify(name));
  for (const value of [undefined, null, 1, {}, ['a']]) assert.equal(isName(value), false);
});

test('names: whatever is accepted stays one level below its root', () => {
  const alphabet = ['.', '..', '/', '\\', '\0', '%2e', '%2f', 'a', 'Z', '0', '-', '_', ':', ' ', '\u2024', '~', 'con', '\u202e', '\n'];
  let seed = 7;
  const next = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  let accepted = 0;
  for (let round = 0; round < 20_000; round += 1) {
    const name = Array.from({ length: 1 + next(6) }, () => alphabet[next(alphabet.length)]).join('');
    if (!isName(name)) {
      assert.throws(() => containedPath(root, name), { code: 'NotFound', status: 404 }, JSON.stringify(name));
      continue;
    }
    accepted += 1;
    assert.equal(relative(root, containedPath(root, name)), name);
    check('common#Name', name);
  }
  assert.ok(accepted > 100, `only ${accepted} accepted`);
});

test('names: a failure shows the value without its control characters and cut short', () => {
  assert.throws(() => requireName('project', '../\u0000x'), { kind: 'not_found', message: /There is no project "\.\.\/\\u0000x"/ });
  assert.ok(quote('x'.repeat(10_000)).length <= 82);
});

test('names: a symbolic link out of the root is refused, one that stays inside is not', () => {
  const top = join(root, 'links');
  mkdirSync(join(top, 'real'), { recursive: true });
  symlinkSync(tmpdir(), join(top, 'out'));
  symlinkSync(join(top, 'real'), join(top, 'in'));
  symlinkSync(join(root, 'absent'), join(top, 'dangling'));
  assert.throws(() => containedPath(top, 'out'), { code: 'NotFound' });
  assert.throws(() => containedPath(top, 'dangling'), { code: 'NotFound' });
  assert.equal(containedPath(top, 'in'), join(top, 'in'));
  assert.equal(liesInside(top, join(top, 'out')), false);
  assert.equal(liesInside(top, join(top, 'absent')), false);
  assert.equal(liesInside(realpathSync(top), top), true);
  // A sibling whose name merely starts alike is outside.
  mkdirSync(join(root, 'links2'));
  assert.equal(liesInside(top, join(root, 'links2')), false);
});
