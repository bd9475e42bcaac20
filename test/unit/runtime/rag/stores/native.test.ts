import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync, truncateSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { dropStores } from '../../../../../runtime/rag/stores/index.js';
import { chunk, chunks, direction, find, NEVER, type Opened, open, word } from './fixture.js';

/** Enough for index files to be written. */
const MANY = 1_500;
const root = mkdtempSync(join(tmpdir(), 'quern-native-store-'));
setLogLevel('error');
after(() => rmSync(root, { recursive: true, force: true }));

const idOf = (number: number, document = 'a'): string => chunk(document, number).id;

describe('native store', () => {
  let dir: string;
  beforeEach(() => {
    dir = mkdtempSync(join(root, 'data-'));
  });

  /** A database with documents a (MANY chunks) and b (one), closed. */
  const filled = async (): Promise<string> => {
    const opened = await open(dir);
    await opened.store.add([...chunks('a', 0, MANY), chunk('b', MANY)], NEVER);
    await find(opened.store, 0);
    await opened.close();
    return opened.folder;
  };
  /** Opens, asks for a few chunks, and returns how many records that has read. */
  const readsOf = async (numbers: readonly number[]): Promise<number> => {
    const { state, store, close } = await open(dir);
    for (const number of numbers) {
      const id = idOf(number, number === MANY ? 'b' : 'a');
      assert.deepEqual(await find(store, number), { dense: [id], lexical: [id] });
    }
    const { read } = state.counts;
    await close();
    return read;
  };

  it('finds everything after it was closed and opened, without reading all chunks', async () => {
    await filled();
    assert.ok((await readsOf([0, 700, MANY])) < 100);
  });

  it('indexes what came after the files were written, and forgets what went', async () => {
    await filled();
    const { state, store, folder } = await open(dir);
    await find(store, 0);
    const files = readdirSync(folder).map((name) => [name, readFileSync(join(folder, name))] as const);
    const record = state.collections.page({ limit: 1 })[0]!;
    await store.removeDocument('b');
    await store.add(chunks('c', 5_000, 5_010), NEVER);
    await store.close();
    // As if the process had ended before new files were written.
    for (const name of readdirSync(folder)) rmSync(join(folder, name));
    for (const [name, bytes] of files) writeFileSync(join(folder, name), bytes);
    const { snapshot } = record.value;
    await state.write((batch) =>
      batch.put('collections', record.key, { ...state.collections.get(record.key)!, ...(snapshot && { snapshot }) }),
    );
    await state.close();
    const again = await open(dir);
    assert.deepEqual(await find(again.store, 5_005), { dense: [idOf(5_005, 'c')], lexical: [idOf(5_005, 'c')] });
    const { dense, lexical } = await find(again.store, MANY, 3);
    assert.ok(!dense.includes(idOf(MANY, 'b')));
    assert.deepEqual([dense.length, lexical], [3, []]);
    assert.ok(again.state.counts.read < 200);
    await again.close();
  });

  for (const [name, harm] of Object.entries({
    'a flipped bit in': (path: string) => {
      const bytes = readFileSync(path);
      bytes[Math.floor(bytes.length / 2)]! ^= 4;
      writeFileSync(path, bytes);
    },
    'a missing end of': (path: string) => truncateSync(path, 5_000),
    'the loss of': (path: string) => rmSync(path),
    'nothing in': (path: string) => writeFileSync(path, ''),
  })) {
    for (const kind of ['vectors', 'words']) {
      it(`makes its indexes anew after ${name} the ${kind} file`, async () => {
        const folder = await filled();
        harm(join(folder, readdirSync(folder).find((file) => file.endsWith(`.${kind}`))!));
        assert.ok((await readsOf([0, 700, MANY])) >= MANY);
        assert.ok((await readsOf([0, 700, MANY])) < 100, 'new files were written');
      });
    }
  }

  it('makes its indexes anew when they are of another metric', async () => {
    await filled();
    const { state, store, close } = await open(dir, { distance_function: 'l2' });
    const { dense } = await store.query({ vector: direction(3), k: 1 }, NEVER);
    assert.deepEqual([dense[0]!.id, Math.round(dense[0]!.score)], [idOf(3), 1]);
    await store.reindex();
    assert.ok(state.counts.read >= MANY);
    await close();
  });

  it('answers exactly while its indexes are made', async () => {
    await filled();
    const { store, close } = await open(dir);
    await store.add(chunks('late', 10_000, 13_000), NEVER);
    const building = store.reindex();
    const { dense, plan } = await store.query({ vector: direction(12_345), k: 1 }, NEVER);
    assert.deepEqual([dense[0]!.id, (plan.dense as { not_indexed: number }).not_indexed > 0], [idOf(12_345, 'late'), true]);
    assert.deepEqual(await building, { chunks: MANY + 3_001 });
    await close();
  });

  it('keeps one index file of each kind', async () => {
    const folder = await filled();
    const before = readdirSync(folder);
    const { store, close } = await open(dir);
    await store.add([chunk('c', 9_000)], NEVER);
    await close();
    const names = readdirSync(folder);
    assert.deepEqual(names.map((name) => name.split('.')[1]).sort(), ['vectors', 'words']);
    assert.notDeepEqual(names, before);
  });

  it('does not bring back the directory of a project that was deleted', async () => {
    const { store, close } = await open(dir);
    await store.add(chunks('a', 0, MANY), NEVER);
    await find(store, 0);
    rmSync(join(dir, 'project'), { recursive: true });
    await close();
    assert.deepEqual(readdirSync(dir), ['state']);
  });

  const rows = ({ state }: Opened): number[] =>
    (['chunks', 'vectors', 'chunkIds', 'waste'] as const).map((table) => state[table].keys({ limit: 10_000 }).length);

  it('leaves nothing of an addition that is ended in the middle', async () => {
    const opened = await open(dir);
    const { state, store } = opened;
    await store.add([chunk('a', 0)], NEVER);
    const controller = new AbortController();
    const write = state.write.bind(state);
    let writes = 0;
    state.write = (fill) => {
      writes += 1;
      if (writes === 4) controller.abort(new Error('enough'));
      return write(fill);
    };
    await assert.rejects(store.add(chunks('b', 1, 1_001), controller.signal), /enough/);
    assert.equal((await store.stats()).chunks, 1);
    await store.compact();
    assert.deepEqual(rows(opened), [1, 1, 1, 0]);
    assert.deepEqual(await store.add(chunks('b', 1, 1_001), NEVER), { stored: 1_000, skipped: 0 });
    assert.deepEqual(await find(store, 777), { dense: [idOf(777, 'b')], lexical: [idOf(777, 'b')] });
    await opened.close();
  });

  it('takes removed and dropped chunks off the disk', async () => {
    const opened = await open(dir);
    const { store } = opened;
    await store.add([...chunks('a', 0, 600), ...chunks('b', 600, 700)], NEVER);
    // The addition comes before what was removed has left the tables.
    const [removed, added] = await Promise.all([store.removeDocument('a'), store.add([chunk('a', 5)], NEVER)]);
    assert.deepEqual([removed, added.stored], [600, 1]);
    await store.compact();
    assert.deepEqual(rows(opened), [101, 101, 101, 0]);
    assert.deepEqual(await find(store, 5), { dense: [idOf(5)], lexical: [idOf(5)] });
    await store.drop();
    await store.compact();
    assert.deepEqual(rows(opened), [0, 0, 0, 0]);
    assert.equal(opened.state.documents.keys({ limit: 10 }).length, 0);
    await opened.close();
  });

  it('forgets the databases of a deleted project, and of no other', async () => {
    await filled();
    const first = await open(dir);
    await first.store.close();
    const record = first.state.collections.page({ limit: 1 })[0]!.value;
    await first.state.write((batch) => batch.put('collections', ['ns', 'p2', 'db'], { ...record, collection: 1, nextRow: 0 }));
    await dropStores(first.state, 'ns', 'p');
    assert.deepEqual(first.state.collections.keys({ limit: 10 }), [['ns', 'p2', 'db']]);
    await first.state.close();
    const again = await open(dir);
    assert.equal((await again.store.stats()).chunks, 0);
    await again.store.compact();
    assert.deepEqual(rows(again), [0, 0, 0, 0]);
    await again.close();
  });

  it('lists many documents and chunks, each once, also after it was opened again', async () => {
    const first = await open(dir);
    for (let document = 0; document < 150; document += 1) {
      await first.store.add(
        [chunk(`d${document}`, document, { file_name: `${document % 2 === 0 ? 'F' : 'f'}${1_000 - document}` })],
        NEVER,
      );
    }
    await first.close();
    const { store, close } = await open(dir);
    const names = (await store.documents(0, 1_000)).map(({ metadata }) => metadata.file_name as string);
    assert.deepEqual(
      names.map((name) => name.toLowerCase()),
      Array.from({ length: 150 }, (_, index) => `f${851 + index}`).sort(),
    );
    const ids: string[] = [];
    for await (const batch of store.chunks()) ids.push(...batch.map(({ id }) => id));
    assert.deepEqual(ids, Array.from({ length: 150 }, (_, document) => chunk(`d${document}`, document).id).sort());
    await close();
  });

  it('goes on where many write, remove and ask at once', async () => {
    const { store, close } = await open(dir);
    const work = Array.from({ length: 20 }, async (_, document) => {
      await store.add(chunks(`d${document}`, document * 100, document * 100 + 100), NEVER);
      const found = await find(store, document * 100 + 50);
      assert.deepEqual(found, { dense: [idOf(document * 100 + 50, `d${document}`)], lexical: [idOf(document * 100 + 50, `d${document}`)] });
      if (document % 2 === 0) assert.equal(await store.removeDocument(`d${document}`), 100);
    });
    await Promise.all(work);
    assert.equal((await store.stats()).chunks, 1_000);
    for (let document = 0; document < 20; document += 1) {
      const { dense, lexical } = await find(store, document * 100 + 1);
      assert.equal(dense[0] === idOf(document * 100 + 1, `d${document}`), document % 2 === 1);
      assert.equal(lexical.length, document % 2);
    }
    await close();
  });

  it('refuses options that are wrong, naming them', async () => {
    const cases: [Record<string, unknown>, RegExp][] = [
      [{ distance_function: 'hamming' }, /distance_function of the database 'db' is "hamming".*cosine/],
      [{ dimension: 0 }, /dimension of the database 'db' is 0.*1 to 16384/],
    ];
    for (const [config, message] of cases)
      await assert.rejects(open(mkdtempSync(join(root, 'data-')), config), { kind: 'invalid', message });
    const { store, close } = await open(dir, { dimension: 4 });
    await assert.rejects(store.add([chunk('a', 0)], NEVER), {
      kind: 'invalid',
      code: 'DimensionMismatch',
      message: /has 8 dimensions.*has 4/,
    });
    await close();
  });

  it('lets one of two first additions with different dimensions decide', async () => {
    const { store, close } = await open(dir);
    const other = { ...chunk('b', 1), vector: Float32Array.of(1, 2) };
    const [first, second] = await Promise.allSettled([store.add([chunk('a', 0)], NEVER), store.add([other], NEVER)]);
    assert.equal(first.status, 'fulfilled');
    assert.equal(second.status === 'rejected' && second.reason.code, 'DimensionMismatch');
    await close();
  });

  it('asks the beginning of a question that is too long', async () => {
    const { store, close } = await open(dir);
    await store.add(chunks('a', 0, 10), NEVER);
    const text = Array.from({ length: 2_000 }, (_, i) => word(i)).join(' ');
    const { lexical } = await store.query({ text, k: 20 }, NEVER);
    assert.equal(lexical.length, 10);
    await close();
  });
});
