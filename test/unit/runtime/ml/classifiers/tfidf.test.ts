import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { EncoderService } from '../../../../../runtime/encoders/contract.js';
import { Classifiers } from '../../../../../runtime/ml/classifiers/classifiers.js';
import { featuresOfFit, readVocabulary, tfidfVector, type Vocabulary, vocabularyOf } from '../../../../../runtime/ml/classifiers/tfidf.js';
import { Failure } from '../../../../../schemas/errors.js';
import { longestTurnMs } from '../../../../support/longest-turn.js';

const root = mkdtempSync(join(tmpdir(), 'quern-tfidf-'));
after(() => rmSync(root, { recursive: true, force: true }));
const { signal } = new AbortController();

/** A machine without weights. */
const encoders = {
  embed: ({ model }: { model: string }) => Promise.reject(new Failure('not_found', `${model} is not here.`)),
} as unknown as EncoderService;

const cosine = (a: Float32Array, b: Float32Array): number => {
  const dot = (one: Float32Array, two: Float32Array): number => one.reduce((sum, value, at) => sum + value * two[at]!, 0);
  return dot(a, b) / Math.sqrt(dot(a, a) * dot(b, b));
};

/** Texts that only differ in what word lists leave out, or that hold no word at all. */
const KINDS: Record<string, { readonly train: Record<string, readonly string[]>; readonly asked: Record<string, string> }> = {
  'function words': {
    train: { place: ['where is it', 'where are they', 'where was he'], time: ['when is it', 'when are they', 'when was he'] },
    asked: { 'where were you': 'place', 'when were you': 'time' },
  },
  'languages by their small words': {
    train: { de: ['der und die', 'das ist nicht', 'ein und der'], nl: ['de en het', 'dat is niet', 'een en de'] },
    asked: { 'die und das nicht': 'de', 'het en dat niet': 'nl' },
  },
  'single letters': {
    train: { yes: ['y', 'Y', 'y y'], no: ['n', 'N', 'n n'] },
    asked: { 'y ': 'yes', N: 'no' },
  },
  'signs without letters': {
    train: { glad: [':-)', ':)', '🙂🙂'], sad: [':-(', ':(', '🙁'] },
    asked: { ':-) :)': 'glad', '🙁 :(': 'sad' },
  },
  'texts without spaces': {
    train: { weather: ['今天天气很好', '明天天气怎么样', '天气预报'], music: ['播放音乐', '我想听音乐', '音乐很好听'] },
    asked: { 天气好吗: 'weather', 放点音乐: 'music' },
  },
  'words with typing errors': {
    train: { refund: ['refund my money', 'refunding please'], delivery: ['late delivery', 'delivered where'] },
    asked: { 'refnd money': 'refund', 'delivry late': 'delivery' },
  },
};

describe('classifiers without weights', () => {
  for (const [kind, { train, asked }] of Object.entries(KINDS))
    it(`tell ${kind} apart, also after a restart`, async () => {
      const examples = Object.entries(train).flatMap(([label, texts]) => texts.map((text) => ({ text, label })));
      const ask = { model: 'one', examples, iterations: 1, batchSize: 8, seed: 1, overwrite: true };
      const { embedder, notes } = await new Classifiers(root, encoders).fit(ask, signal);
      assert.equal(embedder, 'quern-tfidf');
      assert.match(notes[0]!, /all-MiniLM-L6-v2 is not on this machine; TF-IDF.*was used/);
      const { labels, probabilities } = await new Classifiers(root, encoders).predict('one', Object.keys(asked), signal);
      const said = Object.keys(asked).map((_text, at) => {
        const own = [...probabilities.subarray(at * labels.length, (at + 1) * labels.length)];
        return labels[own.indexOf(Math.max(...own))];
      });
      assert.deepEqual(said, Object.values(asked));
    });

  it('take TF-IDF by name without a note', async () => {
    const examples = ['a', 'b'].map((text) => ({ text, label: text }));
    const ask = { model: 'named', baseModel: 'quern-tfidf', examples, iterations: 1, batchSize: 1, seed: 1, overwrite: true };
    const { embedder, notes } = await new Classifiers(root, encoders).fit(ask, signal);
    assert.deepEqual([embedder, notes], ['quern-tfidf', []]);
  });

  it('take texts that have nothing to go by', async () => {
    const examples = ['\u0001', '\u0002\u0003'].map((text, at) => ({ text, label: `${at}` }));
    const service = new Classifiers(root, encoders);
    await service.fit({ model: 'bare', examples, iterations: 1, batchSize: 1, seed: 1, overwrite: true }, signal);
    const { probabilities } = await service.predict('bare', ['\u0001', 'a word'], signal);
    assert.deepEqual([...probabilities], [0.5, 0.5, 0.5, 0.5]);
  });
});

