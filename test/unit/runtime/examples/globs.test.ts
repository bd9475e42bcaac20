import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, relative } from 'node:path';
import { after, describe, it } from 'node:test';
import { filesOf, nameBudget } from '../../../../runtime/examples/globs.js';

const root = mkdtempSync(join(tmpdir(), 'quern-globs-'));
const folder = join(root, 'own');
const LONG = `${'a'.repeat(240)}.txt`;
for (const path of [
  'own/a.md',
  'own/b.txt',
  'own/deep/c.md',
  'own/deep/er/d.md',
  'own/deep/er/(1)+.md',
  `own/long/${LONG}`,
  'other/e.md',
]) {
  mkdirSync(dirname(join(root, path)), { recursive: true });
  writeFileSync(join(root, path), path);
}
symlinkSync(join(root, 'other'), join(folder, 'linked'));

describe('patterns of manifests', () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  for (const [pattern, found] of Object.entries({
    'a.md': ['a.md'],
    '*.md': ['a.md'],
    '?.md': ['a.md'],
    '*': ['a.md', 'b.txt'],
    '*.{md,txt}': ['a.md', 'b.txt'],
    '{a,b}.{md,txt}': ['a.md', 'b.txt'],
    '{a.md': [],
    '**/*.md': ['a.md', 'deep/c.md', 'deep/er/(1)+.md', 'deep/er/d.md'],
    'deep/**': ['deep/c.md', 'deep/er/(1)+.md', 'deep/er/d.md'],
    'deep/**/d.md': ['deep/er/d.md'],
    'deep/*/d.md': ['deep/er/d.md'],
    '**/er/*': ['deep/er/(1)+.md', 'deep/er/d.md'],
    'deep/er/(1)+.md': ['deep/er/(1)+.md'],
    './deep//c.md': ['deep/c.md'],
    'linked/*': [],
    'linked/e.md': [],
    'nowhere/*': [],
    'examples/other/*.md': ['../other/e.md'],
    'long/*a*a*a*a*a*a*a*': [`long/${LONG}`],
    'long/*a*a*a*a*a*a*a*!': [],
  }))
    it(`${pattern} means ${found.join(' ') || 'nothing'}`, async () => {
      assert.deepEqual(
        (await filesOf(root, folder, pattern)).map(({ path }) => relative(folder, path)),
        found,
      );
    });

  for (const pattern of [
    '../other/e.md',
    '/etc/passwd',
    'a\\b',
    '',
    'examples/../../x',
    '*'.repeat(3) + '/*'.repeat(8),
    `${'{a,b}'.repeat(7)}`,
  ])
    it(`${JSON.stringify(pattern)} is refused`, async () => {
      await assert.rejects(filesOf(root, folder, pattern), { kind: 'bad_request' });
    });

  it('looks at no more names than it may', async () => {
    const budget = { ...nameBudget(), left: 2 };
    assert.equal((await filesOf(root, folder, '**', budget)).length <= 2, true);
    assert.deepEqual(await filesOf(root, folder, '**', budget), []);
  });
});
