import assert from 'node:assert/strict';
import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, chownSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { parse } from 'yaml';
import { Projects } from '../../../../runtime/projects/projects.js';

/** Committed number of kills; `KILLS=100` runs the long loop. */
const KILLS = Number(process.env.KILLS ?? 10);
/** Each kill comes after one to so many writes, at some time during the next ones. */
const WRITES = 2;
const LONGEST_WAIT_MS = 30;
const GOOD = 'version: v1\nruntime:\n  models:\n    - {name: m, provider: universal, model: m0}\n';
const child = join(import.meta.dirname, 'put-forever.js');

const dataDir = mkdtempSync(join(tmpdir(), 'quern-crash-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));

function place(name: string): string {
  const directory = join(dataDir, 'projects', 'ns', name);
  mkdirSync(directory, { recursive: true });
  writeFileSync(join(directory, 'project.yaml'), GOOD);
  return directory;
}

async function output(process: ChildProcess): Promise<string> {
  let text = '';
  process.stdout!.on('data', (bytes: Buffer) => {
    text += bytes.toString();
  });
  await once(process, 'close');
  return text;
}

test(`crash: ${KILLS} kills in the middle of writing leave one whole state each time`, async () => {
  const directory = place('p');
  const states = new Set<string>();
  for (let kill = 0; kill < KILLS; kill += 1) {
    const writer = spawn(process.execPath, [child, dataDir, 'ns', 'p'], { stdio: ['ignore', 'pipe', 'inherit'] });
    let written = '';
    writer.stdout.on('data', (bytes: Buffer) => (written += bytes.toString()));
    while (!written.includes(`\n${1 + (kill % WRITES)}\n`)) await once(writer.stdout, 'data');
    await sleep(Math.random() * LONGEST_WAIT_MS);
    writer.kill('SIGKILL');
    await once(writer, 'close');
    const config = parse(readFileSync(join(directory, 'project.yaml'), 'utf8'));
    const { model } = config.runtime.models[0];
    states.add(model);
    for (const prompt of config.prompts ?? [])
      assert.ok(prompt.messages[0].content.startsWith(`${model.slice(1)} `), `state ${model} is mixed`);
    assert.equal(new Projects({ dataDir }).get('ns', 'p').validation_error, null);
  }
  assert.ok(states.size > 1, 'the kills hit one state only: the test proved nothing');
  // The next write clears what the killed ones left.
  await new Projects({ dataDir }).put('ns', 'p', parse(GOOD));
  assert.deepEqual(
    readdirSync(directory).filter((name) => name.endsWith('.tmp')),
    [],
  );
});

test('disk full: a write that does not fit is 507, the file stays, and nothing is left over', {
  skip: process.platform === 'win32',
}, async () => {
  const directory = place('full');
  // A limit on file size stands in for a full disk: it fails at the same place, the write.
  const writer = spawn('/bin/sh', ['-c', 'ulimit -f 8; exec "$0" "$@"', process.execPath, child, dataDir, 'ns', 'full', 'once'], {
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  assert.equal(await output(writer), 'ready\n507\n');
  assert.equal(readFileSync(join(directory, 'project.yaml'), 'utf8'), GOOD);
  assert.deepEqual(readdirSync(directory), ['project.yaml']);
});

test('rights: purging or changing what is not writable is 403 and changes nothing', {
  skip: process.getuid?.() !== 0 && 'needs root to become somebody else',
}, async () => {
  const directory = place('locked');
  chmodSync(dataDir, 0o755);
  mkdirSync(join(dataDir, 'projects', '.staging'), { recursive: true });
  chownSync(join(dataDir, 'projects', '.staging'), 65534, 65534);
  for (const mode of ['purge', 'once']) {
    const options: SpawnOptions = { stdio: ['ignore', 'pipe', 'inherit'], uid: 65534, gid: 65534 };
    assert.equal(await output(spawn(process.execPath, [child, dataDir, 'ns', 'locked', mode], options)), 'ready\n403\n');
  }
  assert.equal(readFileSync(join(directory, 'project.yaml'), 'utf8'), GOOD);
  assert.deepEqual(readdirSync(directory), ['project.yaml']);
});
