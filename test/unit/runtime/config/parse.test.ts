import assert from 'node:assert/strict';
import { test } from 'node:test';
import { checkTree, MAX_PROJECT_FILE_BYTES, parseProjectText, Unparsable } from '../../../../runtime/config/parse.js';

function bomb(levels: number): string {
  let text = 'a0: &a0 [x,x,x,x,x,x,x,x,x]\n';
  for (let level = 1; level < levels; level += 1) {
    text += `a${level}: &a${level} [${Array.from({ length: 9 }, () => `*a${level - 1}`).join(',')}]\n`;
  }
  return text;
}

const REFUSED: { name: string; text: string; format?: 'json' | 'toml'; says: RegExp }[] = [
  { name: 'nothing', text: '', says: /it is empty/ },
  { name: 'white space', text: ' \n\t\n', says: /it is empty/ },
  { name: 'a comment only', text: '# nothing\n', says: /it is empty/ },
  { name: 'a list', text: '- a\n', says: /top level is not a set of keys/ },
  { name: 'broken YAML', text: 'a: [1, 2\nb: }', says: /not valid YAML: .*line \d/ },
  { name: 'a key given twice', text: 'a: 1\na: 2\n', says: /not valid YAML: Map keys must be unique/ },
  { name: 'a key given twice further in', text: 'a:\n  - {b: 1, b: 2}\n', says: /Map keys must be unique at line 2, column 12/ },
  { name: 'two documents', text: 'a: 1\n---\nb: 2\n', says: /not valid YAML/ },
  { name: 'an unknown alias', text: 'a: *b\n', says: /not valid YAML/ },
  { name: 'an alias bomb', text: bomb(12), says: /not valid YAML: Excessive alias count/ },
  { name: 'deep flow nesting', text: `a: ${'['.repeat(200_000)}`, says: /more than 64 levels/ },
  { name: 'deep compact lists', text: `a:\n  ${'- '.repeat(200_000)}x`, says: /more than 64 levels/ },
  {
    name: 'deep block nesting',
    text: Array.from({ length: 800 }, (_line, depth) => `${' '.repeat(depth)}k:\n`).join(''),
    says: /more than 64 levels/,
  },
  { name: 'deep explicit keys', text: '? '.repeat(100_000), says: /more than 64 levels/ },
  { name: 'nesting over the limit', text: `a: ${'['.repeat(70)}${']'.repeat(70)}`, says: /more than 64 levels/ },
  { name: 'a number that JSON lacks', text: 'a: .nan\n', says: /NaN, which is not finite/ },
  { name: '__proto__', text: '__proto__:\n  polluted: true\n', says: /"__proto__"/ },
  { name: 'too many bytes', text: `a: ${'x'.repeat(MAX_PROJECT_FILE_BYTES)}`, says: /larger than 1048576 bytes/ },
  { name: 'broken JSON', text: '{"a": ', format: 'json', says: /not valid JSON/ },
  {
    name: 'a broken table in TOML',
    text: 'a = 1\n[[x]\n',
    format: 'toml',
    says: /not valid TOML: expected end of table .* at line 2, column 5$/,
  },
  {
    name: 'TOML with words behind a value, unquoted',
    text: 'b = "canary" and more',
    format: 'toml',
    says: /^(?!.*canary).* at line 1, column \d+$/s,
  },
  { name: 'a key given twice in TOML', text: 'a = 1\na = 2\n', format: 'toml', says: /already defined table or value at line 2/ },
  { name: 'JSON __proto__', text: '{"__proto__": {}}', format: 'json', says: /"__proto__"/ },
];

for (const { name, text, format, says } of REFUSED) {
  test(`parse: refuses ${name}`, () => {
    assert.throws(
      () => parseProjectText(text, format ?? 'yaml'),
      (error) => error instanceof Unparsable && says.test(error.message),
    );
  });
}

test('parse: takes YAML with anchors, merge keys and any script', () => {
  const { value, document } = parseProjectText('base: &b {x: 1}\nmore:\n  <<: *b\n  y: 名前 é 😀 "@#$%^&*"\n', 'yaml');
  assert.deepEqual(value, { base: { x: 1 }, more: { x: 1, y: '名前 é 😀 "@#$%^&*"' } });
  assert.ok(document);
  assert.equal(({} as Record<string, unknown>).polluted, undefined);
});

test('parse: takes a map of very many keys', () => {
  const text = Array.from({ length: 20_000 }, (_, at) => `key_${at}: ${at}\n`).join('');
  assert.equal(Object.keys(parseProjectText(text, 'yaml').value).length, 20_000);
});

test('checkTree: refuses an object of more members than are allowed, at any depth', () => {
  const wide = Object.fromEntries(Array.from({ length: 2_001 }, (_, at) => [`key_${at}`, at]));
  checkTree({ a: [wide] });
  assert.throws(() => checkTree({ a: [wide] }, 2_000), /more than 2000 members/);
});

test('parse: takes JSON, also with a byte order mark', () => {
  assert.deepEqual(parseProjectText('\uFEFF{"a": [1]}', 'json'), { value: { a: [1] }, document: null });
});
