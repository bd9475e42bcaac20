import assert from 'node:assert/strict';
import { it } from 'node:test';
import { Decoder } from '../../../../../runtime/engines/causal/decoder.js';
import type { OnnxSession, TensorSlot } from '../../../../../runtime/engines/onnx/contract.js';

const slot = (name: string, dims: TensorSlot['dims'], type: TensorSlot['type'] = 'int64'): TensorSlot => ({ name, type, dims });
const PAST = ['key', 'value'].map((kind) => slot(`past_key_values.0.${kind}`, ['batch', 1, 'past', 1], 'float32'));
const TOKENS = slot('input_ids', ['batch', 'length']);

const graphs: [name: string, inputs: TensorSlot[], first: number, later: number, resumes: boolean][] = [
  ['one that keeps what it saw reads in pieces', [TOKENS, ...PAST], 128, 128, true],
  [
    'one of two branches reads much at first, then token by token',
    [TOKENS, slot('use_cache_branch', [1], 'bool'), ...PAST],
    1024,
    1,
    false,
  ],
  ['one for a single token reads no more', [slot('input_ids', ['batch', 1]), ...PAST], 1, 1, true],
  ['one that keeps nothing reads all', [TOKENS], Number.POSITIVE_INFINITY, Number.POSITIVE_INFINITY, false],
];
for (const [name, inputs, first, later, resumes] of graphs)
  it(`of graphs, ${name}`, () => {
    const session = { inputs, outputs: [slot('logits', ['batch', 'length', 9], 'float32')] } as unknown as OnnxSession;
    const decoder = new Decoder(session, { heads: 1, headSize: 1, vocabularySize: 9 });
    const { nothing } = decoder;
    assert.deepEqual([decoder.most(nothing), decoder.most({ ...nothing, length: 5 }), decoder.resumes], [first, later, resumes]);
  });
