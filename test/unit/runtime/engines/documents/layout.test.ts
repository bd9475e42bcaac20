import assert from 'node:assert/strict';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { LayoutModel } from '../../../../../runtime/engines/documents/layout.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { floats, writeOnnx } from '../../../../support/models/writers/onnx-writer.js';
import { byteBpe } from '../../../../support/models/writers/tokenizer-writer.js';
import { node, writeFiles } from '../../../../support/vision/networks.js';

const VOCABULARY = { words: ['who', 'grinds', 'the', 'quern', 'mill'], modelMaxLength: 512 };
const BYTES = byteBpe(VOCABULARY);
const page = { width: 100, height: 100, channels: 3, data: new Uint8Array(30_000) } as const;
const words = ['the', 'quern'].map((text) => ({ text, x1: 0, y1: 0, x2: 0, y2: 0, confidence: 1 }));
/** Logit of a token that stands in the lower right corner, and of the answer. */
const [IN_CORNER, ANSWER] = [3, 5];

/** Answers with one word; every token that stands in the lower right corner takes away from how sure that is. Knows one segment. */
function answering(): Uint8Array {
  const { tokens } = BYTES;
  const starts = new Float32Array(tokens.length);
  starts[tokens.indexOf('Ġquern')] = ANSWER;
  return writeOnnx({
    nodes: [
      node('Cast', ['bbox'], 'places', { to: { int: 1 } }),
      node('ReduceMean', ['places'], 'far', { axes: { ints: [2] }, keepdims: { int: 0 } }),
      node('Mul', ['far', 'scale'], 'corners'),
      node('Gather', ['starts', 'input_ids'], 'known'),
      node('Gather', ['segments', 'token_type_ids'], 'none'),
      node('Add', ['known', 'corners'], 'both'),
      node('Add', ['both', 'none'], 'start_logits'),
      node('Identity', ['start_logits'], 'end_logits'),
    ],
    initializers: [floats('starts', [tokens.length], starts), floats('scale', [1], [IN_CORNER / 1000]), floats('segments', [1], [0])],
    inputs: [
      ...['input_ids', 'attention_mask', 'token_type_ids'].map((name) => ({ name, type: 'int64' as const, dims: ['batch', 'length'] })),
      { name: 'bbox', type: 'int64', dims: ['batch', 'length', 4] },
    ],
    outputs: ['start_logits', 'end_logits'].map((name) => ({ name, type: 'float32' as const, dims: ['batch', 'length'] })),
  });
}

/** How sure an answer is among so many tokens, of which some stand in the corner. */
const sureness = (tokens: number, inCorner: number): number =>
  Math.exp(ANSWER) / (Math.exp(ANSWER) + inCorner * Math.exp(IN_CORNER) + (tokens - 1 - inCorner));

async function asked(config: object, tokenizerConfig: object, prompt = 'who') {
  const folder = join(emptyDataDir(), 'layout');
  writeFiles(folder, {
    'model.onnx': answering(),
    'tokenizer.json': BYTES.tokenizer,
    'tokenizer_config.json': { ...BYTES.config, ...tokenizerConfig },
    'config.json': config,
  });
  const model = await LayoutModel.open(folder, ['model.onnx'], { threads: 1, provider: 'auto', shapesVary: true });
  return model.ask(page, { task: 'vqa', prompt, words, picture: { name: 'p' } });
}

describe('a layout model', () => {
  // Seven tokens: <s> who </s> </s> the quern </s>.
  const rows: [what: string, config: object, tokenizerConfig: object, inCorner: number][] = [
    ['of the first version has the tokens that end a text in the corner', { model_type: 'layoutlm' }, {}, 3],
    ['of the third version has them nowhere', { model_type: 'layoutlmv3' }, {}, 0],
    ['has them nowhere where its tokenizer is that of the third version', {}, { tokenizer_class: 'LayoutLMv3TokenizerFast' }, 0],
    ['has them where its tokenizer says', { model_type: 'layoutlmv3' }, { sep_token_box: [1000, 1000, 1000, 1000] }, 3],
    ['of the first version has them in the corner where its tokenizer says what is no place', {}, { sep_token_box: [-1, 0, 0, 5000] }, 3],
  ];
  for (const [what, config, tokenizerConfig, inCorner] of rows)
    it(what, async () => {
      const { answer, confidence } = await asked(config, tokenizerConfig);
      assert.equal(answer, 'quern');
      assert.ok(Math.abs(confidence - sureness(7, inCorner)) < 1e-5, `${confidence} is not ${sureness(7, inCorner)}`);
    });

  it('reads a question without its superfluous white space', async () => {
    const { confidence } = await asked({ model_type: 'layoutlmv3' }, {}, ' who \n  grinds\n');
    assert.ok(Math.abs(confidence - sureness(8, 0)) < 1e-5, String(confidence));
  });
});
