import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { TextTokenizer } from '../../../../../runtime/engines/onnx/text-tokenizer.js';

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
