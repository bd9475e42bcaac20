import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, utimesSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { STAGE_LIMITS, Stages } from '../../../../runtime/ingest/stages.js';
import { setLogLevel } from '../../../../runtime/log.js';

const root = mkdtempSync(join(tmpdir(), 'quern-stages-'));
let projects = 0;
const project = (): string => {
  projects += 1;
  return join(root, `p${projects}`);
};
const folderOf = (directory: string): string => join(directory, 'lf_data', 'stages');
const bytes = (size: number, value = 7): Uint8Array => new Uint8Array(size).fill(value);

describe('kept stages', () => {
  after(() => rmSync(root, { recursive: true, force: true }));

  it('gives back what was kept, to another process too', async () => {
    const directory = project();
    await new Stages(directory).write('parse', 'key', [Buffer.from('one '), Buffer.from('two')]);
    const stages = new Stages(directory);
    assert.equal((await stages.read('parse', 'key'))?.toString(), 'one two');
    assert.equal(await stages.read('embed', 'key'), undefined);
    assert.equal(await stages.read('parse', 'other'), undefined);
    await stages.write('parse', 'key', [Buffer.from('three')]);
    assert.equal((await stages.read('parse', 'key'))?.toString(), 'three');
    assert.equal(readdirSync(folderOf(directory)).length, 1);
  });

  it('takes what is damaged, cut short or empty for absent', async () => {
    const directory = project();
    const stages = new Stages(directory);
    const content = bytes(3 * 1024 * 1024 + 5);
    await stages.write('parse', 'key', [content]);
    assert.ok((await stages.read('parse', 'key'))?.equals(content));
    const [name] = readdirSync(folderOf(directory));
    const path = join(folderOf(directory), name!);
    const whole = readFileSync(path);
    for (const damaged of [Buffer.alloc(0), whole.subarray(0, 20), whole.subarray(0, -1), Buffer.concat([whole, Buffer.from('x')])]) {
      writeFileSync(path, damaged);
      assert.equal(await stages.read('parse', 'key'), undefined);
    }
    for (const at of [0, 40, whole.length - 1]) {
      const flipped = Buffer.from(whole);
      flipped[at]! ^= 1;
      writeFileSync(path, flipped);
      assert.equal(await stages.read('parse', 'key'), undefined, `byte ${at}`);
    }
  });

  it('removes what was used longest ago when there is too much', async () => {
    const directory = project();
    const stages = new Stages(directory, { ...STAGE_LIMITS, mostBytes: 3500 });
    for (const [age, key] of ['a', 'b', 'c'].entries()) {
      const before = new Set(age === 0 ? [] : readdirSync(folderOf(directory)));
      await stages.write('parse', key, [bytes(1000)]);
      const [added] = readdirSync(folderOf(directory)).filter((name) => !before.has(name));
      utimesSync(join(folderOf(directory), added!), 1000 + age, 1000 + age);
    }
    // `a` is the oldest, and was used a moment ago.
    assert.ok(await stages.read('parse', 'a'));
    await stages.write('parse', 'd', [bytes(1000)]);
    const there = await Promise.all(['a', 'b', 'c', 'd'].map(async (key) => (await stages.read('parse', key)) !== undefined));
    assert.deepEqual(there, [true, false, true, true]);
  });

  it('counts what an earlier process has left', async () => {
    const directory = project();
    await new Stages(directory).write('parse', 'old', [bytes(3000)]);
    const stages = new Stages(directory, { ...STAGE_LIMITS, mostBytes: 3500 });
    await stages.write('parse', 'new', [bytes(1000)]);
    assert.deepEqual([await stages.read('parse', 'old'), (await stages.read('parse', 'new'))?.length], [undefined, 1000]);
  });

  it('keeps nothing that is too large, and nothing where it cannot', async () => {
    const directory = project();
    await new Stages(directory, { ...STAGE_LIMITS, largestBytes: 100 }).write('parse', 'key', [bytes(60), bytes(60)]);
    assert.equal(await new Stages(directory).read('parse', 'key'), undefined);
    const file = join(root, 'file');
    writeFileSync(file, '');
    setLogLevel('error');
    await new Stages(file).write('parse', 'key', [bytes(1)]);
    assert.equal(await new Stages(file).read('parse', 'key'), undefined);
  });
});
