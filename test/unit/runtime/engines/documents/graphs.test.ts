import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openedGraphs } from '../../../../../runtime/engines/documents/graphs.js';

const FORMATS = (graph: string): string[] => ['', '_fp16', '_q4'].map((format) => `onnx/${graph}${format}.onnx`);
const rows: [what: string, name: string, files: string[], opened: string[], wanted?: string][] = [
  ['a layout model in one of its formats', 'org/layoutlm-base', ['onnx/model.onnx', 'onnx/model_fp16.onnx', 'onnx/model.onnx_data'], ['onnx/model.onnx']],
  ['a merged decoder instead of its parts', 'org/donut', ['encoder_model.onnx', 'decoder_model.onnx', 'decoder_with_past_model.onnx', 'decoder_model_merged.onnx'], ['encoder_model.onnx', 'decoder_model_merged.onnx']],
  ['a decoder in two', 'org/donut', ['onnx/encoder_model.onnx', 'onnx/decoder_with_past_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_model_q4.onnx'], ['onnx/encoder_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_with_past_model.onnx']],
  ['what is there of a model that is not whole', 'org/donut', ['decoder_model.onnx', 'README.md'], ['decoder_model.onnx']],
  ['halves where nothing else is there', 'org/donut', ['onnx/encoder_model_fp16.onnx', 'onnx/decoder_model_merged_fp16.onnx'], ['onnx/encoder_model_fp16.onnx', 'onnx/decoder_model_merged_fp16.onnx']],
  ['a layout model of four bits', 'org/layoutlm', ['onnx/model_q4.onnx'], ['onnx/model_q4.onnx']],
  ['the named format', 'org/donut', [...FORMATS('encoder_model'), ...FORMATS('decoder_model_merged')], ['onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx'], 'Q4'],
  ['all graphs in the format that all have', 'org/donut', [...FORMATS('encoder_model'), 'onnx/decoder_model_merged_q4.onnx'], ['onnx/encoder_model_q4.onnx', 'onnx/decoder_model_merged_q4.onnx']],
  ['each as it is where they share no format', 'org/donut', ['encoder_model_fp16.onnx', 'decoder_model_merged_q4.onnx'], ['encoder_model_fp16.onnx', 'decoder_model_merged_q4.onnx']],
  ['nothing', 'org/layoutlm', ['encoder_model.onnx'], []],
]; // biome-ignore format: rows

for (const [what, name, files, opened, wanted = null] of rows)
  it(`a document model opens ${what}`, () => assert.deepEqual(openedGraphs(name, files, wanted), opened));

it('a document model is refused in a format that one of its graphs does not have', () => {
  const files = [...FORMATS('encoder_model'), 'onnx/decoder_model_merged.onnx'];
  assert.throws(() => openedGraphs('org/donut', files, 'Q4'), {
    kind: 'not_found',
    message: /no Q4.*decoder_model_merged\.onnx.*quern pull org\/donut:Q4/,
  });
});
