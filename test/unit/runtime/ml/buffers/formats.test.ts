import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { tableFromIPC } from 'apache-arrow';
import { readColumns } from '../../../../../native/columns.js';
import type { ColumnFrame } from '../../../../../native/contract.js';
import { loadCore } from '../../../../../native/loader.js';
import { EXPORT_TYPES } from '../../../../../runtime/ml/buffers/contract.js';
import { FORMATS } from '../../../../../runtime/ml/buffers/formats.js';
import { appendTo, cellsOf, type Row } from '../../../../../runtime/ml/cells.js';

const signal = new AbortController().signal;

async function frameOf(rows: readonly Row[]): Promise<ColumnFrame> {
  const table = loadCore().openColumns({ capacity: 1_000_000 });
  await appendTo(table, await cellsOf(rows, new Map()));
  return readColumns(table);
}

const MIXED: Row[] = [
  { i: 1, f: 0.1, b: true, s: 'plain', n: null },
  { i: null, f: null, b: null, s: null },
  { i: -(2 ** 53) + 1, f: -1e-300, b: false, s: '' },
  { i: 4, f: 2, s: 'a "quoted", text\r\n\u2028 with é and 🙂' },
];

describe('the forms in which rows go out', () => {
  it('lists one for each media type', () => assert.deepEqual(Object.keys(FORMATS).sort(), [...EXPORT_TYPES].sort()));

  it('JSON gives the rows back', async () => {
    const { data, ...head } = JSON.parse(Buffer.from(await FORMATS['application/json']('b', await frameOf(MIXED), signal)).toString());
    assert.deepEqual(head, { object: 'polars_data', buffer_id: 'b', rows: 4, columns: ['i', 'f', 'b', 's', 'n'] });
    const empty = { i: null, f: null, b: null, s: null, n: null };
    assert.deepEqual(
      data,
      MIXED.map((row) => ({ ...empty, ...row })),
    );
  });

  it('CSV tells a null from an empty text', async () => {
    const text = Buffer.from(await FORMATS['text/csv']('b', await frameOf(MIXED), signal)).toString();
    const lines = ['i,f,b,s,n', '1,0.1,true,plain,', ',,,,', '-9007199254740991,-1e-300,false,"",'];
    assert.equal(text, `${lines.join('\r\n')}\r\n4,2,,"a ""quoted"", text\r\n\u2028 with é and 🙂",\r\n`);
  });

  it('Arrow keeps kinds and nulls, over several batches', async () => {
    const rows = Array.from({ length: 40_000 }, (_, row) => ({ ...MIXED[row % 4], i: row % 4 === 1 ? null : row }));
    const bytes = await FORMATS['application/vnd.apache.arrow.stream']('b', await frameOf(rows), signal);
    const table = tableFromIPC(bytes);
    assert.ok(table.batches.length > 1);
    assert.deepEqual(
      table.schema.fields.map(({ name, type }) => `${name} ${type}`),
      ['i Int64', 'f Float64', 'b Bool', 's Utf8', 'n Null'],
    );
    assert.equal(table.numRows, rows.length);
    for (const row of [0, 1, 2, 3, 19_999, 39_997, 39_999]) {
      const { i, f, b, s, n } = table.get(row)!.toJSON();
      const wanted: Row = rows[row]!;
      assert.deepEqual(
        [i === null ? null : Number(i), f, b, s, n],
        [wanted.i ?? null, wanted.f ?? null, wanted.b ?? null, wanted.s ?? null, null],
      );
    }
    assert.equal(table.getChild('s')!.nullCount, 10_000);
  });

  for (const type of EXPORT_TYPES) {
    it(`${type} of no rows`, async () => {
      const bytes = await FORMATS[type]('b', await readColumns(loadCore().openColumns({ capacity: 10 })), signal);
      if (type === 'text/csv') assert.equal(bytes.length, 0);
      else if (type === 'application/json') assert.deepEqual(JSON.parse(Buffer.from(bytes).toString()).data, []);
      else assert.equal(tableFromIPC(bytes).numRows, 0);
    });

    it(`${type} lets others run, and ends when nobody wants it any more`, async () => {
      const frame = await frameOf(Array.from({ length: 20_000 }, (_, row) => ({ a: row, b: row / 3, c: `text ${row}`, d: row, e: row })));
      let turns = 0;
      const count = (): void => {
        turns += 1;
        counting = setImmediate(count);
      };
      let counting = setImmediate(count);
      await FORMATS[type]('b', frame, signal);
      clearImmediate(counting);
      assert.ok(turns > 0, 'the event loop never turned');
      const controller = new AbortController();
      const writing = FORMATS[type]('b', frame, controller.signal);
      controller.abort(new Error('gone'));
      await assert.rejects(writing, /gone/);
    });
  }
});
