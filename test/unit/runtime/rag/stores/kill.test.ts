import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { chunk, find, type Opened, open } from './fixture.js';

const CHILD = join(import.meta.dirname, 'changing-child.js');
const ROUNDS = 6;

interface Change {
  document: string;
  number: number;
  count: number;
  state: 'adding' | 'there' | 'removing' | 'gone';
}

/** Lets a child change the database and kills it after a random number of messages; notes the last state of each document. */
async function killWhileChanging(dir: string, round: number, documents: Map<string, Change>): Promise<void> {
  const child = fork(CHILD, [dir, String(round)], { stdio: ['ignore', 'ignore', 'inherit', 'ipc'] });
  const after = 5 + Math.floor(Math.random() * 60);
  let seen = 0;
  child.on('message', (change: Change) => {
    documents.set(change.document, change);
    seen += 1;
    if (seen === after) child.kill('SIGKILL');
  });
  const [, signal] = await new Promise<[number | null, string | null]>((resolve) => child.once('close', (...end) => resolve(end)));
  assert.equal(signal, 'SIGKILL');
}

/** Checks that each document is whole or not at all there, as acknowledged, and that tables and indexes agree. */
async function check(opened: Opened, documents: ReadonlyMap<string, Change>): Promise<void> {
  const { store, state } = opened;
  let there = 0;
  for (const { document, number, count, state: last } of documents.values()) {
    const ids = Array.from({ length: count }, (_, index) => chunk(document, number * 1_000 + index).id);
    const has = (await store.has(ids)).size;
    if (last === 'there') assert.equal(has, count, `${document} was acknowledged`);
    else if (last === 'gone') assert.equal(has, 0, `${document} was removed`);
    else assert.ok(has === 0 || has === count, `${document}: ${has} of ${count}`);
    there += has;
    const found = await find(store, number * 1_000);
    assert.equal(found.dense[0] === ids[0], has > 0, `vector of ${document}`);
    assert.deepEqual(found.lexical, has > 0 ? [ids[0]] : [], `text of ${document}`);
  }
  assert.equal((await store.stats()).chunks, there);
  await store.compact();
  for (const table of ['chunks', 'vectors', 'chunkIds'] as const) assert.equal(state[table].keys({ limit: 10 ** 6 }).length, there, table);
  assert.equal(state.waste.keys({ limit: 10 }).length, 0);
}

describe('native store under SIGKILL', () => {
  it(`keeps what it acknowledged, and nothing else, after each of ${ROUNDS} kills`, async () => {
    const dir = mkdtempSync(join(tmpdir(), 'quern-kill-store-'));
    try {
      const documents = new Map<string, Change>();
      for (let round = 0; round < ROUNDS; round += 1) {
        await killWhileChanging(dir, round, documents);
        const opened = await open(dir);
        await check(opened, documents);
        await opened.close();
      }
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