describe('TF-IDF vectors', () => {
  const ofTexts = async (most: number, ...texts: string[]): Promise<Vocabulary> => readVocabulary(await vocabularyOf(texts, most, signal));
  const all = (vocabulary: Vocabulary, ...texts: string[]): Promise<Float32Array[]> =>
    Promise.all(texts.map((text) => tfidfVector(text, vocabulary, signal)));

  it('are those that saved classifiers were fitted on', async () => {
    const vocabulary = await ofTexts(20, 'The quick brown fox', 'the lazy dog');
    const [vector] = await all(vocabulary, 'The quick brown fox jumps over the fox');
    const rounded = [...[...vocabulary.keys()], ...[...vector!].map((value) => value.toFixed(4))].join(' ');
    assert.equal(createHash('sha256').update(rounded).digest('hex').slice(0, 16), '63742e014f66e26b');
  });

  it('weigh what all texts share less than what one has', async () => {
    const vocabulary = await ofTexts(4095, 'the cat', 'the dog', 'the cow', 'the hen');
    const [cat, dog, both] = await all(vocabulary, 'the cat', 'the dog', 'cat dog');
    assert.ok(cosine(cat!, both!) > cosine(cat!, dog!));
  });

  it('do not depend on case, width of letters or the number of spaces', async () => {
    const [plain, other] = await all(await ofTexts(4095, 'a new day'), 'a new day', '  Ａ NEW \n\t day ');
    assert.deepEqual(plain, other);
  });

  it('keep the features that most texts have, and have one component where a text has none of them', async () => {
    const vocabulary = await ofTexts(3, 'a b', 'a c', 'a d');
    const [known, none] = await all(vocabulary, 'a', 'zzz');
    assert.deepEqual([vocabulary.size, [...known!].map((value) => value > 0), [...none!]], [3, [true, true, true, false], [0, 0, 0, 1]]);
  });

  it('have fewer components where a fit has many texts or labels', () => {
    const sizes = [
      [2, 2],
      [8200, 2],
      [16_384, 2],
      [20_000, 2],
      [100, 256],
      [1000, 1000],
    ];
    assert.deepEqual(
      sizes.map(([texts, labels]) => featuresOfFit(texts!, labels!)),
      [4095, 4092, 2048, 1677, 2048, 1023],
    );
  });

  /** Hardly an n-gram comes twice. */
  const noise = Array.from({ length: 2_000_000 }, (_none, at) => String.fromCharCode(0x4e00 + (Math.imul(at, 0x9e3779b1) >>> 19))).join('');
  const long = {
    'one word': 'x'.repeat(2_000_000),
    words: 'lorem ipsum '.repeat(170_000),
    spaces: `a${' '.repeat(2_000_000)}b`,
    noise,
  };
  for (const [kind, text] of Object.entries(long))
    it(`of two million characters (${kind}) leave the event loop free`, async () => {
      const mostMs = 50;
      const longestMs = await longestTurnMs(mostMs, async () => tfidfVector(text, await ofTexts(4095, text, text), signal));
      assert.ok(longestMs < mostMs, `${longestMs} ms`);
    });

  it('end with the client', async () => {
    await assert.rejects(tfidfVector('a word', new Map(), AbortSignal.abort(new Error('gone'))), /gone/);
  });
});
