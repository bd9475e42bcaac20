import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { DATASET_KIND } from '../../../../../runtime/library/datasets/kind.js';
import { MAX_INTERRUPTIONS } from '../../../../../runtime/tasks/limits.js';
import { hashOf, openDatasetStage, PROJECT, writeProject } from '../../../../support/dataset-stage.js';

setLogLevel('error');
const NEVER = new AbortController().signal;
const dataDir = mkdtempSync(join(tmpdir(), 'quern-removed-'));
after(() => rmSync(dataDir, { recursive: true, force: true }));

describe('a file that was removed, with its bytes, while it was taken in and the daemon died', () => {
  for (const interruptions of [1, MAX_INTERRUPTIONS]) {
    it(`leaves no chunks after ${interruptions} such deaths`, async () => {
      writeProject(dataDir, 'ns', 'p', PROJECT);
      const hash = hashOf(`text ${interruptions}`);
      const id = `task-${interruptions}`;
      const before = await openDatasetStage({ dataDir });
      // What the run had stored after the removal.
      mkdirSync(join(dataDir, 'chunks', 'main_db', hash), { recursive: true });
      writeFileSync(join(dataDir, 'chunks', 'main_db', hash, '0'), 'x');
      assert.equal(await before.ingest.chunks('main_db', hash), 1);
      await before.store.write((batch) => {
        const shared = { dataset: 'docs', database: 'main_db', strategy: 'texts', overrides: {} };
        const task = { kind: DATASET_KIND, group: true, phase: 'open', total: 1, shared, createdMs: 1, startedMs: 1 } as const;
        batch.put('tasks', ['ns', 'p', id], task);
        const input = { mime_type: 'text/plain', size: 6 };
        batch.put('taskItems', [id, 0], { key: hash, name: 'a.txt', input, state: 'running', attempts: 0, interruptions, touched: true });
      });
      await before.close();
      const stage = await openDatasetStage({ dataDir });
      const task = await stage.tasks.finished('ns', 'p', id, NEVER);
      assert.equal(task.state, 'FAILURE');
      assert.match(task.traceback!, /was removed from the dataset/);
      assert.equal(await stage.ingest.chunks('main_db', hash), 0);
      assert.deepEqual(stage.ingest.forgotten, [hash]);
      await stage.close();
    });
  }
});

describe('what was made of a document', () => {
  it('goes with the last copy of its bytes that the project has', async () => {
    writeProject(dataDir, 'ns', 'copies', PROJECT);
    const stage = await openDatasetStage({ dataDir });
    const { datasets, ingest } = stage;
    const upload = async (dataset: string, name: string, text: string): Promise<string> => {
      const path = join(dataDir, `${dataset}-${hashOf(text)}`);
      writeFileSync(path, text);
      const file = { field: 'file', name, mimeType: 'text/plain', path, sizeBytes: text.length, sha256: hashOf(text) };
      await datasets.add('ns', 'copies', dataset, file);
      return file.sha256;
    };
    const remove = async (dataset: string, hash: string, bytes: boolean): Promise<readonly string[]> => {
      await datasets.removal.file('ns', 'copies', dataset, hash, { bytes });
      return ingest.forgotten.splice(0);
    };
    const [a, b, c] = [await upload('docs', 'a', 'text a'), await upload('docs', 'b', 'text b'), await upload('docs', 'c', 'text c')];
    assert.deepEqual(await remove('docs', a, false), []);
    assert.deepEqual(await remove('docs', b, true), [b]);
    await upload('twin', 'c', 'text c');
    await datasets.delete('ns', 'copies', 'twin', { files: true, chunks: false });
    assert.deepEqual(ingest.forgotten.splice(0), []);
    await upload('docs', 'c', 'text d');
    assert.deepEqual(ingest.forgotten.splice(0), [c]);
    await datasets.delete('ns', 'copies', 'docs', { files: true, chunks: false });
    assert.deepEqual(ingest.forgotten.splice(0), [hashOf('text d')]);
    await stage.close();
  });
});
