import assert from 'node:assert/strict';
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, beforeEach, describe, it } from 'node:test';
import type { NativeClassifier } from '../../../../../native/contract.js';
import { loadCore } from '../../../../../native/loader.js';
import { ClassifierFolder, type HeldClassifier } from '../../../../../runtime/ml/classifiers/classifier-folder.js';
import { CLASSIFIERS_IN_MEMORY, classifiersInMemory } from '../../../../../runtime/ml/classifiers/classifiers.js';

const root = mkdtempSync(join(tmpdir(), 'quern-classifiers-'));
after(() => rmSync(root, { recursive: true, force: true }));

describe('classifiers on disk', () => {
  const path = join(root, 'classifier');
  const held = {} as { first: HeldClassifier; second: HeldClassifier };
  let folder: ClassifierFolder;

  /** A classifier of two labels. */
  async function made(labels: [string, string], sign: number): Promise<HeldClassifier> {
    const fit = loadCore().openClassifierFit({ dimensions: 2, classes: 2 });
    fit.add(Float32Array.of(1, sign, -1, -sign), Uint32Array.of(0, 1));
    const { model } = await fit.run();
    return { name: 'moods', model, card: { embedder: 'quern-lexical', dimensions: 2, probe: 'AACAPwAAAAA=', labels, samples: 2 } };
  }
  const write = (one: HeldClassifier, to = folder): Promise<void> => to.alone(() => to.write(one));
  /** What a process finds that starts after a crash. */
  const labelsAfterRestart = async (): Promise<readonly string[] | undefined> =>
    (await new ClassifierFolder(path).read('moods'))?.card.labels;

  before(async () => {
    held.first = await made(['bad', 'good'], 1);
    held.second = await made(['no', 'yes'], -1);
  });
  beforeEach(async () => {
    rmSync(path, { recursive: true, force: true });
    folder = new ClassifierFolder(path);
    await write(held.first);
  });

  it('is a directory with labels, metadata and numbers, and nothing beside it', async () => {
    assert.deepEqual(readdirSync(path), ['moods']);
    assert.deepEqual(readdirSync(join(path, 'moods')).sort(), ['head.bin', 'labels.txt', 'metadata.json']);
    assert.equal(readFileSync(join(path, 'moods/labels.txt'), 'utf8'), 'bad\ngood\n');
    const read = await folder.read('moods');
    const row = Float32Array.of(0.3, 0.8);
    assert.deepEqual(await read!.model.predict(row), await held.first.model.predict(row));
    assert.deepEqual(read!.card, held.first.card);
  });

  it('keeps the vocabulary of TF-IDF vectors, and refuses them with a changed byte or beside other numbers', async () => {
    const vocabulary = 'AQAAAAAAgD8=';
    const card = { ...held.first.card, embedder: 'quern-tfidf', vocabulary };
    await write({ ...held.first, card });
    assert.deepEqual((await folder.read('moods'))!.card, card);
    const file = join(path, 'moods/metadata.json');
    writeFileSync(file, readFileSync(file, 'utf8').replace(vocabulary, `B${vocabulary.slice(1)}`));
    await assert.rejects(folder.read('moods'), { message: /metadata.json is not what was saved/, code: 'DamagedModel' });
    await folder.alone(() => folder.describe('moods', { ...card, vocabulary: `B${vocabulary.slice(1)}` }));
    await assert.rejects(folder.read('moods'), { message: /head.bin is not what was saved/, code: 'DamagedModel' });
  });

  it('finds the old one after a crash while the new one was written', async () => {
    cpSync(join(path, 'moods'), join(path, '.new-moods'), { recursive: true });
    writeFileSync(join(path, '.new-moods/labels.txt'), 'no\n');
    assert.deepEqual(await labelsAfterRestart(), ['bad', 'good']);
    assert.deepEqual(readdirSync(path), ['moods']);
  });

  it('finds the old one after a crash between both renames', async () => {
    renameSync(join(path, 'moods'), join(path, '.old-moods'));
    mkdirSync(join(path, '.new-moods'));
    assert.deepEqual(await labelsAfterRestart(), ['bad', 'good']);
    assert.deepEqual(readdirSync(path), ['moods']);
  });

  it('finds the new one after a crash before the old one was removed', async () => {
    cpSync(join(path, 'moods'), join(root, 'former'), { recursive: true });
    await write(held.second);
    renameSync(join(root, 'former'), join(path, '.old-moods'));
    assert.deepEqual(await labelsAfterRestart(), ['no', 'yes']);
    assert.deepEqual(readdirSync(path), ['moods']);
  });

  it('does not bring back what was being removed', async () => {
    renameSync(join(path, 'moods'), join(path, '.gone-moods'));
    assert.equal(await labelsAfterRestart(), undefined);
    assert.deepEqual(readdirSync(path), []);
  });

  it('keeps the old one when the new one cannot be written', async () => {
    const failing = { ...held.second.model, save: () => Promise.reject(new Error('no room')) } as NativeClassifier;
    await assert.rejects(write({ ...held.second, model: failing }), /no room/);
    assert.deepEqual(readdirSync(path), ['moods']);
    assert.deepEqual((await folder.read('moods'))?.card.labels, ['bad', 'good']);
  });

  it('replaces, describes, lists and removes', async () => {
    await write(held.second);
    await folder.alone(() => folder.describe('moods', { ...held.second.card, description: 'Über "moods"' }));
    mkdirSync(join(path, 'no-classifier'));
    writeFileSync(join(path, 'file'), '');
    const [one, ...none] = await folder.list();
    assert.deepEqual(none, []);
    assert.deepEqual([one!.model, one!.labels, one!.description], ['moods', ['no', 'yes'], 'Über "moods"']);
    assert.equal(await folder.alone(() => folder.remove('moods')), true);
    assert.equal(await folder.alone(() => folder.remove('moods')), false);
    assert.equal(existsSync(join(path, 'moods')), false);
  });
});

describe('classifiers in memory', () => {
  const sized = (name: string, dimensions: number): HeldClassifier =>
    ({ name, model: { dimensions, classes: 1024 }, card: {} }) as unknown as HeldClassifier;

  it('are the ones used last, by number and by size', () => {
    const memory = classifiersInMemory();
    const put = (one: HeldClassifier): void => memory.put(one.name, one);
    for (let at = 0; at <= CLASSIFIERS_IN_MEMORY; at += 1) {
      put(sized(`m${at}`, 8));
      memory.get('m0');
    }
    assert.ok(memory.get('m0'));
    assert.equal(memory.get('m1'), undefined);
    assert.ok(memory.get('m2'));
    put(sized('large', 2 ** 17));
    assert.ok(memory.get('large'));
    assert.equal(memory.get('m0'), undefined);
    memory.delete('large');
    put(sized('small', 8));
    put(sized('small2', 8));
    assert.ok(memory.get('small'));
  });
});
