import assert from 'node:assert/strict';
import { it } from 'node:test';
import { openedGraphs } from '../../../../../runtime/engines/documents/graphs.js';

const rows: [what: string, name: string, files: string[], opened: string[]][] = [
  ['a layout model in one of its formats', 'org/layoutlm-base', ['onnx/model.onnx', 'onnx/model_fp16.onnx', 'onnx/model.onnx_data'], ['onnx/model.onnx']],
  ['a merged decoder instead of its parts', 'org/donut', ['encoder_model.onnx', 'decoder_model.onnx', 'decoder_with_past_model.onnx', 'decoder_model_merged.onnx'], ['encoder_model.onnx', 'decoder_model_merged.onnx']],
  ['a decoder in two', 'org/donut', ['onnx/encoder_model.onnx', 'onnx/decoder_with_past_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_model_q4.onnx'], ['onnx/encoder_model.onnx', 'onnx/decoder_model.onnx', 'onnx/decoder_with_past_model.onnx']],
  ['what is there of a model that is not whole', 'org/donut', ['decoder_model.onnx', 'README.md'], ['decoder_model.onnx']],
  ['nothing', 'org/layoutlm', ['encoder_model.onnx'], []],
]; // biome-ignore format: rows

for (const [what, name, files, opened] of rows)
  it(`a document model opens ${what}`, () => assert.deepEqual(openedGraphs(name, files), opened));
