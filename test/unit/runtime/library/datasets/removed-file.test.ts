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
      await stage.close();
    });
  }
});
