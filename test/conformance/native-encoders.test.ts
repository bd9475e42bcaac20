import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { EncoderOptions, EncoderTask, Pooling } from '../../runtime/engines/contracts/encoder.js';
import { openNative } from '../../runtime/engines/encoders/onnx/bert/native-pass.js';
import { EncoderClient } from '../../runtime/engines/encoders/onnx/client.js';
import { CircuitBreaker } from '../../runtime/hosts/circuit-breaker.js';
import { gemmHead, lastLayer, nodes, type Rewriting, randomGraph, spelledNorms, turnedMatrices } from '../support/encoders/graphs.js';
import { writeTinyEncoder } from '../support/models/tiny-encoders/tiny-encoders.js';
import type { BertShape } from '../support/models/writers/onnx-bert.js';
import { quantised } from '../support/models/writers/onnx-quantise.js';
import { writeOnnx } from '../support/models/writers/onnx-writer.js';

const CALL = { signal: new AbortController().signal };
const POSITIONS = 40;
/** Texts of all lengths, the longest beyond what the model reads. */
const TEXTS = ['', 'red', 'the red dog', 'Anna lives in Oslo', `${'river '.repeat(20)}garden`, 'milk and bread '.repeat(30)];
const PAIRS = TEXTS.toReversed();

const folder = mkdtempSync(join(tmpdir(), 'quern-native-encoders-'));
const same: Rewriting = (graph) => graph;
const int8: Rewriting = (graph) => quantised(graph, { fullRange: true });

/** A repository with a random graph and the tokenizer of a tiny encoder. */
function written(name: string, task: EncoderTask, shape: Partial<BertShape>, rewriting: Rewriting): string {
  const place = join(folder, name.replaceAll(/\W+/g, '-'));
  writeTinyEncoder(place, { task: 'embedding', tokenizer: shape.positionKind === 'roberta' ? 'bpe' : 'uncased' });
  const config = JSON.parse(readFileSync(join(place, 'config.json'), 'utf8')) as { vocab_size: number };
  const graph = rewriting(randomGraph({ ...shape, vocabulary: config.vocab_size, positions: POSITIONS }));
  mkdirSync(join(place, 'onnx'), { recursive: true });
  writeFileSync(join(place, 'onnx/model.onnx'), writeOnnx(graph));
  const labels = task === 'embedding' ? {} : { id2label: { 0: 'O', 1: 'B-X', 2: 'I-X' } };
  writeFileSync(join(place, 'config.json'), JSON.stringify({ ...config, max_position_embeddings: POSITIONS, ...labels }));
  return place;
}

function load(
  place: string,
  task: EncoderTask,
  engine: NonNullable<EncoderOptions['engine']>,
  file = 'model.onnx',
): Promise<EncoderClient> {
  const files = {
    name: place.slice(folder.length + 1),
    format: 'onnx' as const,
    model: join(place, 'onnx', file),
    folder: place,
    notes: [],
  };
  return EncoderClient.load(
    { task, files, options: { threads: 2, device: 'cpu', engine }, circuit: new CircuitBreaker(place) },
    CALL.signal,
  );
}

/** All numbers that a task gives for the texts, one row each. */
async function rowsOf(client: EncoderClient, task: EncoderTask): Promise<Float32Array[]> {
  if (task === 'embedding') return (await client.embed(TEXTS, CALL)).vectors;
  return [...(await client.classify(TEXTS, CALL)).logits, ...(await client.classify(TEXTS, CALL, PAIRS)).logits];
}
const dot = (a: Float32Array, b: Float32Array): number => a.reduce((sum, value, index) => sum + value * b[index]!, 0);
const cosine = (a: Float32Array, b: Float32Array): number => dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));

