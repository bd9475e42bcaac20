import assert from 'node:assert/strict';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ClassifierService, FitAsk } from '../../runtime/ml/classifiers/contract.js';
import { Models } from '../../runtime/models/residency/models.js';
import { Outbound } from '../../runtime/net/outbound.js';
import { TEXT_SETS, textSet } from '../support/classifiers/sets.js';
import { openSomeServices } from '../support/services.js';

/** A folder with the weights; see test/conformance/minilm.test.ts. */
const MINILM = process.env.QUERN_MINILM ?? '';
const skip = existsSync(join(MINILM, 'onnx/model.onnx')) ? false : 'QUERN_MINILM names no folder with onnx/model.onnx of all-MiniLM-L6-v2';
const PER_LABEL = [8, 16] as const;
/** Share of the 200 held-out sentences that must get their label, after training on 8 and 16 sentences a label; what was measured is 0.02 to 0.04 more. */
const LEAST = {
  tfidf: { intents: [0.81, 0.9], sentiment: [0.54, 0.54], topics: [0.4, 0.43], languages: [0.87, 0.92] },
  lexical: { intents: [0.72, 0.77], sentiment: [0.54, 0.52], topics: [0.35, 0.37], languages: [0.51, 0.6] },
  minilm: { intents: [0.95, 0.96], sentiment: [0.79, 0.8], topics: [0.9, 0.94], languages: [0.91, 0.93] },
} as const;

const folder = mkdtempSync(join(tmpdir(), 'quern-quality-'));
const signal = new AbortController().signal;
let models: Models;
let outbound: Outbound;
let classifiers: ClassifierService;
const measured: Record<string, number> = {};

before(() => {
  models = new Models({ dataDir: folder, places: { hub: join(folder, 'no-hub') } });
  outbound = new Outbound();
  classifiers = openSomeServices({ dataDir: folder, models, outbound }).here.classifiers;
});
after(async () => {
  await models.close();
  await outbound.close();
  rmSync(folder, { recursive: true, force: true });
});

/** The share of held-out sentences that get their label, and what the fit said. */
async function accuracy(set: (typeof TEXT_SETS)[number], perLabel: number, baseModel: string) {
  const { train, heldOut } = textSet(set, perLabel);
  const ask: FitAsk = { model: 'quality', baseModel, examples: train, iterations: 20, batchSize: 16, seed: 42, overwrite: true };
  const { quality, projected } = await classifiers.fit(ask, signal);
  const texts = heldOut.map(({ text }) => text);
  const { labels, probabilities } = await classifiers.predict('quality', texts, signal);
  const right = heldOut.filter(({ label }, at) => {
    const own = probabilities.subarray(at * labels.length, (at + 1) * labels.length);
    return labels[own.indexOf(Math.max(...own))] === label;
  });
  assert.equal(heldOut.length, 200);
  return { share: right.length / heldOut.length, quality: quality!, projected };
}

const suites = {
  tfidf: { base: 'quern-tfidf', skip: false },
  lexical: { base: 'quern-lexical', skip: false },
  minilm: { base: MINILM, skip },
} as const;
for (const [name, { base, skip: without }] of Object.entries(suites))
  describe(`classifiers on ${name} embeddings`, { skip: without }, () => {
    for (const set of TEXT_SETS)
      for (const [at, perLabel] of PER_LABEL.entries())
        it(`learn ${set} from ${perLabel} sentences a label`, async (test) => {
          const { share, quality, projected } = await accuracy(set, perLabel, base);
          measured[`${name} ${set} ${perLabel}`] = share;
          test.diagnostic(
            `${share}, by cross-validation ${quality.accuracy.toFixed(3)}, plain ${quality.plainAccuracy.toFixed(3)}, projection ${projected}`,
          );
          const least = LEAST[name as keyof typeof LEAST][set][at]!;
          assert.ok(share >= least, `${share} of ${set}`);
          assert.ok(quality.accuracy >= quality.plainAccuracy);
        });
  });

describe('classifiers on both', { skip }, () => {
  it('are clearly better on sentence embeddings than on words', () => {
    for (const set of TEXT_SETS)
      for (const perLabel of PER_LABEL) {
        const [lexical, minilm] = ['lexical', 'minilm'].map((name) => measured[`${name} ${set} ${perLabel}`]!) as [number, number];
        assert.ok(minilm >= lexical + 0.1, `${set} ${perLabel}: ${minilm} against ${lexical}`);
      }
  });
});
