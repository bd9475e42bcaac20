import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { linesOf } from '../../../../runtime/memory/draft.js';
import { lineKey } from '../../../../runtime/memory/lines.js';
import { openMemoryStage } from '../../../support/memory/store-stage.js';
import { KILLED_STORE } from './killed-store.js';

setLogLevel('error');
const CHILD = join(import.meta.dirname, 'changing-child.js');
const ROUNDS = 4;
/** Acknowledgements before a kill: with those of all rounds the store holds more than its working memory takes. */
const LEAST = 60;

interface Acknowledged {
  added?: string[];
  removed?: string[];
  imported?: string;
}

/** Lets a child change the store and kills it after a random number of acknowledgements; returns all of those. */
async function killWhileChanging(dir: string, round: number, after: number): Promise<Acknowledged[]> {
  const child = fork(CHILD, [dir, String(round)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const acknowledged: Acknowledged[] = [];
  child.on('message', (message: Acknowledged) => {
    acknowledged.push(message);
    if (acknowledged.length === after) child.kill('SIGKILL');
  });
  const [, signal] = await new Promise<[number | null, string | null]>((resolve) => child.once('close', (...end) => resolve(end)));
  assert.equal(signal, 'SIGKILL');
  return acknowledged;
}

describe('a memory store under SIGKILL', () => {
  it('has every acknowledged change, imports whole or not at all, and indexes that fit the records', async () => {
    const dir = mkdtempSync(join(tmpdir(), 'quern-memory-kill-'));
    try {
      const acknowledged: Acknowledged[] = [];
      for (let round = 0; round < ROUNDS; round += 1)
        acknowledged.push(...(await killWhileChanging(dir, round, LEAST + Math.floor(Math.random() * 100))));
      const stage = await openMemoryStage([KILLED_STORE], dir, 1_800_000_100_000);
      const store = await stage.main();
      assert.equal(stage.state.health().status, 'healthy');
      const removed = new Set(acknowledged.flatMap((one) => one.removed ?? []));
      for (const id of acknowledged.flatMap((one) => one.added ?? [])) assert.ok(store.get(id), `${id} is gone`);
      for (const id of removed) assert.equal(store.get(id), undefined, `${id} is there again`);

      const imports = new Map<string, number>();
      const lines: string[] = [];
      const kinds: Record<string, number> = {};
      const { owner } = stage.state.memoryStores.page({ limit: 1 })[0]!.value;
      let records = 0;
      for await (const record of store.records()) {
        records += 1;
        for (const tag of record.tags ?? []) imports.set(tag, (imports.get(tag) ?? 0) + 1);
        for (const kind of record.kinds) kinds[kind] = (kinds[kind] ?? 0) + 1;
        for (const line of linesOf(record, KILLED_STORE))
          lines.push(JSON.stringify([lineKey(owner, line, record.seq), line.value ?? null]));
      }
      assert.deepEqual([...new Set(imports.values())], imports.size > 0 ? [80] : []);
      for (const name of acknowledged.flatMap((one) => one.imported ?? [])) assert.equal(imports.get(name), 80, name);
      const stored = stage.state.memoryLines.page({ limit: 1_000_000 }).map(({ key, value }) => JSON.stringify([key, value]));
      assert.deepEqual(stored.sort(), lines.sort());
      const counts = store.counts();
      assert.deepEqual([counts.records, counts.kinds], [records, kinds]);
      // It holds 100. Each of the two that add may have removed a record of its own last, whose place is free until the next comes.
      assert.ok(
        kinds.working_memory! >= 98 && kinds.working_memory! <= 100,
        `what is taken back pushed nothing out: ${kinds.working_memory}`,
      );
      await stage.close();
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
