import { execFileSync } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EncoderService } from '../runtime/encoders/contract.js';
import { fitClassifier } from '../runtime/ml/classifiers/classifiers.js';
import { Models } from '../runtime/models/residency/models.js';
import { Outbound } from '../runtime/net/outbound.js';
import { heldOutShares } from '../test/support/classifiers/held-out.js';
import { TEXT_SETS, textSet } from '../test/support/classifiers/sets.js';
import { openSomeServices } from '../test/support/services.js';
import { skip, unlessLacking } from './lacking.js';
import { median, ROOT, type Row, table } from './measure.js';
import { benchPython } from './peers.js';

const TEXTS = 1000;
const ROUNDS = 3;
/** The most rows that one call of the native code takes. */
const ROWS_AT_ONCE = 256;
const ASK = { iterations: 20, batchSize: 16, seed: 42 };
const TFIDF = 'quern-tfidf';
const LEXICAL = 'quern-lexical';
const MINILM = 'sentence-transformers/all-MiniLM-L6-v2';
/** Weights of the six layers of all-MiniLM-L6-v2 that every token is multiplied with. */
const LAYER_WEIGHTS = 6 * 12 * 384 ** 2;

interface Python {
  readonly version: string;
  readonly fitMs: number;
  readonly crossMs: number;
  readonly accuracy: number;
  readonly predictMs: number;
}

/** Sentences of 16 labels, in an order in which every part holds all of them. */
function examples(): { texts: string[]; labels: string[]; targets: Uint32Array } {
  const all = TEXT_SETS.flatMap((set) => {
    const { train, heldOut } = textSet(set);
    return [...train, ...heldOut].map(({ text, label }) => ({ text, label }));
  });
  // 617 has no factor in common with the number of sentences, so that each sentence comes once.
  const some = all.map((_one, at) => all[(at * 617) % all.length]!).slice(0, TEXTS);
  const labels = [...new Set(some.map(({ label }) => label))].sort();
  return { texts: some.map(({ text }) => text), labels, targets: Uint32Array.from(some, ({ label }) => labels.indexOf(label)) };
}

