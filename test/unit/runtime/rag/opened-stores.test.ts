import assert from 'node:assert/strict';
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { Outbound } from '../../../../runtime/net/outbound.js';
import type { EmbeddedChunk } from '../../../../runtime/rag/contract.js';
import { OpenedStores } from '../../../../runtime/rag/opened-stores.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import type { Database } from '../../../../schemas/generated/config/rag.js';
import { until } from '../../../support/until.js';

const signal = new AbortController().signal;
const database = (name: string, config: Record<string, unknown> = {}): Database => ({ name, type: 'NativeStore', config });
const chunks = (count: number): EmbeddedChunk[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `c${at}`,
    documentHash: 'd',
    text: `text ${at}`,
    metadata: {},
    vector: new Float32Array([1, at]),
  }));

describe('opened stores', () => {
  let dataDir: string;
  let store: Store;
  let outbound: Outbound;
  let stores: OpenedStores;
  const place = (project: string) => {
    const directory = join(dataDir, 'projects', project);
    mkdirSync(directory, { recursive: true });
    return { namespace: 'ns', project, directory };
  };
  const tables = (): number[] =>
    [store.chunks, store.vectors, store.chunkIds, store.documents].map((table) => table.keys({ limit: 10_000 }).length);
  const swept = (): Promise<void> => until(() => store.waste.keys({ limit: 1 }).length === 0, 'the waste is gone');

  beforeEach(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'quern-stores-'));
    store = await openStore(dataDir);
    outbound = new Outbound();
    stores = new OpenedStores({ store, outbound });
  });
  afterEach(async () => {
    await stores.close();
    await store.close();
    await outbound.close();
    rmSync(dataDir, { recursive: true, force: true });
  });

  it('opens each database once', async () => {
    const [one, same, other, elsewhere] = await Promise.all([
      stores.of(place('p'), database('a')),
      stores.of(place('p'), database('a')),
      stores.of(place('p'), database('b')),
      stores.of(place('q'), database('a')),
    ]);
    assert.equal(one, same);
    assert.equal(new Set([one, other, elsewhere]).size, 3);
  });

  it('closes what nobody uses, and opens it again with what it held', async () => {
    const idle = new OpenedStores({ store, outbound, idleMs: 40 });
    const one = await idle.of(place('p'), database('a'));
    await one.add(chunks(3), signal);
    const reading = one.chunks()[Symbol.asyncIterator]();
    await reading.next();
    // In use as long as somebody reads.
    await sleep(200);
    assert.equal(idle.size, 1);
    await reading.next();
    await until(() => idle.size === 0, 'the idle store is closed');
    await assert.rejects(one.add(chunks(4), signal), /closed/);
    assert.equal((await (await idle.of(place('p'), database('a'))).stats()).chunks, 3);
    await idle.close();
  });

  it('opens it anew when its configuration changes, with what it held', async () => {
    const one = await stores.of(place('p'), database('a'));
    await one.add(chunks(3), signal);
    const other = await stores.of(place('p'), database('a', { metric: 'l2' }));
    assert.notEqual(one, other);
    const { chunks: count, metric } = await other.stats();
    assert.deepEqual([count, metric], [3, 'l2']);
    await assert.rejects(one.add(chunks(4), signal), /closed/);
  });

  it('tries again after a configuration that cannot be opened', async () => {
    await assert.rejects(stores.of(place('p'), database('a', { metric: 'odd' })), /odd/);
    assert.equal((await (await stores.of(place('p'), database('a'))).stats()).chunks, 0);
  });

  it('takes what was dropped off the disk', async () => {
    const one = await stores.of(place('p'), database('a'));
    await one.add(chunks(500), signal);
    await stores.drop(place('p'), database('a'));
    await swept();
    assert.deepEqual(tables(), [0, 0, 0, 0]);
    assert.equal((await (await stores.of(place('p'), database('a'))).stats()).chunks, 0);
    await stores.drop(place('p'), database('never_used'));
  });

  it('erases the databases of a project, also those that nobody has opened since the start, and no others', async () => {
    for (const project of ['p', 'p2', 'o'])
      for (const name of ['a', 'b']) await (await stores.of(place(project), database(name))).add(chunks(300), signal);
    await stores.close();
    stores = new OpenedStores({ store, outbound });
    const opened = await stores.of(place('p'), database('a'));
    await stores.erase('ns', 'p');
    await swept();
    assert.deepEqual(tables(), [1200, 1200, 1200, 4]);
    assert.deepEqual(
      store.collections.keys({ limit: 10 }).map(([, project, name]) => `${project}/${name}`),
      ['o/a', 'o/b', 'p2/a', 'p2/b'],
    );
    await assert.rejects(opened.add(chunks(1), signal), /closed/);
    assert.equal((await (await stores.of(place('p2'), database('a'))).stats()).chunks, 300);
    assert.equal((await (await stores.of(place('p'), database('b'))).stats()).chunks, 0);
  });

  it('goes on with what a crash has left of a drop', async () => {
    const one = await stores.of(place('p'), database('a'));
    await one.add(chunks(300), signal);
    await stores.close();
    const [key] = store.collections.keys({ limit: 1 });
    const { collection, nextRow } = store.collections.get(key!)!;
    await store.write((batch) => {
      batch.remove('collections', key!);
      batch.put('waste', [collection, 0], { count: nextRow + 1, whole: true });
    });
    stores = new OpenedStores({ store, outbound });
    await swept();
    assert.deepEqual(tables(), [0, 0, 0, 0]);
  });
});
