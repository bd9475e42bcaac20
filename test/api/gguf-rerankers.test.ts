import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, truncateSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EncoderService } from '../../runtime/encoders/contract.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { writeTemplateRanker } from '../support/models/template-ranker.js';
import { writeGgufEncoder, writeTinyEncoders } from '../support/models/tiny-encoders.js';
import { openSomeServices } from '../support/services.js';

// In small letters: llama.cpp makes all letters of a WordPiece vocabulary small.
const DOCUMENTS = ['the ship sat in the harbour', 'tea is grown in a garden', 'the moon is yellow', 'the cat lives by the river'];
const QUERY = 'where is the ship';

const folder = mkdtempSync(join(tmpdir(), 'quern-rerankers-'));
let models: Models;
let outbound: Outbound;
let encoders: EncoderService;

/** An empty folder of the models folder. */
function place(name: string): string {
  const made = join(folder, 'models', name);
  mkdirSync(made, { recursive: true });
  return made;
}

before(() => {
  writeTinyEncoders(join(folder, 'models'));
  writeTemplateRanker(join(place('tiny/template'), 'template.F16.gguf'));
  writeGgufEncoder(join(place('tiny/segments'), 'segments.gguf'), { pooling: 'rank' });
  writeTemplateRanker(join(place('tiny/cut'), 'cut.F16.gguf'));
  truncateSync(join(folder, 'models/tiny/cut/cut.F16.gguf'), 40_000);
  models = new Models({ dataDir: folder, places: { hub: join(folder, 'no-hub') } });
  outbound = new Outbound();
  ({ encoders } = openSomeServices({ models, outbound }).here);
});

after(async () => {
  await models.close();
  await outbound.close();
  rmSync(folder, { recursive: true, force: true });
});

async function scoresOf(model: string, query: string, documents: readonly string[], maxLength?: number) {
  const settings = maxLength === undefined ? {} : { maxLength };
  return encoders.rerank({ model, settings, signal: AbortSignal.timeout(120_000) }, query, documents);
}

describe('GGUF rerankers', () => {
  it('give the scores and count the tokens of the same weights as ONNX', async () => {
    const [gguf, onnx] = [await scoresOf('tiny/gguf-ranker', QUERY, DOCUMENTS), await scoresOf('tiny/ranker', QUERY, DOCUMENTS)];
    assert.equal(gguf.tokens, onnx.tokens);
    assert.ok(Math.max(...onnx.scores) - Math.min(...onnx.scores) > 0.01, String(onnx.scores));
    for (const [at, score] of onnx.scores.entries())
      assert.ok(Math.abs(score - gguf.scores[at]!) < 2e-3, `${DOCUMENTS[at]}: ${score} ${gguf.scores[at]}`);
  });

  it('score each pair alike alone and among others', async () => {
    for (const model of ['tiny/gguf-ranker', 'tiny/template']) {
      const together = await scoresOf(model, QUERY, DOCUMENTS);
      for (const [at, document] of DOCUMENTS.entries()) {
        const alone = await scoresOf(model, QUERY, [document]);
        assert.ok(Math.abs(alone.scores[0]! - together.scores[at]!) < 1e-2, `${model} ${document}`);
      }
      assert.equal(new Set(together.scores).size, DOCUMENTS.length);
    }
  });

  it('cut what is longer than max_length, and still tell documents apart by their beginning', async () => {
    const long = DOCUMENTS.map((document) => `${document} ${'and the cat sat on the mat '.repeat(100)}`);
    for (const model of ['tiny/gguf-ranker', 'tiny/template']) {
      const { scores, tokens } = await scoresOf(model, QUERY, long, 64);
      assert.ok(tokens <= 64 * long.length && tokens > 40 * long.length, `${model}: ${tokens}`);
      assert.equal(new Set(scores).size, long.length);
      const both = await scoresOf(model, 'who lives by the river '.repeat(100), long, 64);
      assert.ok(both.tokens <= 64 * long.length, `${model}: ${both.tokens}`);
      assert.equal(new Set(both.scores).size, long.length, `${model}: no document is left out for a long query`);
    }
  });

  it('read control texts of a document as text, not as the end of the turn', async () => {
    const marked = await scoresOf('tiny/template', 'x', ['<|im_end|>']);
    const plain = await scoresOf('tiny/template', 'x', ['']);
    // Those of the template are one token each; as text they would be twenty more.
    assert.ok(plain.tokens < 30, String(plain.tokens));
    // As one control token it would be one token longer.
    assert.ok(marked.tokens >= plain.tokens + 4, `${marked.tokens} ${plain.tokens}`);
  });

  it('turn the probability of a head with a softmax into its logit', async () => {
    const { scores } = await scoresOf('tiny/template', QUERY, DOCUMENTS);
    assert.ok(scores.every(Number.isFinite));
    assert.ok(scores.some((score) => score < 0) || scores.some((score) => score > 1), `probabilities would lie between 0 and 1: ${scores}`);
  });

  const refusals: [model: string, kind: string, message: RegExp][] = [
    ['tiny/gguf', 'bad_request', /no ranking head/],
    ['tiny/segments', 'bad_request', /2 segments.*ONNX/],
    ['tiny/cut', 'invalid', /cut\.F16\.gguf/],
  ];
  for (const [model, kind, message] of refusals)
    it(`refuse ${model} with ${kind}`, async () => {
      await assert.rejects(scoresOf(model, QUERY, DOCUMENTS), (failure: { kind: string; message: string }) => {
        assert.equal(failure.kind, kind);
        assert.match(failure.message, message);
        return true;
      });
    });

  it('make no embeddings', async () => {
    const signal = AbortSignal.timeout(120_000);
    await assert.rejects(encoders.embed({ model: 'tiny/gguf-ranker', signal }, ['tea']), { message: /ranks pairs/ });
  });
});
