import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { it } from 'node:test';
import { hashOf, openDatasetStage, PROJECT, writeProject } from '../support/dataset-stage.js';

/** Committed number of kills; `KILLS=300` runs the long loop. */
const KILLS = Number(process.env.KILLS ?? 8);
const FILES = 24;
const LINES = 25;
const CHILD = join(import.meta.dirname, '..', 'unit', 'runtime', 'library', 'datasets', 'queue-child.js');

interface Seen {
  id: string;
  state: string;
  current: number;
}

/** Runs the queue; kills it after `killAfterMs` of work. Resolves to what it said last. */
async function run(dataDir: string, id: string, killAfterMs?: number): Promise<{ first: Seen; last: Seen }> {
  const child = spawn(process.execPath, [CHILD, dataDir, id], { stdio: ['ignore', 'pipe', 'inherit'] });
  const gone = new Promise<void>((resolve) => child.once('close', () => resolve()));
  let first: Seen | undefined;
  let last: Seen | undefined;
  for await (const line of createInterface({ input: child.stdout })) {
    last = JSON.parse(line) as Seen;
    if (first === undefined && killAfterMs !== undefined) setTimeout(() => child.kill('SIGKILL'), killAfterMs);
    first ??= last;
  }
  await gone;
  assert.ok(first && last, 'the queue said nothing');
  return { first, last };
}

it(`a task survives ${KILLS} kills: no file is lost, none is stored twice`, { timeout: 600_000 }, async () => {
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-kill-'));
  writeProject(dataDir, 'ns', 'p', PROJECT);
  const stage = await openDatasetStage({ dataDir });
  const contents = Array.from({ length: FILES }, (_, file) => Array.from({ length: LINES }, (_x, line) => `${file} ${line}`).join('\n'));
  const hashes: string[] = [];
  for (const [at, content] of contents.entries()) {
    const path = join(dataDir, `upload-${at}`);
    writeFileSync(path, content);
    const sha256 = hashOf(content);
    await stage.datasets.add('ns', 'p', 'docs', {
      field: 'file',
      name: `${at}.txt`,
      mimeType: '',
      path,
      sizeBytes: content.length,
      sha256,
    });
    hashes.push(sha256);
  }
  await stage.close();

  let id = '';
  let reached = 0;
  for (let kill = 0; kill < KILLS; kill += 1) {
    const { first, last } = await run(dataDir, id, 5 + Math.random() * 60);
    id = first.id;
    assert.ok(['PENDING', 'STARTED', 'SUCCESS'].includes(first.state), first.state);
    assert.ok(first.current >= reached, `after kill ${kill} the task was at ${first.current}, before it at ${reached}`);
    reached = last.current;
  }
  const { last } = await run(dataDir, id);
  assert.equal(last.state, 'SUCCESS');

  const added = readFileSync(join(dataDir, 'chunks', 'added'), 'utf8')
    .trim()
    .split('\n');
  assert.equal(new Set(added).size, added.length, 'a chunk was stored twice');
  const after = await openDatasetStage({ dataDir });
  for (const hash of hashes) assert.equal(await after.ingest.chunks('main_db', hash), LINES);
  const task = after.tasks.get('ns', 'p', id);
  assert.equal((task.result as { details: unknown[] }).details.length, FILES);
  assert.equal((task.result as { failed_files: number }).failed_files, 0);
  await after.close();
  rmSync(dataDir, { recursive: true, force: true });
});
