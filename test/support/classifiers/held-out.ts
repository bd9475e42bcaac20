import type { EncoderService } from '../../../runtime/encoders/contract.js';
import { fitClassifier } from '../../../runtime/ml/classifiers/classifiers.js';
import { type Embedder, embedInParts } from '../../../runtime/ml/classifiers/embedder.js';
import { sortExamples } from '../../../runtime/ml/classifiers/examples.js';
import { plainRegression } from './plain-regression.js';
import { type TEXT_SETS, textSet } from './sets.js';

const SETTINGS = { iterations: 20, batchSize: 16, seed: 42 };
const { signal } = new AbortController();

async function embeddings(encoders: EncoderService, embedder: Embedder, texts: readonly string[]): Promise<Float32Array[]> {
  const rows: Float32Array[] = [];
  for await (const { count, dimensions, vectors } of embedInParts(encoders, embedder, texts, { signal }))
    for (let at = 0; at < count; at += 1) rows.push(vectors.subarray(at * dimensions, (at + 1) * dimensions));
  return rows;
}

/** How many held-out sentences of a set get their label from a classifier of ours, and from a plain logistic regression on the same embeddings. */
export async function heldOutShares(
  encoders: EncoderService,
  model: string,
  set: (typeof TEXT_SETS)[number],
  perLabel: number,
): Promise<{ ours: number; plain: number; of: number; projected: boolean }> {
  const { train, heldOut } = textSet(set, perLabel);
  const examples = await sortExamples(train);
  const { texts, labels, targets } = examples;
  const { model: head, embedder } = await fitClassifier(encoders, model, SETTINGS, examples, signal);
  const baseline = plainRegression({ vectors: await embeddings(encoders, embedder, texts), targets, classes: labels.length });
  let [ours, plain] = [0, 0];
  const rows = await embeddings(
    encoders,
    embedder,
    heldOut.map(({ text }) => text),
  );
  for (const [at, row] of rows.entries()) {
    const own = labels.indexOf(heldOut[at]!.label);
    const shares = await head.predict(row);
    ours += Number(shares.indexOf(Math.max(...shares)) === own);
    plain += Number(baseline.label(row) === own);
  }
  return { ours, plain, of: rows.length, projected: head.projected };
}