const GRAPHS: readonly [name: string, task: EncoderTask, shape: Partial<BertShape>, rewriting: Rewriting, least: number][] = [
  ['vectors', 'embedding', { hidden: 64, heads: 4 }, same, 0.99999],
  ['norms in single steps', 'embedding', { layers: 1 }, spelledNorms, 0.99999],
  ['turned matrices', 'embedding', { intermediate: 100 }, turnedMatrices, 0.99999],
  ['a mean in the graph', 'embedding', { head: 'sentence' }, same, 0.99999],
  ['a layer behind the mean', 'embedding', { head: 'sentence' }, lastLayer, 0.99999],
  ["RoBERTa's positions", 'embedding', { segments: 0, positionKind: 'roberta' }, same, 0.99999],
  ['positions that are given', 'embedding', { positionKind: 'input' }, same, 0.99999],
  ['one head of a classifier', 'classification', { head: 'classification' }, same, 0.99999],
  ['a classifier as Gemm', 'classification', { head: 'classification', layers: 3 }, gemmHead, 0.99999],
  ['vectors of int8', 'embedding', { hidden: 64, heads: 4 }, int8, 0.995],
  ['a classifier of int8', 'classification', { head: 'classification' }, int8, 0.995],
];

describe('the native pass of encoders', () => {
  after(() => rmSync(folder, { recursive: true, force: true }));

  for (const [name, task, shape, rewriting, least] of GRAPHS)
    it(`gives what ONNX Runtime gives: ${name}`, async () => {
      const place = written(name, task, shape, rewriting);
      const floats = rewriting === int8 ? written(`${name} floats`, task, shape, same) : place;
      const [own, other] = await Promise.all([load(place, task, 'native'), load(floats, task, 'onnxruntime')]);
      assert.deepEqual([own.info.engine, other.info.engine], ['native', 'onnxruntime']);
      assert.deepEqual(
        { ...own.info, engine: '', sizeBytes: 0, devices: [], name: '', path: '' },
        { ...other.info, engine: '', sizeBytes: 0, devices: [], name: '', path: '' },
      );
      const [rows, wanted] = await Promise.all([rowsOf(own, task), rowsOf(other, task)]);
      for (const [at, row] of rows.entries()) {
        assert.equal(row.length, wanted[at]!.length);
        assert.ok(cosine(row, wanted[at]!) >= least, `row ${at}: ${cosine(row, wanted[at]!)}`);
        if (rewriting !== int8) for (const [column, value] of row.entries()) assert.ok(Math.abs(value - wanted[at]![column]!) < 1e-3);
      }
      await Promise.all([own.close(), other.close()]);
    });

  it('gives the labels that ONNX Runtime gives', async () => {
    const place = written('labels', 'ner', { head: 'tokens' }, same);
    const [own, other] = await Promise.all([load(place, 'ner', 'native'), load(place, 'ner', 'onnxruntime')]);
    const [found, wanted] = await Promise.all([own.entities(TEXTS, CALL), other.entities(TEXTS, CALL)]);
    assert.ok(wanted.entities.flat().length > 0);
    assert.deepEqual(
      found.entities.map((list) => list.map(({ text, label, start }) => [text, label, start])),
      wanted.entities.map((list) => list.map(({ text, label, start }) => [text, label, start])),
    );
    assert.deepEqual(found.tokens, wanted.tokens);
    await Promise.all([own.close(), other.close()]);
  });

  const PASSES: readonly [pooling: Pooling, task: EncoderTask, expectedMs: number | undefined, tokens: number, soon: boolean][] = [
    ['mean', 'embedding', 1, 1, true],
    ['cls', 'embedding', 5, 1, true],
    ['max', 'embedding', 6, 3, false],
    ['mean', 'embedding', undefined, 1, false],
    ['mean', 'ner', undefined, 3, false],
  ];
  for (const [pooling, task, expectedMs, tokens, soon] of PASSES)
    it(`runs ${task} that takes ${expectedMs} ms on ${soon ? 'its own thread' : 'the pool'}; ${pooling} leaves ${tokens} of 3 tokens`, async () => {
      const place = written(`passes of ${task}`, 'embedding', task === 'ner' ? { head: 'tokens' } : {}, same);
      const model = join(place, 'onnx/model.onnx');
      const settings = { name: 'x', task, paddingId: 0, firstPosition: 0, maxLength: POSITIONS, pooling };
      const answer = openNative(model, settings, {
        threads: 1,
        providers: { requested: 'cpu', available: ['cpu'], used: ['cpu'], why: null },
      });
      assert.ok('pass' in answer);
      const run = answer.pass.run([{ ids: [1, 2, 3], types: [0, 0, 0], take: () => {} }], 3, expectedMs);
      // What comes from the pool comes with a turn of the event loop, never within microtasks.
      let isDone = false;
      void run.then(() => {
        isDone = true;
      });
      for (let at = 0; at < 100; at += 1) await null;
      assert.equal(isDone, soon);
      assert.equal((await run).states(0, 3).tokens, tokens);
      await answer.pass.close();
    });

  it('blames the model for tokens that its table has no row for', async () => {
    const place = written('short table', 'embedding', { layers: 1 }, same);
    const tokenizer = JSON.parse(readFileSync(join(place, 'tokenizer.json'), 'utf8')) as { model: { vocab: Record<string, number> } };
    tokenizer.model.vocab.garden = 30_000;
    writeFileSync(join(place, 'tokenizer.json'), JSON.stringify(tokenizer));
    const client = await load(place, 'embedding', 'native');
    assert.equal(client.info.engine, 'native');
    await assert.rejects(client.embed(['the red dog', 'garden'], CALL), { kind: 'invalid', message: /tokenizer.json.*ids holds 30000/ });
    assert.equal((await client.embed(['the red dog'], CALL)).vectors.length, 1);
    await client.close();
  });

  it('puts the separator of pairs between them: another one gives other scores', async () => {
    const logits = async (separator: string): Promise<Float32Array> => {
      const place = written(`separated by ${separator}`, 'classification', { head: 'classification' }, same);
      const text = readFileSync(join(place, 'tokenizer.json'), 'utf8');
      const tokenizer = JSON.parse(text) as { model: { vocab: Record<string, number> }; post_processor: object };
      const swapped = JSON.stringify(tokenizer.post_processor)
        .replaceAll('[SEP]', separator)
        .replaceAll(`,${tokenizer.model.vocab['[SEP]']}]`, `,${tokenizer.model.vocab[separator]}]`);
      writeFileSync(join(place, 'tokenizer.json'), JSON.stringify({ ...tokenizer, post_processor: JSON.parse(swapped) }));
      const client = await load(place, 'classification', 'native');
      const found = await client.classify(['red dog'], CALL, ['milk']);
      assert.deepEqual(found.tokens, [6]);
      await client.close();
      return found.logits[0]!;
    };
    const [one, other] = [await logits('[SEP]'), await logits('[MASK]')];
    assert.ok(
      one.some((value, at) => Math.abs(value - other[at]!) > 1e-3),
      `${one} ${other}`,
    );
  });

  it('leaves to ONNX Runtime what it does not know, and says why', async () => {
    const stranger = nodes((node) =>
      node.op === 'Erf'
        ? [
            { op: 'Tanh', inputs: node.inputs, outputs: ['between'] },
            { ...node, inputs: ['between'] },
          ]
        : undefined,
    );
    const place = written('stranger', 'embedding', { layers: 1 }, stranger);
    const client = await load(place, 'embedding', 'native');
    assert.equal(client.info.engine, 'onnxruntime');
    assert.match(client.info.notes.join(), /not the native pass, because .* is not where BERT has one/);
    assert.equal(client.status.options!.engine, 'onnxruntime');
    assert.equal((await client.embed(TEXTS, CALL)).vectors.length, TEXTS.length);
    await client.close();
  });
});