/** Fits and predictions of scikit-learn on the same embeddings. */
function python(vectors: readonly Float32Array[], { labels, targets }: ReturnType<typeof examples>): Python {
  const program = benchPython();
  const folder = mkdtempSync(join(tmpdir(), 'quern-bench-'));
  try {
    const head = Int32Array.of(vectors.length, vectors[0]!.length, labels.length);
    const parts = [head, Int32Array.from(targets), ...vectors];
    writeFileSync(
      join(folder, 'rows'),
      Buffer.concat(parts.map(({ buffer, byteOffset, byteLength }) => Buffer.from(buffer, byteOffset, byteLength))),
    );
    return JSON.parse(
      execFileSync(program, [join(ROOT, 'bench/logistic-regression.py'), join(folder, 'rows')], { encoding: 'utf8' }),
    ) as Python;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const seconds = (ms: number): string => `${(ms / 1000).toFixed(2)} s`;

/** What SetFit's training of the whole encoder would compute, and how long that takes at the speed of our own embedding. */
function onPaper(tokens: number, embeddingMs: number): Row {
  const forward = 2 * LAYER_WEIGHTS * tokens;
  // Two texts a pair, 40 pairs an example; forward once, backward twice that.
  const training = forward * 2 * 2 * ASK.iterations * 3;
  const ms = (training / forward) * embeddingMs;
  return {
    what: `SetFit-style fine-tuning of MiniLM, on paper: ${(training / 1e12).toFixed(1)} TFLOP at the rate of our embedding`,
    ours: '',
    peer: seconds(ms),
    ratio: '',
    goal: '',
  };
}

async function measured(model: string, encoders: EncoderService): Promise<Row[]> {
  const signal = new AbortController().signal;
  const set = examples();
  // The first text loads the model.
  await encoders.embed({ model, signal }, set.texts.slice(0, 1));
  const dimensions = model === LEXICAL ? 1024 : undefined;
  const embedStart = performance.now();
  const { vectors, tokens } = await encoders.embed({ model, signal }, set.texts, dimensions);
  const embedMs = performance.now() - embedStart;
  const known = new Map(set.texts.map((text, at) => [text, vectors[at]!]));
  const kept = {
    embed: async (_ask: unknown, texts: readonly string[]) => ({ vectors: texts.map((text) => known.get(text)!), tokens: 0 }),
  } as Partial<EncoderService> as EncoderService;
  const trainings: number[] = [];
  const predictions: number[] = [];
  let said = '';
  for (let round = 0; round < ROUNDS; round += 1) {
    const start = performance.now();
    const { model: head, quality } = await fitClassifier(kept, model, ASK, set, signal);
    trainings.push(performance.now() - start);
    said = `accuracy ${quality!.accuracy.toFixed(3)} by cross-validation, plain ${quality!.plainAccuracy.toFixed(3)}, projection ${head.projected ? 'used' : 'not used'}`;
    const rows = new Float32Array(ROWS_AT_ONCE * head.dimensions);
    for (let at = 0; at < ROWS_AT_ONCE; at += 1) rows.set(vectors[at]!, at * head.dimensions);
    const predictStart = performance.now();
    for (let from = 0; from < TEXTS; from += ROWS_AT_ONCE) await head.predict(rows);
    predictions.push(((performance.now() - predictStart) * TEXTS) / (Math.ceil(TEXTS / ROWS_AT_ONCE) * ROWS_AT_ONCE));
  }
  const peer = await unlessLacking('classifiers against scikit-learn', () => python(vectors, set));
  const [training, predicting] = [median(trainings), median(predictions)];
  const against = (what: string, own: number, other: (them: Python) => number, show: (ms: number) => string): Row => ({
    what,
    ours: show(own),
    peer: peer ? show(other(peer)) : '',
    ratio: peer ? (other(peer) / own).toFixed(2) : '',
    goal: '',
  });
  const rate = (ms: number): string => `${((TEXTS * 1000) / ms).toFixed(0)} texts/s`;
  const name = peer ? `scikit-learn ${peer.version}` : 'scikit-learn';
  return [
    { what: `${model}: embedding ${TEXTS} texts`, ours: seconds(embedMs), peer: '', ratio: '', goal: '' },
    against(
      `${model}: training with projection, cross-validation and calibration (${said}), against one fit of ${name}`,
      training,
      ({ fitMs }) => fitMs,
      seconds,
    ),
    against(
      `${model}: the same, against fit and 5-fold cross-validation of ${name}`,
      training,
      (them) => them.fitMs + them.crossMs,
      seconds,
    ),
    against(`${model}: predicting from embeddings`, predicting, ({ predictMs }) => predictMs, rate),
    { what: `${model}: predicting from texts`, ours: rate(embedMs + predicting), peer: '', ratio: '', goal: '' },
    ...(model === LEXICAL ? [] : [onPaper(tokens, embedMs)]),
  ];
}

/** Sentences that get their label after training on a few of each, ours against a plain logistic regression on the same embeddings. */
async function heldOut(model: string, name: string, encoders: EncoderService): Promise<Row[]> {
  const rows: Row[] = [];
  for (const set of TEXT_SETS)
    for (const perLabel of [8, 16]) {
      const { ours, plain, of, projected } = await heldOutShares(encoders, model, set, perLabel);
      const what = `${name}: ${set}, ${perLabel} a label, projection ${projected ? 'used' : 'not used'}`;
      rows.push({ what, ours: (ours / of).toFixed(3), peer: (plain / of).toFixed(3), ratio: (ours / plain).toFixed(2), goal: '>= 1' });
    }
  return rows;
}

/** Fit and prediction of text classifiers on 1,000 sentences of 16 labels, against scikit-learn on the same embeddings. */
export async function benchClassifiers(): Promise<void> {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-bench-'));
  const models = new Models({ dataDir });
  const outbound = new Outbound();
  const { encoders } = openSomeServices({ models, outbound }).here;
  const folder = join(process.env.BENCH_MODELS ?? '', MINILM);
  const rows = await measured(LEXICAL, encoders);
  const shares = [...(await heldOut(TFIDF, TFIDF, encoders)), ...(await heldOut(LEXICAL, LEXICAL, encoders))];
  const hasWeights = process.env.BENCH_MODELS !== undefined && existsSync(folder);
  if (hasWeights) {
    shares.push(...(await heldOut(folder, 'all-MiniLM-L6-v2', encoders)));
    rows.push(...(await measured(folder, encoders)).map((row) => ({ ...row, what: row.what.replace(folder, 'all-MiniLM-L6-v2') })));
  } else skip(`classifiers with ${MINILM}`, 'BENCH_MODELS names no folder that holds it; node build/bundle/main.js pull brings it');
  table(`Classifiers: ${TEXTS} sentences of 16 labels, medians of ${ROUNDS}`, rows);
  table('Classifiers: share of 200 held-out sentences, against a plain logistic regression on the same embeddings', shares);
  await models.close();
  await outbound.close();
  rmSync(dataDir, { recursive: true, force: true });
}
