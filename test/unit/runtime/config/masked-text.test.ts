import assert from 'node:assert/strict';
import { it } from 'node:test';
import { type FileText, maskedText, unmaskedText } from '../../../../runtime/config/masked-text.js';
import { Failure } from '../../../../schemas/errors.js';

const yaml = (text: string): FileText => ({ text, format: 'yaml' });
const complete = (sent: string, present: string): string => unmaskedText(sent, yaml(present), ['body', 'text']).text;

const TEXT = `# The desk.  password: canary-in-comment
version:   v1   # kept as it is
runtime:
  models:
    - &one
      name: "a # b"
      api_key: 'canary-quoted'   # who pays: accounting
      base_url: https://host.example/v1
    - <<: *one
      name: c
    - name: d
      api_key: |
        canary-block
      extra: {token: canary-flow, pin: "#1"}
`;

it('shows a text without its secrets, and all else as it was written', () => {
  const shown = maskedText(yaml(TEXT));
  assert.doesNotMatch(shown, /canary/);
  const hidden = TEXT.replace('canary-in-comment', '***')
    .replace("'canary-quoted'", '"***"')
    .replace('|\n        canary-block', '"***"')
    .replace('canary-flow', '"***"');
  assert.equal(shown, hidden);
});

it('puts the secrets back where their masks stayed', () => {
  const back = complete(maskedText(yaml(TEXT)).replace('kept as it is', 'changed').replace('name: d', 'name: d\n      model: x'), TEXT);
  assert.match(back, /canary-in-comment\nversion: {3}v1 {3}# changed\n/);
  assert.match(back, /api_key: "canary-quoted" {3}# who pays/);
  assert.match(back, /name: d\n {6}model: x\n {6}api_key: "canary-block\\n"\n {6}extra: \{token: "canary-flow", pin: "#1"\}/);
});

it('keeps a text without secrets byte by byte', () => {
  const text = '\uFEFFversion: v1\r\n# odd\r\nprompts:   [ {name: x} ]\r\n';
  assert.equal(maskedText(yaml(text)), text);
  assert.equal(complete(text, text), text);
});

it('refuses a mask that stands for nothing, or would go to another host', () => {
  for (const [sent, loc] of [
    ['runtime: {models: [{name: new, api_key: "***"}]}', ['body', 'text', 'runtime', 'models', 0, 'api_key']],
    [
      'runtime: {models: [{name: "a # b", api_key: "***", base_url: "https://thief.example"}]}',
      ['body', 'text', 'runtime', 'models', 0, 'api_key'],
    ],
  ] as const) {
    assert.throws(
      () => complete(sent, TEXT),
      (failure) =>
        failure instanceof Failure && failure.code === 'SecretMissing' && assert.deepEqual(failure.errors![0]!.loc, loc) === undefined,
    );
  }
});

it('shows files of other formats as YAML, and broken ones without what looks like a secret', () => {
  assert.equal(maskedText({ format: 'json', text: '{"runtime":{"api_key":"canary"}}' }), 'runtime:\n  api_key: "***"\n');
  assert.equal(maskedText({ format: 'toml', text: '[runtime]\napi_key = "canary"\n' }), 'runtime:\n  api_key: "***"\n');
  const broken = maskedText(yaml('version: [v1\napi_key: canary-broken\n'));
  assert.match(broken, /^version: \[v1\n/);
  assert.doesNotMatch(broken, /canary/);
});
