import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { extractorOf } from '../../../../../runtime/documents/extractors/index.js';

interface Found {
  readonly tables: readonly { type: string; headers: string[]; data: unknown; start_line: number; end_line: number }[];
  readonly table_count: number;
  readonly total_rows: number;
  readonly total_columns: number;
}
const find = (text: string, options = {}): Found => extractorOf('TableExtractor').extract(text, options).output.tables as Found;

const PIPE = 'Before\n\n| a | b |\n|---|:-:|\n| 1 | x\\|y |\n| 2 |\nAfter';
const GRID = '+---+-----+\n| h | i   |\n+===+=====+\n| 1 | two |\n|   | too |\n+---+-----+\n';
const CSV = 'id,name,qty\n1,"a, ""b""",3\n2,c,4\nThat is all, folks, really.';

describe('tables', () => {
  it('reads tables with bars', () => {
    assert.deepEqual(find(PIPE).tables, [
      {
        type: 'pipe',
        headers: ['a', 'b'],
        data: [
          { a: '1', b: 'x|y' },
          { a: '2', b: '' },
        ],
        start_line: 3,
        end_line: 6,
      },
    ]);
    assert.deepEqual(find('| a | b |\n| 1 | 2 |').tables[0]!.data, [{ a: '1', b: '2' }]);
    assert.equal(find('a | b is said in prose\nc | d too').table_count, 0);
  });

  it('reads drawn tables, the lines of a cell together or apart', () => {
    assert.deepEqual(find(GRID).tables[0], {
      type: 'grid',
      headers: ['h', 'i'],
      data: [{ h: '1', i: 'two too' }],
      start_line: 1,
      end_line: 6,
    });
    assert.deepEqual(find(GRID, { merge_cells: false }).tables[0]!.data, [
      { h: '1', i: 'two' },
      { h: '', i: 'too' },
    ]);
  });

  it('reads rows of CSV but not sentences', () => {
    const [table] = find(CSV).tables;
    assert.deepEqual(table, {
      type: 'csv',
      headers: ['id', 'name', 'qty'],
      data: [
        { id: '1', name: 'a, "b"', qty: '3' },
        { id: '2', name: 'c', qty: '4' },
      ],
      start_line: 1,
      end_line: 3,
    });
    assert.equal(find('x\ty\n1\t2\n3\t4').tables[0]!.type, 'csv');
    assert.equal(find('a;b;c\n1;2;3').table_count, 1);
    assert.equal(find('Dear all, hello\nyours, me').table_count, 0);
    assert.equal(find('"open, b, c\n"open, b, c').table_count, 0);
  });

  it('gives rows in every format', () => {
    assert.deepEqual(find(CSV, { output_format: 'list' }).tables[0]!.data, [
      ['1', 'a, "b"', '3'],
      ['2', 'c', '4'],
    ]);
    assert.equal(find(CSV, { output_format: 'csv' }).tables[0]!.data, 'id,name,qty\n1,"a, ""b""",3\n2,c,4');
    assert.equal(find(PIPE, { output_format: 'markdown' }).tables[0]!.data, '| a | b |\n| --- | --- |\n| 1 | x\\|y |\n| 2 |  |');
  });

  it('names columns once each, and not by the first row where it is none', () => {
    assert.deepEqual(find('a,a,\n1,2,3').tables[0]!.headers, ['a', 'a_2', 'column_3']);
    const bare = find('a,b,c\n1,2,3', { extract_headers: false }).tables[0]!;
    assert.deepEqual(
      [bare.headers, bare.data],
      [
        [],
        [
          { column_1: 'a', column_2: 'b', column_3: 'c' },
          { column_1: '1', column_2: '2', column_3: '3' },
        ],
      ],
    );
    assert.deepEqual(Object.keys((find('__proto__,b,c\n1,2,3').tables[0]!.data as object[])[0]!), ['__proto__', 'b', 'c']);
  });

  it('counts tables, rows and columns', () => {
    const found = find(`${PIPE}\n\n${GRID}`);
    assert.deepEqual([found.table_count, found.total_rows, found.total_columns], [2, 3, 4]);
    assert.equal(find(PIPE, { min_rows: 4 }).table_count, 0);
  });
});
