import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { EncoderClient } from '../../runtime/engines/encoders/onnx/client.js';
import { EncoderTokenizer } from '../../runtime/engines/tokenizers/tokenizer.js';
import { CircuitBreaker } from '../../runtime/hosts/circuit-breaker.js';

/** A folder that test/support/encoders/minilm.ts and reference.py have made. */
const FOLDER = process.env.QUERN_MINILM ?? '';
const skip = existsSync(join(FOLDER, 'reference.json'))
  ? false
  : 'QUERN_MINILM names no folder with all-MiniLM-L6-v2 and its reference.json (see test/support/encoders/minilm.ts)';
/** The model card's own example: likeness of the first sentence to the others. */
const CARD = ['That is a happy person', 'That is a happy dog', 'That is a very happy person', 'Today is a sunny day'];
const CARD_SCORES = [0.695, 0.943, 0.257];
/** Of the questions, those whose answer is among the first five passages: 0.943 over the chunks of a database (docs/benchmarks.md). */
const LEAST_FOUND = 0.85;
const FIRST = 5;
const SAME = { 'model.onnx': 0.9999, 'model_int8.onnx': 0.995 };

interface Reference {
  readonly texts: string[];
  readonly ids: number[][];
  readonly vectors: number[][];
}

/** A question, the text that answers it and words of the passage that does. */
interface Asked {
  readonly question: string;
  readonly file: string;
  readonly says: string;
}

const TEXTS = new URL('../../../bench/', import.meta.url);
const plain = (text: string): string => text.replace(/[`*\s]+/g, ' ').toLowerCase();

/** The passages of the texts of everyday life, each a few sentences, and the questions to them, which use other words. */
function retrieval(): { passages: { file: string; text: string }[]; questions: Asked[] } {
  const questions = JSON.parse(readFileSync(new URL('questions-texts.json', TEXTS), 'utf8')) as Asked[];
  const passages = [...new Set(questions.map(({ file }) => file))].flatMap((file) =>
    readFileSync(new URL(`texts/${file}`, TEXTS), 'utf8')
      .split(/\n\s*\n/)
      .map((text) => ({ file, text: plain(text) })),
  );
  return { passages, questions };
}

const readJson = (name: string): object => JSON.parse(readFileSync(join(FOLDER, name), 'utf8')) as object;
const dot = (a: Float32Array, b: ArrayLike<number>): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);

describe('all-MiniLM-L6-v2', { skip }, () => {
  const call = { signal: new AbortController().signal };
  const load = (file: string): Promise<EncoderClient> => {
    const files = { name: file, format: 'onnx' as const, model: join(FOLDER, 'onnx', file), folder: FOLDER, notes: [] };
    return EncoderClient.load({ task: 'embedding', files, options: { device: 'cpu' }, circuit: new CircuitBreaker(file) }, call.signal);
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

  for (const file of Object.keys(SAME))
    it(`finds the passages that answer questions in other words, from ${file}`, async () => {
      const { passages, questions } = retrieval();
      const client = await load(file);
      const known = (
        await client.embed(
          passages.map(({ text }) => text),
          call,
        )
      ).vectors;
      const asked = (
        await client.embed(
          questions.map(({ question }) => question),
          call,
        )
      ).vectors;
      await client.close();
      const found = questions.filter(({ file: name, says }, at) => {
        const order = known.map((vector, index) => ({ index, score: dot(vector, asked[at]!) })).sort((a, b) => b.score - a.score);
        const first = order.slice(0, FIRST).map(({ index }) => passages[index]!);
        return first.some((passage) => passage.file === name && passage.text.includes(plain(says)));
      });
      assert.ok(questions.length >= 80 && passages.length >= 50);
      assert.ok(found.length >= LEAST_FOUND * questions.length, `${found.length} of ${questions.length}`);
    });

  it('finds sentences as like as its card says', async () => {
    const client = await load('model.onnx');
    const { vectors } = await client.embed(CARD, call);
    for (const [index, score] of CARD_SCORES.entries()) assert.ok(Math.abs(dot(vectors[0]!, vectors[index + 1]!) - score) < 0.001);
    await client.close();
  });
});
