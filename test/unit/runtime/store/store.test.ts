import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import { Failure } from '../../../../schemas/errors.js';

const folders: string[] = [];

function dataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quern-store-'));
  folders.push(folder);
  return folder;
}

function turn(store: Store, run: number, place: number, content: string): Promise<void> {
  return store.write((batch) => batch.put('turns', [run, place], { messages: [{ role: 'user', content }], atMs: place }));
}

after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

describe('store', () => {
  it('keeps records over a close, in key order, with page limits', async () => {
    const dir = dataDir();
    const first = await openStore(dir);
    await Promise.all(Array.from({ length: 300 }, (_, place) => turn(first, 1 + (place % 2), place, `text ${place}`)));
    await first.write((batch) => batch.put('sessions', ['ns', 'p', 'id'], { run: 1, turns: 3, createdMs: 1, lastActiveMs: 2 }));
    await first.close();
    const again = await openStore(dir);
    assert.deepEqual(again.sessions.get(['ns', 'p', 'id']), { run: 1, turns: 3, createdMs: 1, lastActiveMs: 2 });
    const page = again.turns.page({ start: [1, 0], end: [1, Number.POSITIVE_INFINITY], limit: 100 });
    assert.equal(page.length, 100);
    assert.deepEqual(
      page.map((entry) => entry.key[1]),
      Array.from({ length: 100 }, (_, index) => index * 2),
    );
    assert.equal(again.turns.page({ start: [1, 0], end: [1, Number.POSITIVE_INFINITY], limit: 1000 }).length, 150);
    assert.equal(again.turns.get([2, 299])?.messages[0]?.content, 'text 299');
    assert.equal(again.turns.get([3, 0]), undefined);
    await again.close();
  });

  it('writes all changes of a call or none', async () => {
    const store = await openStore(dataDir());
    const tooLong = 'x'.repeat(5_000);
    await assert.rejects(
      store.write((batch) => {
        batch.put('meta', 'kept', 1);
        batch.put('sessions', ['ns', 'p', tooLong], { run: 1, turns: 0, createdMs: 0, lastActiveMs: 0 });
      }),
      Failure,
    );
    assert.equal(store.meta.get('kept'), undefined);
    await store.write((batch) => batch.put('meta', 'kept', 2));
    assert.equal(store.meta.get('kept'), 2);
    await store.close();
  });

  it('sees a write as soon as it has resolved, and writes in the order of the calls', async () => {
    const store = await openStore(dataDir());
    for (let value = 0; value < 50; value += 1) {
      await store.write((batch) => batch.put('meta', 'counter', value));
      assert.equal(store.meta.get('counter'), value);
    }
    const writes = Array.from({ length: 500 }, (_, value) =>
      store.write((batch) => (value % 3 === 2 ? batch.remove('meta', 'last') : batch.put('meta', 'last', value))),
    );
    await Promise.all(writes);
    assert.equal(store.meta.get('last'), 499);
    await store.close();
  });

  it('makes no write of a chain behind one that failed, and all others', async () => {
    const store = await openStore(dataDir());
    const chain = { broken: false };
    // LMDB takes no key that is so long.
    const failing = store.write(
      (batch) => batch.put('sessions', ['x'.repeat(5000), 'p', 'id'], { run: 1, turns: 0, createdMs: 1, lastActiveMs: 1 }),
      chain,
    );
    const behind = store.write((batch) => batch.put('turns', [1, 1], { messages: [], atMs: 1 }), chain);
    const other = turn(store, 1, 2, 'other');
    const [first, second, third] = await Promise.allSettled([failing, behind, other]);
    assert.deepEqual([first.status, second.status, third.status], ['rejected', 'rejected', 'fulfilled']);
    assert.ok(chain.broken);
    assert.deepEqual([store.turns.get([1, 1]), store.turns.get([1, 2])?.atMs], [undefined, 2]);
    await assert.rejects(
      store.write((batch) => batch.put('turns', [1, 3], { messages: [], atMs: 3 }), chain),
      { kind: 'unavailable' },
    );
    await store.close();
  });

  it('has nothing under a key that no record can have, whatever it is made of', async () => {
    const store = await openStore(dataDir());
    for (const long of ['t'.repeat(5_000), 'é'.repeat(1_000), '\u20ac'.repeat(700), 'x'.repeat(1_979)]) {
      assert.equal(store.tasks.get(['ns', 'p', long]), undefined);
      assert.equal(store.buffers.get(long), undefined);
      assert.deepEqual(store.sessions.page({ start: ['ns', long], end: ['ns', `${long}x`], limit: 9 }), []);
      assert.deepEqual(store.tasks.keys({ start: [long], end: [`${long}x`], limit: 9 }), []);
    }
    const longest = 'x'.repeat(1_900);
    await store.write((batch) => batch.put('meta', longest, 5));
    assert.equal(store.meta.get(longest), 5);
    await store.close();
  });

  it('refuses writes after close, and closes twice without harm', async () => {
    const store = await openStore(dataDir());
    const waiting = store.write((batch) => batch.put('meta', 'late', 1));
    await Promise.all([store.close(), store.close(), waiting]);
    await assert.rejects(
      store.write((batch) => batch.put('meta', 'later', 1)),
      (failure: Failure) => failure.kind === 'unavailable',
    );
  });

  it('migrates forward step by step after a backup, and refuses a newer format', async () => {
    const dir = dataDir();
    const old = await openStore(dir, { migrations: [] });
    await old.write((batch) => batch.put('meta', 'steps', 0));
    await old.close();
    const step = (factor: number) => async (store: Store) => {
      await store.write((batch) => batch.put('meta', 'steps', (store.meta.get('steps') ?? 0) * 10 + factor));
    };
    const newer = await openStore(dir, { migrations: [step(1), step(2), step(3)] });
    assert.equal(newer.meta.get('steps'), 123);
    assert.equal(newer.meta.get('version'), 4);
    assert.equal(readdirSync(join(dir, 'state', 'backups')).length, 1);
    await newer.close();
    const same = await openStore(dir, { migrations: [step(1), step(2), step(3)] });
    assert.equal(same.meta.get('steps'), 123);
    await same.close();
    await assert.rejects(
      openStore(dir),
      (failure: Failure) => failure.code === 'StateTooNew' && failure.message.includes('format 4') && failure.message.includes(dir),
    );
  });

  const damages: { name: string; damage: (file: string) => void }[] = [
    { name: 'a file of garbage', damage: (file) => writeFileSync(file, Buffer.alloc(50_000, 'garbage')) },
    { name: 'a file that lost its end', damage: (file) => truncateSync(file, 9_000) },
    {
      name: 'an empty file with rubbish after it',
      damage: (file) => writeFileSync(file, Buffer.concat([Buffer.alloc(8192), Buffer.from('x')])),
    },
  ];
  for (const { name, damage } of damages) {
    it(`moves ${name} aside and uses the backup`, async () => {
      const dir = dataDir();
      const store = await openStore(dir);
      for (let place = 0; place < 40; place += 1) await turn(store, 1, place, 'y'.repeat(3_000));
      await store.backup();
      await turn(store, 1, 40, 'after the backup');
      await store.close();
      damage(join(dir, 'state', 'data.mdb'));
      const again = await openStore(dir);
      assert.equal(again.turns.get([1, 39])?.messages[0]?.content, 'y'.repeat(3_000));
      assert.equal(again.turns.get([1, 40]), undefined);
      await turn(again, 1, 41, 'goes on');
      await again.close();
      assert.equal(readdirSync(dir).filter((entry) => entry.startsWith('state.damaged-')).length, 1);
      const healed = await openStore(dir);
      assert.equal(healed.turns.get([1, 41])?.messages[0]?.content, 'goes on');
      await healed.close();
    });
  }

  it('starts empty when a damaged store has no backup', async () => {
    const dir = dataDir();
    const store = await openStore(dir);
    await turn(store, 1, 1, 'lost');
    await store.close();
    writeFileSync(join(dir, 'state', 'data.mdb'), 'no database');
    const again = await openStore(dir);
    assert.equal(again.turns.get([1, 1]), undefined);
    await again.close();
  });
});
