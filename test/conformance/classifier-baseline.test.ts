import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { EncoderService } from '../../runtime/encoders/contract.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { heldOutShares } from '../support/classifiers/held-out.js';
import { plainRegression } from '../support/classifiers/plain-regression.js';
import { TEXT_SETS, textSet } from '../support/classifiers/sets.js';
import { tfidfRegressionRight } from '../support/classifiers/tfidf-regression.js';
import { openSomeServices } from '../support/services.js';

/** A folder with the weights; see test/conformance/minilm.test.ts. */
const MINILM = process.env.QUERN_MINILM ?? '';
const without = existsSync(join(MINILM, 'onnx/model.onnx'))
  ? false
  : 'QUERN_MINILM names no folder with onnx/model.onnx of all-MiniLM-L6-v2';
/** `ties`: sentences of a set that may fall to the other side because a head stops at a gradient of 1e-4. `isDefault`: without a `base_model`. */
const EMBEDDERS = {
  'quern-tfidf': { skip: false, ties: 1, isDefault: true },
  'quern-lexical': { skip: false, ties: 0, isDefault: false },
  [MINILM]: { skip: without, ties: 0, isDefault: true },
};

describe('the plain logistic regression that classifiers are compared with', () => {
  it('is at the minimum of its objective', () => {
    // Two rows at right angles, two labels: by symmetry the weights are w and -w, and the gradient of log(1 + exp(-2 w)) + w^2 is 0.
    const vectors = [Float32Array.of(1, 0), Float32Array.of(0, 1)];
    const { weights, label } = plainRegression({ vectors, targets: [0, 1], classes: 2 });
    const w = weights[0]![0]!;
    for (const [at, value] of [w, -w].entries()) {
      assert.ok(Math.abs(weights[0]![at]! - value) < 1e-8);
      assert.ok(Math.abs(weights[1]![at]! + value) < 1e-8);
    }
    assert.ok(Math.abs(w - 1 / (1 + Math.exp(2 * w))) < 1e-8, `${w}`);
    assert.deepEqual([label(vectors[0]!), label(vectors[1]!), label(Float32Array.of(0.5, 0.4))], [0, 1, 0]);
  });
});

for (const [model, { skip, ties, isDefault }] of Object.entries(EMBEDDERS))
  describe(`classifiers against a plain logistic regression on the embeddings of ${model || 'all-MiniLM-L6-v2'}`, { skip }, () => {
    const folder = mkdtempSync(join(tmpdir(), 'quern-baseline-'));
    const outbound = new Outbound();
    const rightOfAll = { ours: 0, plain: 0, words: 0 };
    let models: Models;
    let encoders: EncoderService;
    before(() => {
      models = new Models({ dataDir: folder, places: { hub: join(folder, 'no-hub') } });
      ({ encoders } = openSomeServices({ models, outbound }).here);
    });
    after(async () => {
      await models.close();
      await outbound.close();
      rmSync(folder, { recursive: true, force: true });
    });

    for (const set of TEXT_SETS)
      for (const perLabel of [8, 16])
        it(`${set}, ${perLabel} sentences a label: never worse on the 200 held-out ones`, async (test) => {
          const { ours, plain, of, projected } = await heldOutShares(encoders, model, set, perLabel);
          test.diagnostic(`${ours} of ${of} right, plain ${plain}, projection ${projected}`);
          assert.equal(of, 200);
          const { train, heldOut } = textSet(set, perLabel);
          rightOfAll.ours += ours;
          rightOfAll.plain += plain;
          rightOfAll.words += tfidfRegressionRight(train, heldOut);
          // But for ties: where no projection helps, both are the same regression.
          assert.ok(ours >= plain - ties, `${ours} of ${of} right, plain ${plain}`);
        });

    it('never worse on all sets together', () => assert.ok(rightOfAll.ours >= rightOfAll.plain, JSON.stringify(rightOfAll)));

    it('not below TF-IDF of words with a logistic regression on all sets together', { skip: !isDefault }, (test) => {
      const { ours, words } = rightOfAll;
      test.diagnostic(`${ours} of 1600 right, TF-IDF of words ${words}`);
      assert.ok(ours >= words, `${ours} of 1600 right, TF-IDF of words ${words}`);
    });
  });
