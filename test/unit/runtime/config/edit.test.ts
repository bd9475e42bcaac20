import assert from 'node:assert/strict';
import { test } from 'node:test';
import { parse } from 'yaml';
import type { JsonObject } from '../../../../runtime/base/json.js';
import { editYaml, freshYaml } from '../../../../runtime/config/edit.js';
import { editLargeYaml } from '../../../../runtime/config/yaml-worker.js';

/** A parsed value whose shape the assertions tell. */
type Loose = ReturnType<typeof JSON.parse>;

const HAND_WRITTEN = `# My project
version: v1 # the only one

namespace: ns
name: "p"   # quoted by hand
runtime:
  # fast first
  models:
    - name: fast # the fast one
      provider: universal
      model: 'tiny'
    # then the careful one
    - name: careful
      provider: universal
      model: big
  default_model: fast
prompts:
  - name: greet
    messages:
      - role: system
        content: |
          Several
          lines.
`;

test('edit: what does not change keeps its comments, order and quoting', () => {
  const next = parse(HAND_WRITTEN) as Loose;
  next.runtime.models[0].model = 'tiny2';
  next.runtime.models[1].description = 'new';
  next.datasets = [];
  delete next.runtime.default_model;
  assert.equal(
    editYaml(HAND_WRITTEN, next),
    HAND_WRITTEN.replace('"p"   #', '"p" #')
      .replace("'tiny'", "'tiny2'")
      .replace('model: big\n', 'model: big\n      description: new\n')
      .replace('  default_model: fast\n', '') + 'datasets: []\n',
  );
});

test('edit: an unchanged configuration leaves every byte alone', () => {
  const odd = 'b:   1\na: {x:   2}\n\n\n# end\n';
  assert.equal(editYaml(odd, { a: { x: 2 }, b: 1 }), odd);
});

test('edit: list entries are followed by name', () => {
  const next = parse(HAND_WRITTEN) as Loose;
  next.runtime.models = [{ name: 'extra', provider: 'universal', model: 'e' }, next.runtime.models[1], next.runtime.models[0]];
  const out = editYaml(HAND_WRITTEN, next);
  assert.deepEqual(parse(out), next);
  assert.ok(out.includes('name: fast # the fast one') && out.includes('# then the careful one\n    - name: careful'), out);
});

test('edit: flush lists and other indents are kept', () => {
  const text = 'a:\n- name: x\n  v: 1\nb:\n    c: [1, 2]\n';
  assert.equal(editYaml(text, { a: [{ name: 'x', v: 2 }], b: { c: [1, 2] } }), 'a:\n- name: x\n  v: 2\nb:\n  c: [1, 2]\n');
});

const UNEDITABLE: { name: string; text: string }[] = [
  { name: 'an anchor whose content changes', text: 'a: &x {v: 1}\nb: *x\n' },
  { name: 'a merge key whose member goes', text: 'a: &x {v: 1, w: 2}\nb:\n  <<: *x\n' },
  { name: 'a file that does not parse', text: 'a: [\n' },
  { name: 'an empty file', text: '' },
  { name: 'a list', text: '- 1\n' },
];

for (const { name, text } of UNEDITABLE) {
  test(`edit: ${name} still ends up saying exactly what was asked`, () => {
    const next: JsonObject = { a: { v: 1 }, b: { v: 5 } };
    assert.deepEqual(parse(editYaml(text, next), { merge: true }), next);
  });
}

test('edit: text that YAML could take for something else survives', () => {
  const texts = [
    'yes',
    'null',
    '~',
    '1',
    '1e3',
    '0x1F',
    '',
    ' lead',
    'trail ',
    '# no comment',
    'a: b',
    '- x',
    '*a',
    '&a',
    '!t',
    '%d',
    '@x',
    '`x',
    '"q"',
    "'q'",
    'a\nb',
    'a\n',
    '\n',
    '\t',
    '{{v}}',
    '[x]',
    '<<',
    'é名😀',
    '@#$%^&*',
    '---',
    '...',
    'x'.repeat(500),
  ];
  const config: JsonObject = { texts, keys: Object.fromEntries(texts.map((text, index) => [`${text}${index}`, text])) };
  assert.deepEqual(parse(freshYaml(config)), config);
  assert.deepEqual(parse(editYaml('texts: [old] # c\nkeys: {}\n', config)), config);
});

test('edit: random changes to random trees always end up saying what was asked', () => {
  let seed = 3;
  const next = (below: number): number => {
    seed = (seed * 1103515245 + 12345) % 2147483648;
    return Math.floor((seed / 2147483648) * below);
  };
  const tree = (depth: number): unknown => {
    const kind = next(depth > 3 ? 4 : 7);
    if (kind === 0) return next(1000) / 8;
    if (kind === 1) return next(2) === 0;
    if (kind < 4) return ['x', 'two words', '# hash', 'a: b', '', 'line\nline'][next(6)];
    if (kind === 4) return Array.from({ length: next(4) }, () => tree(depth + 1));
    if (kind === 5) return Array.from({ length: next(4) }, (_item, index) => ({ name: `n${next(2)}${index}`, v: tree(depth + 1) }));
    return Object.fromEntries(Array.from({ length: next(5) }, () => [`k${next(6)}`, tree(depth + 1)]));
  };
  for (let round = 0; round < 500; round += 1) {
    const before = { top: tree(0), other: tree(0) };
    const after = { top: tree(0), [`o${next(2)}`]: tree(0), other: next(2) ? before.other : tree(0) } as JsonObject;
    assert.deepEqual(parse(editYaml(freshYaml(before), after)), after);
  }
});

test('edit: a large file is edited in the same way, in a worker, several at once', async () => {
  const text = `# top\na: 1 # one\nb: ${'x'.repeat(50_000)}\n`;
  const edits = await Promise.all([2, 3, 4].map((a) => editLargeYaml(text, { a, b: 'y' })));
  assert.deepEqual(edits, ['# top\na: 2 # one\nb: y\n', '# top\na: 3 # one\nb: y\n', '# top\na: 4 # one\nb: y\n']);
});
