import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { examine } from '../../../../runtime/store/examination.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';

setLogLevel('error');
const CANARY = 'canary-of-the-scrub-4f1d';

/** Every file below a folder that holds a text. */
function holders(folder: string, text: string): string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map(({ parentPath, name }) => join(parentPath, name))
    .filter((path) => readFileSync(path).includes(text));
}

describe('what was removed, after a scrub', () => {
  let dataDir: string;
  let store: Store;
  before(async () => {
    dataDir = mkdtempSync(join(tmpdir(), 'quern-scrub-'));
    store = await openStore(dataDir);
  });
  after(async () => {
    await store.close();
    rmSync(dataDir, { recursive: true });
  });
  const chunk = (text: string) => ({ id: 'x', documentHash: 'h', text, metadata: {} });

  it('is in no file, and what stays is whole', async () => {
    // Small records share pages with others, large ones have pages of their own, and removals leave gaps and free pages.
    for (let row = 0; row < 600; row += 1) {
      const text =
        row % 3 === 0 ? `${CANARY} ${row} ${'c'.repeat(row % 2 ? 20 : 9_000)}` : `stays ${row} ${'s'.repeat(row % 5 ? 30 : 6_000)}`;
      await (row % 20 === 0 ? store.write((batch) => batch.put('chunks', [1, row], chunk(text))) : undefined);
      if (row % 20 !== 0) void store.write((batch) => batch.put('chunks', [1, row], chunk(text)));
    }
    await store.write((batch) => batch.put('waste', [1, 1], { count: 1 }));
    await store.backup();
    assert.equal(holders(dataDir, CANARY).length, 2);
    await store.write((batch) => {
      for (let row = 0; row < 600; row += 3) batch.remove('chunks', [1, row]);
    });
    assert.notDeepEqual(holders(dataDir, CANARY), [], 'LMDB leaves the bytes of what is removed');
    // Reads and writes go on beside it.
    const beside = Array.from({ length: 20 }, (_none, i) => store.write((batch) => batch.put('chunks', [2, i], chunk(`beside ${i}`))));
    const reading = setInterval(() => assert.match(store.chunks.get([1, 1])!.text, /^stays 1 /), 1);
    await Promise.all([store.scrub(), store.scrub(), ...beside]);
    clearInterval(reading);
    assert.deepEqual(holders(dataDir, CANARY), []);
    for (let row = 0; row < 600; row += 1)
      assert.equal(store.chunks.get([1, row])?.text.startsWith(`stays ${row} `), row % 3 === 0 ? undefined : true);
    assert.equal(store.chunks.page({ start: [2], end: [3], limit: 100 }).length, 20);
    assert.deepEqual((await examine(join(dataDir, 'state/data.mdb'))).problems, []);
  });

  it('leaves a store that can be written, closed and opened', async () => {
    for (let i = 0; i < 50; i += 1) await store.write((batch) => batch.put('chunks', [3, i], chunk('t'.repeat(i * 100))));
    await store.close();
    store = await openStore(dataDir);
    assert.equal(store.chunks.page({ start: [3], end: [4], limit: 100 }).length, 50);
    assert.equal(store.health().status, 'healthy');
  });
});
