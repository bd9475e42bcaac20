import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { configuredNormalizer, lowerCasing } from '../../../../../runtime/engines/tokenizers/open-tokenizer.js';
import { EncoderTokenizer } from '../../../../../runtime/engines/tokenizers/tokenizer.js';
import { wordPiece } from '../../../../support/models/writers/tokenizer-writer.js';

/** BERT's kind of vocabulary whose `tokenizer.json` lower-cases or not, and beside it these settings instead of the usual ones. */
function files(lowercase: boolean, settings: object): { tokenizer: object; config: object } {
  const { tokenizer } = wordPiece({ words: ['river', 'Anna', 'anna', 'é', '江'], modelMaxLength: 512 }, lowercase);
  return { tokenizer, config: { tokenizer_class: 'BertTokenizer', model_max_length: 512, ...settings } };
}
const tokensOf = (tokenizer: object, config: object, text: string): readonly string[] =>
  new EncoderTokenizer(tokenizer, config).body(text, 512).tokens;

describe('the normalizer of a tokenizer', () => {
  // The expectations are those of transformers 5.23.
  const cases: [string, boolean, object, string, string[]][] = [
    ['do_lower_case goes before lower case', true, { do_lower_case: false }, 'Anna', ['Anna']],
    ['do_lower_case goes before case', false, { do_lower_case: true }, 'Anna', ['anna']],
    ['accents go with the case', false, { do_lower_case: true, strip_accents: null }, 'É', ['e']],
    ['strip_accents is kept', false, { do_lower_case: true, strip_accents: false }, 'É', ['é']],
    ['strip_accents goes before none', false, { strip_accents: true }, 'é', ['e']],
    ['tokenize_chinese_chars', true, { tokenize_chinese_chars: false }, 'river江', ['[UNK]']],
    ['the fast class has them too', true, { tokenizer_class: 'BertTokenizerFast', do_lower_case: false }, 'Anna', ['Anna']],
    ["and BERT's relatives", false, { tokenizer_class: 'MPNetTokenizer', do_lower_case: true }, 'Anna', ['anna']],
    ['and a file that names no class', false, { tokenizer_class: undefined, do_lower_case: true }, 'Anna', ['anna']],
    [
      'the bare class has only tokenizer.json',
      true,
      { tokenizer_class: 'PreTrainedTokenizerFast', do_lower_case: false },
      'Anna',
      ['anna'],
    ],
    ['tokenize_chinese_chars as it is', true, {}, 'river江', ['river', '江']],
    ['what is not given stays (lower)', true, {}, 'Anna', ['anna']],
    ['what is not given stays (as written)', false, {}, 'Anna', ['Anna']],
    ['what is no boolean stays', true, { do_lower_case: 'no', strip_accents: 0, tokenize_chinese_chars: null }, 'Anna', ['anna']],
  ];
  for (const [name, lowercase, settings, text, tokens] of cases)
    it(`follows tokenizer_config.json: ${name}`, () => {
      const { tokenizer, config } = files(lowercase, settings);
      const given = JSON.stringify(tokenizer);
      assert.deepEqual(tokensOf(tokenizer, config, text), tokens);
      assert.equal(JSON.stringify(tokenizer), given, 'the files stay as they were read');
    });

  it('is as it is for tokenizers of other kinds', () => {
    for (const normalizer of [undefined, null, { type: 'NFC' }, { type: 'Sequence', normalizers: [{ type: 'BertNormalizer' }] }]) {
      const definition = { normalizer };
      assert.equal(configuredNormalizer(definition, { do_lower_case: true }), definition);
    }
  });

  it('brings texts to lower case first where it is to', () => {
    const { tokenizer, config } = files(false, { do_lower_case: false });
    assert.deepEqual(tokensOf(lowerCasing(tokenizer), config, 'Anna RIVER'), ['anna', 'river']);
    assert.deepEqual(tokensOf(lowerCasing({ ...tokenizer, normalizer: null }), config, 'Anna'), ['anna']);
  });
});
