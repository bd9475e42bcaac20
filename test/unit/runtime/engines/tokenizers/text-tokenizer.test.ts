import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TextTokenizer } from '../../../../../runtime/engines/tokenizers/text-tokenizer.js';
import { msToFail } from '../../../../support/processor-time.js';

const added = (id: number, content: string) => ({
  id,
  content,
  special: false,
  single_word: false,
  lstrip: false,
  rstrip: false,
  normalized: false,
});
const model = (vocab: Record<string, number>) => ({ type: 'BPE', vocab, merges: [], unk_token: null, byte_fallback: true });
const REPLACE = { type: 'Replace', pattern: { String: '\u2581' }, content: ' ' };
const STRIP = { type: 'Strip', content: ' ', start: 1, stop: 0 };
const sequence = (...decoders: object[]) => ({ type: 'Sequence', decoders });
const BYTE_LEVEL = { type: 'ByteLevel', add_prefix_space: false, trim_offsets: true, use_regex: true };

function open(decoder: object | null, vocab: Record<string, number>, tokens: object[] = []): TextTokenizer {
  const isByteLevel = decoder === BYTE_LEVEL;
  const definition = {
    version: '1.0',
    added_tokens: tokens,
    normalizer: null,
    pre_tokenizer: isByteLevel ? BYTE_LEVEL : null,
    post_processor: null,
  };
  return new TextTokenizer({ ...definition, decoder, model: model(vocab) }, {});
}

const textOf = (tokenizer: TextTokenizer, id: number): string => Buffer.from(tokenizer.bytes(id)).toString('utf8');

describe('the tokenizer of a model that writes text', () => {
  it('spells spaces of pieces and of added tokens alike', () => {
    const tokenizer = open(sequence(REPLACE), { '\u2581a': 0, '<0x0A>': 1, '\u2581\u2581\u2581': 2 }, [
      added(2, '\u2581\u2581\u2581'),
      added(3, '\n\n'),
    ]);
    assert.deepEqual(
      [0, 1, 2, 3].map((id) => textOf(tokenizer, id)),
      [' a', '\n', '   ', '\n\n'],
    );
  });

  it('spells bytes, but leaves tokens that are spelled otherwise as they are', () => {
    const tokenizer = open(BYTE_LEVEL, { '\u0120a': 0, '\u00c3\u00a4': 1, '<\u4e2d a>': 2 }, [added(3, '\u00e4 b')]);
    assert.deepEqual(
      [0, 1, 2, 3].map((id) => textOf(tokenizer, id)),
      [' a', '\u00e4', '<\u4e2d a>', '\u00e4 b'],
    );
  });

  const metaspace = (more: object) => ({ type: 'Metaspace', replacement: '\u2581', ...more });
  const firsts: [string, object | null, boolean][] = [
    ['a decoder that strips', sequence(REPLACE, { type: 'Fuse' }, STRIP), true],
    ['one that strips at the end', sequence(REPLACE, { ...STRIP, start: 0, stop: 1 }), false],
    ['marks before each text', metaspace({ prepend_scheme: 'always' }), true],
    ['marks as older files have them', metaspace({ add_prefix_space: true }), true],
    ['no marks before texts', metaspace({ prepend_scheme: 'never' }), false],
    ['bytes', BYTE_LEVEL, false],
    ['no decoder', null, false],
  ];
  for (const [name, decoder, drops] of firsts)
    it(`${drops ? 'drops' : 'keeps'} the first space: ${name}`, () => assert.equal(open(decoder, { a: 0 }).dropsFirstSpace, drops));
});

describe('a tokenizer.json with hostile patterns', () => {
  const REFUSED = { name: 'Failure', kind: 'invalid', message: /tokenizer\.json/ };
  /** Two seconds, or twelve where this process had no core in the first two. */
  const MOST_MS = 13_000;
  const CATASTROPHIC = { Regex: '^(a+)+$' };
  const split = { type: 'Split', pattern: CATASTROPHIC, behavior: 'Isolated', invert: false };
  const replace = (pattern: object, content: string): object => ({ type: 'Replace', pattern, content });
  const doubling = Array.from({ length: 40 }, () => replace({ String: 'a' }, 'aa'));
  const steps: [string, object][] = [
    ['a pre-tokenizer', { pre_tokenizer: split }],
    ['one of several pre-tokenizers', { pre_tokenizer: { type: 'Sequence', pretokenizers: [split] } }],
    ['a normalizer', { normalizer: replace(CATASTROPHIC, '') }],
    ['a normalizer that doubles texts', { normalizer: { type: 'Sequence', normalizers: doubling } }],
    ['a normalizer that makes much of each letter', { normalizer: replace({ String: 'a' }, 'b'.repeat(64 * 1024 * 1024)) }],
  ];
  const base = { version: '1.0', added_tokens: [], normalizer: null, pre_tokenizer: null, post_processor: null, decoder: null };
  for (const [name, step] of steps) {
    it(`is refused: ${name}`, () => {
      const tokenizer = new TextTokenizer({ ...base, model: model({ a: 0, b: 1 }), ...step }, {});
      assert.deepEqual([...tokenizer.encode('', false)], []);
      const ms = msToFail(() => tokenizer.encode(`${'a'.repeat(40)}b`, false), REFUSED);
      assert.ok(ms < MOST_MS, `it took ${ms} ms`);
    });
  }

  it('is refused for added tokens that a pattern chokes on, while it is opened', () => {
    const tokens = [{ ...added(2, `${'a'.repeat(40)}b`), normalized: true }];
    const definition = { ...base, added_tokens: tokens, normalizer: replace(CATASTROPHIC, ''), model: model({ a: 0, b: 1 }) };
    const ms = msToFail(() => new TextTokenizer(definition, {}), REFUSED);
    assert.ok(ms < MOST_MS, `it took ${ms} ms`);
  });

  it('does not touch sound ones', () => {
    const sound = { ...split, pattern: { Regex: '\\s+|[ab]' } };
    const tokenizer = new TextTokenizer({ ...base, model: model({ a: 0, b: 1 }), pre_tokenizer: sound }, {});
    assert.equal(tokenizer.encode('ab'.repeat(50_000), false).length, 100_000);
  });
});
