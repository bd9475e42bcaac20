import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { readColumns } from '../../../../native/columns.js';
import type { ColumnFrame, NativeColumns } from '../../../../native/contract.js';
import { loadCore } from '../../../../native/loader.js';
import { appendTo, cellsOf, type Row } from '../../../../runtime/ml/cells.js';
import { SegmentLog } from '../../../../runtime/ml/segment-log.js';
import { openStore, type Store } from '../../../../runtime/store/store.js';
import { emptyDataDir } from '../../../support/daemon.js';

describe('the segments of a table', () => {
  let store: Store;
  before(async () => {
    store = await openStore(emptyDataDir());
  });
  after(() => store.close());

  const open = async (owner: number, capacity: number): Promise<[SegmentLog, NativeColumns]> => {
    const table = loadCore().openColumns({ capacity });
    const log = new SegmentLog(store, owner, table);
    await log.load();
    return [log, table];
  };
  const append = async (log: SegmentLog, table: NativeColumns, rows: readonly Row[]): Promise<void> => {
    const cells = await cellsOf(rows, new Map());
    const written = log.append(cells);
    await appendTo(table, cells);
    await written;
    log.noteApplied(cells.rows);
  };
  const segments = (owner: number): number => store.segments.keys({ start: [owner, 0], end: [owner + 1], limit: 1_000_000 }).length;
  const row = (index: number): Row => ({ x: index, s: index % 3 === 0 ? null : `row ${index}` });
  const same = async (owner: number, capacity: number, table: NativeColumns): Promise<void> => {
    const [log, again] = await open(owner, capacity);
    const [wanted, got]: ColumnFrame[] = await Promise.all([readColumns(table, { tail: capacity }), readColumns(again)]);
    assert.deepEqual(got!.columns, wanted!.columns);
    await log.settled();
  };

  it('are few after many single rows, and hold the rows of the window', async () => {
    const [log, table] = await open(1, 300);
    for (let index = 0; index < 1000; index += 1) await append(log, table, [row(index)]);
    await log.settled();
    assert.equal(log.next, 1000);
    assert.ok(segments(1) < 64 + 8, `${segments(1)} segments`);
    await same(1, 300, table);
  });

  it('of different sizes keep their order', async () => {
    const [log, table] = await open(2, 100_000);
    let next = 0;
    for (let round = 0; round < 150; round += 1) {
      const count = [1, 100, 3, 1, 5000][round % 5]!;
      await append(
        log,
        table,
        Array.from({ length: count }, (_, index) => row(next + index)),
      );
      next += count;
    }
    await log.settled();
    assert.ok(segments(2) < 140, `${segments(2)} segments`);
    await same(2, 100_000, table);
  });

  it('that are written beside each other are merged when they are there', async () => {
    const [log, table] = await open(3, 5_000);
    let last: Promise<unknown> = Promise.resolve();
    for (let index = 0; index < 500; index += 1) {
      const cells = await cellsOf([row(index)], new Map());
      const written = log.append(cells);
      last = Promise.all([written, last]).then(async () => {
        await appendTo(table, cells);
        log.noteApplied(1);
      });
    }
    await last;
    await log.settled();
    assert.ok(segments(3) < 64 + 10, `${segments(3)} segments`);
    await same(3, 5_000, table);
  });

  it('are gone after a clear, and others stay', async () => {
    const [log] = await open(3, 5_000);
    await log.clear(() => undefined);
    assert.deepEqual([segments(3), log.next], [0, 0]);
    assert.ok(segments(2) > 0);
  });
});
