import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EncoderClient } from '../../runtime/engines/onnx/client.js';
import { EncoderTokenizer } from '../../runtime/engines/onnx/tokenizer.js';
import { Circuit } from '../../runtime/hosts/circuit.js';

/** A folder that test/support/encoders/minilm.ts and reference.py have made. */
const FOLDER = process.env.QUERN_MINILM ?? '';
const skip = existsSync(join(FOLDER, 'reference.json'))
  ? false
  : 'QUERN_MINILM names no folder with all-MiniLM-L6-v2 and its reference.json (see test/support/encoders/minilm.ts)';
/** The model card's own example: likeness of the first sentence to the others. */
const CARD = ['That is a happy person', 'That is a happy dog', 'That is a very happy person', 'Today is a sunny day'];
const CARD_SCORES = [0.695, 0.943, 0.257];
const SAME = { 'model.onnx': 0.9999, 'model_int8.onnx': 0.995 };

interface Reference {
  readonly texts: string[];
  readonly ids: number[][];
  readonly vectors: number[][];
}

const readJson = (name: string): object => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as object;
const dot = (a: Float32Array, b: ArrayLike<number>): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

describe('all-MiniLM-L6-v2', { skip }, () => {
  const call = { signal: new AbortController().signal };
  const load = (file: string): Promise<EncoderClient> => {
    const files = { name: file, format: 'onnx' as const, model: join(FOLDER, 'onnx', file), folder: FOLDER, notes: [] };
    return EncoderClient.load({ task: 'embedding', files, options: { device: 'cpu' }, circuit: new Circuit(file) }, call.signal);
  };

  it('cuts texts into the tokens that Python cuts them into', () => {
    const { texts, ids } = readJson('reference.json') as Reference;
    const tokenizer = new EncoderTokenizer(readJson('tokenizer.json'), readJson('tokenizer_config.json'));
    assert.ok(texts.length >= 50);
    for (const [index, text] of texts.entries()) assert.deepEqual(tokenizer.single(tokenizer.body(text, 256), 256).ids, ids[index], text);
  });

  for (const [file, least] of Object.entries(SAME))
    it(`gives the vectors of Python, to a cosine of ${least}, from ${file}`, async () => {
      const { texts, vectors } = readJson('reference.json') as Reference;
      const client = await load(file);
      const own = await client.embed(texts, call);
      for (const [index, vector] of own.vectors.entries()) {
        const cosine = dot(vector, vectors[index]!);
        assert.ok(cosine >= least, `${cosine} for "${texts[index]}"`);
      }
      await client.close();
    });

  it('finds sentences as like as its card says', async () => {
    const client = await load('model.onnx');
    const { vectors } = await client.embed(CARD, call);
    for (const [index, score] of CARD_SCORES.entries()) assert.ok(Math.abs(dot(vectors[0]!, vectors[index + 1]!) - score) < 0.001);
    await client.close();
  });
});
