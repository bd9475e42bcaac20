import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { Projects } from '../../../../runtime/projects/projects.js';

const dataDir = mkdtempSync(join(tmpdir(), 'quern-test-'));
const folder = join(dataDir, 'projects/ns/p');
const loaded = (): string[] => Object.keys(createRequire(import.meta.url).cache).filter((path) => /node_modules[\\/]yaml[\\/]/.test(path));

function write(word: string, sets: number): void {
  const rows = Array.from(
    { length: sets },
    (_, at) => `  - name: ${word}_${at}\n    messages: [{ role: system, content: ${'x'.repeat(80)} }]`,
  );
  const models = 'runtime:\n  models:\n    - { name: m, provider: universal, model: x }';
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, 'project.yaml'), `version: v1\nname: p\nnamespace: ns\n${models}\nprompts:\n${rows.join('\n')}\n`);
}

describe('a large project file', () => {
  const projects = new Projects({ dataDir });
  after(() => rmSync(dataDir, { recursive: true }));

  it('is parsed in a worker, once for all who wait, and the YAML library is not even loaded here', async () => {
    write('one', 500);
    const parsing = projects.parsing('ns', 'p');
    assert.ok(parsing);
    assert.equal(projects.parsing('ns', 'p'), parsing);
    await parsing;
    assert.equal(projects.load('ns', 'p').config.prompts?.[499]?.name, 'one_499');
    assert.deepEqual(loaded(), []);
  });

  it('needs no worker until it changes, and then shows the change', async () => {
    assert.equal(projects.parsing('ns', 'p'), undefined);
    write('two', 501);
    await projects.parsing('ns', 'p');
    assert.equal(projects.load('ns', 'p').config.prompts?.[500]?.name, 'two_500');
    assert.deepEqual(loaded(), []);
  });

  it('is parsed before a list is made of it', async () => {
    write('three', 502);
    assert.match(String(await projects.listBytes('ns')), /three_501/);
    assert.deepEqual(loaded(), []);
  });

  it('that is broken says so when it is read', async () => {
    writeFileSync(join(folder, 'project.yaml'), `a: [\n${'# x\n'.repeat(5000)}`);
    await projects.parsing('ns', 'p');
    assert.throws(() => projects.load('ns', 'p'), /Project ns\/p: could not load project.yaml: it is not valid YAML/);
  });

  it('needs no worker when it is small, absent or has no valid name', () => {
    write('four', 1);
    assert.equal(projects.parsing('ns', 'p'), undefined);
    assert.equal(projects.parsing('ns', 'absent'), undefined);
    assert.equal(projects.parsing('..', 'p'), undefined);
  });
});
