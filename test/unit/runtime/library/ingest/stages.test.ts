import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { CheckedFile, CheckedWriter, PIECE_BYTES } from '../../../../../runtime/documents/parsing/checked-file.js';
import { STAGE_LIMITS, Stages, sweepStages } from '../../../../../runtime/library/ingest/stages.js';
import { hashOf } from '../../../../support/dataset-stage.js';

const root = mkdtempSync(join(tmpdir(), 'quern-stages-'));
let projects = 0;
const project = (): string => {
  projects += 1;
  return join(root, `p${projects}`);
};
const folderOf = (directory: string): string => join(directory, 'lf_data', 'stages');
const [ONE, TWO] = ['one', 'two'].map(hashOf) as [string, string];
const bytes = (size: number, value = 7): Uint8Array => new Uint8Array(size).fill(value);

async function write(stages: Stages, key: string, pieces: readonly Uint8Array[], document = ONE): Promise<void> {
  const draft = await stages.begin('parse', document, key);
  const writer = await CheckedWriter.create(draft.path);
  for (const piece of pieces) await writer.write(piece);
  await writer.end();
  await draft.keep();
}

async function read(stages: Stages, key: string, stage = 'parse', document = ONE): Promise<Buffer | undefined> {
  const path = await stages.find(stage, document, key);
  const file = path === undefined ? undefined : await CheckedFile.open(path);
  if (file === undefined) return undefined;
  try {
    return await file.read(0, file.sizeBytes);
  } finally {
    await file.close();
  }
}

