import assert from 'node:assert/strict';
import {
  type Body,
  cosine,
  EMBEDDER,
  isUnit,
  lengthOf,
  mended,
  post,
  refused,
  seen,
  TEXTS_LIMIT,
  vectorsOf,
} from '../../support/encoders-stage.js';
import type { Scenario } from '../../support/scenario.js';
import { near } from './reranking.js';

/** Rows on vectors of texts, at one path. */
export const embeddings = (path: string): Scenario[] => [
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat', 'a ship in the harbour'] },
    {
      name: `35 ${path}: two texts make two items with their index`,
      json: (body: Body) => {
        assert.deepEqual([body.object, body.model, body.data.length], ['list', EMBEDDER, 2]);
        assert.deepEqual(
          body.data.map((row: Body) => [row.object, row.index, row.embedding.length]),
          [
            ['embedding', 0, 64],
            ['embedding', 1, 64],
          ],
        );
        for (const vector of vectorsOf(body)) isUnit(vector);
        // [CLS] the cat sat on the mat [SEP], and [CLS] a ship in the harbour [SEP].
        assert.deepEqual(body.usage, { prompt_tokens: 15, total_tokens: 15 });
        seen[path] = vectorsOf(body);
      },
    },
  ),
  post(
    path,
    { model: EMBEDDER, input: 'a ship in the harbour' },
    { name: `35 ${path}: one text makes one item`, json: (body: Body) => near(vectorsOf(body), [seen[path]![1]!]) },
  ),
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat'], encoding_format: 'base64' },
    {
      json: (body: Body) => {
        const bytes = Buffer.from(body.data[0].embedding, 'base64');
        const vector = Array.from({ length: bytes.length / 4 }, (_none, at) => bytes.readFloatLE(at * 4));
        near([vector], [seen[path]![0]!]);
      },
    },
  ),
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat'], dimensions: 16 },
    {
      name: `${path}: dimensions cuts and brings back to length 1`,
      json: (body: Body) => {
        const [vector] = vectorsOf(body);
        isUnit(vector!);
        const head = seen[path]![0]!.slice(0, 16);
        near([vector!], [head.map((value) => value / lengthOf(head))]);
      },
    },
  ),
  refused(path, { model: EMBEDDER, input: 'x', dimensions: 65 }, 422, ['dimensions is 65', '64 dimensions', '"dimensions"']),
  refused(path, { model: EMBEDDER, input: [] }, 422, ['input', 'fewer than 1']),
  post(path, { model: EMBEDDER, input: '' }, { json: (body: Body) => isUnit(vectorsOf(body)[0]!) }),
  post(
    path,
    { model: EMBEDDER, input: 'word '.repeat(5000) },
    {
      name: `${path}: a text longer than the model is cut`,
      json: (body: Body) => assert.equal(body.usage.prompt_tokens, 128),
    },
  ),
  post(
    path,
    { model: EMBEDDER, input: 'the cat sat on the mat', max_length: 4 },
    { json: (body: Body) => assert.equal(body.usage.total_tokens, 4) },
  ),
  refused(path, { model: EMBEDDER, input: 'x', max_length: 2 }, 422, ['max_length is 2', '3 are the least']),
  post(path, { model: EMBEDDER, input: 'x', extra_body: null }),
  post(path, { model: EMBEDDER, input: 'x', extra_body: { n_threads: 1, n_ctx: 512 } }),
  refused(path, { model: EMBEDDER, input: 'x', extra_body: { n_ctx: -3 } }, 422, ['extra_body', 'n_ctx']),
  post(
    path,
    { model: EMBEDDER, input: ['the cat sat on the mat', 'a ship in the harbour', 'tea'], transformers: { batch_size: 1 } },
    {
      name: `${path}: one text at a time`,
      json: (body) =>
        assert.ok(
          vectorsOf(body)
            .slice(0, 2)
            .every((one, at) => cosine(one, seen[path]![at]!) > 0.9999),
        ),
    },
  ),
  refused(path, { model: EMBEDDER, input: ['x'], transformers: { batch_size: 0 } }, 422, ['batch_size'], `${path}: a batch of none`),
  refused(path, { model: EMBEDDER, input: [1, 2, 3] }, 422, ['input[0] is a token id', 'Send texts']),
  refused(path, { model: EMBEDDER, input: ['x', [1, 2]] }, 422, ['input[1] is a list of token ids']),
  refused(path, { model: EMBEDDER, input: { a: 1 } }, 422, ['input']),
  refused(path, { model: EMBEDDER, input: null }, 422, ['input']),
  refused(path, { model: EMBEDDER }, 422, ['input']),
  refused(path, { input: 'x' }, 422, ['model']),
  refused(path, { model: 7, input: 'x' }, 422, ['model']),
  refused(path, { model: EMBEDDER, input: 'x', encoding_format: 'hex' }, 422, ['encoding_format']),
  refused(path, { model: EMBEDDER, input: 'x', dimensions: 0 }, 422, ['dimensions']),
  refused(path, { model: EMBEDDER, input: Array(TEXTS_LIMIT + 1).fill('x') }, 422, ['input', '10000'], `${path}: 10,001 texts`),
  refused(path, { model: EMBEDDER, input: 'x'.repeat(33 * 1024 * 1024) }, 413, ['33554432'], `${path}: a body over the limit`),
  refused(path, { model: 'no/model', input: 'x' }, 404, ['model_not_found', 'quern pull no/model']),
  refused(path, { model: 'no/model', input: [''] }, 404, ['quern pull no/model'], `${path}: an unknown model and an empty text`),
  refused(path, { model: '../etc/passwd', input: 'x' }, 400, ['InvalidModelName']),
  refused(path, { model: 'bad/empty', input: 'x' }, 404, ['no ONNX or GGUF file']),
  refused(path, { model: 'bad/graph', input: 'x' }, 422, ['model.onnx']),
  refused(path, { model: 'bad/tokenizer', input: 'x' }, 422, ['tokenizer.json']),
  refused(path, { model: 'bad/tokens', input: 'a dog' }, 422, ['tokenizer.json', 'bad/tokens', '99999']),
  post(
    path,
    { model: 'bad/tokens', input: 'a dog' },
    {
      name: `${path}: a mended tokenizer is read at the next request`,
      path: () => mended(path),
      json: (body: Body) => isUnit(vectorsOf(body)[0]!),
    },
  ),
  refused(path, { model: 'bad/parts', input: 'x' }, 422, ['encoder.onnx', 'decoder.onnx', 'model.onnx']),
  post(
    path,
    { model: 'tiny/gguf', input: ['the cat sat on the mat', 'a ship in the harbour'] },
    {
      name: `${path}: the same model as GGUF makes the same vectors`,
      json: (body: Body) => {
        for (const [at, vector] of vectorsOf(body).entries())
          assert.ok(cosine(vector, seen[path]![at]!) > 0.999, `cosine ${cosine(vector, seen[path]![at]!)}`);
        assert.equal(body.usage.prompt_tokens, 15);
      },
    },
  ),
  post(path, { model: 'tiny/embedder:INT8', input: 'x' }, { json: (body: Body) => assert.equal(body.model, 'tiny/embedder:INT8') }),
  post(
    path,
    { model: 'quern-lexical', input: ['the cat', 'the cat', 'a dog'] },
    {
      json: (body: Body) => {
        const [a, b, c] = vectorsOf(body);
        assert.deepEqual(a, b);
        assert.ok(cosine(a!, c!) < 0.9);
        assert.equal(body.usage.prompt_tokens, 6);
      },
    },
  ),
  post(path, { model: 'lexical', input: 'tea', dimensions: 64 }, { json: (body: Body) => assert.equal(vectorsOf(body)[0]!.length, 64) }),
  refused(path, { model: 'lexical', input: ['x', ' '] }, 422, ['input[1] is empty']),
  refused(path, { model: 'lexical', input: 'x', dimensions: 5000 }, 422, ['64 to 4096']),
];