describe('kept stages', () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  it('gives back what was kept, to another process too', async () => {
    const directory = project();
    await write(new Stages(directory), 'key', [Buffer.from('one '), Buffer.from('two')]);
    const stages = new Stages(directory);
    assert.equal((await read(stages, 'key'))?.toString(), 'one two');
    assert.equal(await read(stages, 'key', 'embed'), undefined);
    assert.equal(await read(stages, 'other'), undefined);
    await write(stages, 'key', [Buffer.from('three')]);
    assert.equal((await read(stages, 'key'))?.toString(), 'three');
    assert.equal(readdirSync(folderOf(directory)).length, 1);
  });

  it('takes what is damaged, cut short or empty for absent', async () => {
    const directory = project();
    const stages = new Stages(directory);
    const content = bytes(3 * PIECE_BYTES + 5);
    await write(stages, 'key', [content]);
    assert.ok((await read(stages, 'key'))?.equals(content));
    const [name] = readdirSync(folderOf(directory));
    const path = join(folderOf(directory), name!);
    const whole = readFileSync(path);
    for (const damaged of [Buffer.alloc(0), whole.subarray(0, 20), whole.subarray(0, -1), Buffer.concat([whole, Buffer.from('x')])]) {
      writeFileSync(path, damaged);
      assert.equal(await read(stages, 'key'), undefined);
    }
    for (const at of [0, 40, PIECE_BYTES + 40, whole.length - 1]) {
      const flipped = Buffer.from(whole);
      flipped[at]! ^= 1;
      writeFileSync(path, flipped);
      assert.equal(await read(stages, 'key'), undefined, `byte ${at}`);
    }
  });

  it('does not take what was never ended for whole', async () => {
    const stages = new Stages(project());
    const draft = await stages.begin('parse', ONE, 'key');
    const writer = await CheckedWriter.create(draft.path);
    await writer.write(bytes(2 * PIECE_BYTES));
    await writer.discard();
    await draft.keep();
    assert.equal(await read(stages, 'key'), undefined);
  });

  it('removes what was used longest ago when there is too much, and some more', async () => {
    const directory = project();
    const stages = new Stages(directory, { ...STAGE_LIMITS, mostBytes: 3500 });
    for (const [age, key] of ['a', 'b', 'c'].entries()) {
      const before = new Set(age === 0 ? [] : readdirSync(folderOf(directory)));
      await write(stages, key, [bytes(1000)]);
      const [added] = readdirSync(folderOf(directory)).filter((name) => !before.has(name));
      utimesSync(join(folderOf(directory), added!), 1000 + age, 1000 + age);
    }
    // `a` is the oldest, and was used a moment ago.
    assert.ok(await read(stages, 'a'));
    await write(stages, 'd', [bytes(1000)]);
    const there = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => (await read(stages, key)) !== undefined));
    assert.deepEqual(there, [true, false, true, true]);
    // The clock of the file system may lag some milliseconds behind ours.
    for (const name of readdirSync(folderOf(directory))) utimesSync(join(folderOf(directory), name), 1000, 1000);
    await write(stages, 'e', [bytes(100)]);
    await write(stages, 'f', [bytes(400)]);
    // 3150 bytes are nine tenths.
    assert.equal(readdirSync(folderOf(directory)).length, 4);
  });

  it('counts what an earlier process has left', async () => {
    const directory = project();
    await write(new Stages(directory), 'old', [bytes(3000)]);
    const stages = new Stages(directory, { ...STAGE_LIMITS, mostBytes: 3500 });
    await write(stages, 'new', [bytes(1000)]);
    assert.deepEqual([await read(stages, 'old'), (await read(stages, 'new'))?.length], [undefined, 1000]);
  });

  it('loses at the next start what a killed process was writing, and nothing else', async () => {
    const projectsRoot = join(root, 'killed');
    const directory = join(projectsRoot, 'namespace', 'project');
    mkdirSync(join(directory, 'lf_data', 'raw'), { recursive: true });
    writeFileSync(join(directory, 'lf_data', 'raw', ONE), 'one');
    const stages = new Stages(directory);
    await write(stages, 'whole', [bytes(10)]);
    for (const stage of ['parse', 'embed']) writeFileSync((await stages.begin(stage, ONE, 'cut off')).path, bytes(10));
    assert.equal(readdirSync(folderOf(directory)).length, 3);
    await sweepStages(projectsRoot);
    assert.equal(readdirSync(folderOf(directory)).length, 1);
    assert.equal((await read(new Stages(directory), 'whole'))?.length, 10);
  });

  it('loses the results of a document and no others when it is told to forget it', async () => {
    const directory = project();
    const stages = new Stages(directory, { ...STAGE_LIMITS, mostBytes: 3500 });
    for (const key of ['a', 'b']) await write(stages, key, [bytes(1000)]);
    await write(stages, 'a', [bytes(1000, 1)], TWO);
    await stages.forget([ONE, hashOf('three')]);
    assert.deepEqual([await read(stages, 'a'), await read(stages, 'b')], [undefined, undefined]);
    assert.equal((await read(stages, 'a', 'parse', TWO))?.[0], 1);
    // What is gone does not count.
    for (const key of ['c', 'd']) await write(stages, key, [bytes(1000)]);
    assert.equal(readdirSync(folderOf(directory)).length, 3);
    await new Stages(project()).forget([ONE]);
  });

  it('loses at the next start what was made of documents that no dataset has on disk', async () => {
    const projectsRoot = join(root, 'removed');
    const directory = join(projectsRoot, 'namespace', 'project');
    const raw = join(directory, 'lf_data', 'datasets', 'docs', 'raw');
    mkdirSync(raw, { recursive: true });
    writeFileSync(join(raw, TWO), 'two');
    const stages = new Stages(directory);
    for (const document of [ONE, TWO]) await write(stages, 'key', [bytes(10)], document);
    writeFileSync(join(folderOf(directory), `parse-${ONE}`), 'of no document that can be told');
    await sweepStages(projectsRoot);
    assert.deepEqual(
      readdirSync(folderOf(directory)).map((name) => name.split('-')[1]),
      [TWO],
    );
  });

  it('keeps nothing that is too large, and what is open of it can be read', async () => {
    const stages = new Stages(project(), { ...STAGE_LIMITS, largestBytes: 100 });
    const draft = await stages.begin('parse', ONE, 'key');
    const writer = await CheckedWriter.create(draft.path);
    await writer.write(bytes(120));
    await writer.end();
    const file = await CheckedFile.open(draft.path, true);
    await draft.keep();
    assert.equal(await read(stages, 'key'), undefined);
    assert.equal((await file!.read(0, 1000)).length, 120);
    await file!.close();
  });

  it('says where nothing can be kept', async () => {
    const file = join(root, 'file');
    writeFileSync(file, '');
    await assert.rejects(new Stages(file).begin('parse', ONE, 'key'), { code: 'ENOTDIR' });
    assert.equal(await new Stages(file).find('parse', ONE, 'key'), undefined);
  });
});
