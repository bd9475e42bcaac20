import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { RowEncoder, type RowSchema } from '../../../../../runtime/ml/anomaly/encoder.js';
import { byCodePoint, ENCODINGS, pythonText } from '../../../../../runtime/ml/anomaly/encodings.js';
import type { Rows } from '../../../../../runtime/ml/anomaly/rows.js';

async function matrix(rows: Rows): Promise<number[][]> {
  const out: number[][] = [];
  for await (const block of rows.blocks()) {
    for (let at = 0; at < block.length; at += rows.columns) out.push([...block.subarray(at, at + rows.columns)]);
  }
  return out;
}

/** The column of one field `f`, learned from `train`, for `values`. */
async function encoded(type: string, train: readonly unknown[], values: readonly unknown[]): Promise<number[][]> {
  const encoder = await RowEncoder.learn(
    { f: type },
    train.map((f) => ({ f })),
  );
  // What is saved is what counts.
  const again = RowEncoder.of(JSON.parse(JSON.stringify(encoder.state)));
  return matrix(again.rows(values.map((f) => (f === undefined ? {} : { f }))));
}
const column = async (type: string, train: readonly unknown[], values: readonly unknown[]): Promise<number[]> =>
  (await encoded(type, train, values)).flat();

describe('encodings', () => {
  it('hashes as the reference system does', async () => {
    const values = ['curl/7.68.0', 'Mozilla/5.0', '10.0.0.1', '', 'abc', 42, true, 1.5, null, undefined];
    const hashes = [488006, 820693, 327339, 706393, 5272, 814184, 358534, 162738, 0, 0];
    assert.deepEqual(await column('hash', ['a', 'b'], values), hashes);
    assert.deepEqual(await column('hash', ['a', 'b'], ['42', 'True', '1.5']), [814184, 358534, 162738]);
  });

  it('reads numbers, and texts that are numbers', async () => {
    const values = [1, -2.5, '3', ' 4e2 ', '1_000', '.5', '5.', true, 'x', '', null, undefined, 'nan', '-inf', '0x10', [], {}];
    assert.deepEqual(await column('numeric', [1, 2], values), [1, -2.5, 3, 400, 1000, 0.5, 5, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
    assert.deepEqual(await column('numeric', [1, 2], [0.1]), [Math.fround(0.1)]);
  });

  it('labels in the order of texts', async () => {
    assert.deepEqual(
      await column('label', ['b', 'a', 'b', null, 10, '9', true], ['a', 'b', 10, '10', '9', true, 'c', null]),
      [4, 5, 1, 1, 2, 3, 0, 0],
    );
  });

  it('makes a column for each category, a hundred at most', async () => {
    assert.deepEqual(await encoded('onehot', ['x', 'y', 'x'], ['x', 'y', 'z', null]), [
      [1, 0],
      [0, 1],
      [0, 0],
      [0, 0],
    ]);
    assert.deepEqual(await encoded('onehot', [null, null], ['x', null]), [[0], [0]]);
    const many = Array.from({ length: 150 }, (_none, i) => `c${String(i).padStart(3, '0')}`);
    const rows = await encoded('onehot', many, ['c099', 'c100']);
    assert.deepEqual([rows[0]!.length, rows[0]!.indexOf(1), rows[1]!.indexOf(1)], [100, 99, -1]);
    const encoder = await RowEncoder.learn({ f: 'onehot', a: 'numeric' }, [{ f: 'x' }, { f: 'y' }]);
    assert.deepEqual(encoder.features, ['a', 'f_x', 'f_y']);
  });

  it('knows the words for yes', async () => {
    const values = [true, false, 1, 0, 2, -0.5, 'true', 'YES', '1', 'on', 'T', 'y', 'no', 'false', '', '2', null, undefined];
    assert.deepEqual(await column('binary', [true, false], values), [1, 0, 1, 0, 1, 1, 1, 1, 1, 1, 1, 1, 0, 0, 0, 0, 0, 0]);
  });

  it('takes shares of what is there', async () => {
    const shares = await column('frequency', ['a', 'a', 'a', 'b', null], ['a', 'b', 'c', null]);
    assert.deepEqual(shares, [0.75, 0.25, 0.125, 0.125]);
    assert.deepEqual(await column('frequency', [null, null], ['a', null]), [0, 0]);
  });

  it('orders columns by the names of fields', async () => {
    const encoder = await RowEncoder.learn({ b: 'numeric', a: 'numeric', B: 'numeric' }, [{ a: 1, b: 2, B: 3 }]);
    assert.deepEqual(encoder.state.feature_order, ['B', 'a', 'b']);
    assert.deepEqual(await matrix(encoder.rows([{ a: 1, b: 2, B: 3 }])), [[3, 1, 2]]);
  });

  it('orders texts by code points', () => {
    const texts = ['\u{1f600}', '\ufffd', 'b', 'a', 'ab', '\ue000'];
    assert.deepEqual(texts.sort(byCodePoint), ['a', 'ab', 'b', '\ue000', '\ufffd', '\u{1f600}']);
  });

  it('writes numbers as Python does', () => {
    const texts: [unknown, string][] = [
      [1.5, '1.5'],
      [0.0001, '0.0001'],
      [0.00001234, '1.234e-05'],
      [1e-7, '1e-07'],
      [1e-100, '1e-100'],
      [1e22, '10000000000000000000000'],
      [-3, '-3'],
      [-0, '-0.0'],
      [false, 'False'],
    ];
    for (const [value, text] of texts) assert.equal(pythonText(value, 'f', 0), text);
  });

  it('refuses what is no plain value, and what is no encoding', async () => {
    for (const type of ['hash', 'label', 'onehot', 'frequency']) {
      await assert.rejects(encoded(type, ['a'], [['x']]), { kind: 'bad_request', message: /row 0, field "f" is \["x"\]/ });
    }
    await assert.rejects(encoded('label', ['a', '\ud800'], []), { kind: 'bad_request', message: /row 1/ });
    await assert.rejects(encoded('numeric', [1], [1e39]), { kind: 'bad_request', message: /row 0, field "f"/ });
    for (const [schema, message] of [
      [{ f: 'magic' }, /"magic"; known are numeric, hash, label/],
      [{ f: 'constructor' }, /unknown encoding/],
      [{}, /no fields/],
    ] as const) {
      await assert.rejects(RowEncoder.learn(schema as RowSchema, [{ f: 1 }]), { kind: 'bad_request', message });
    }
    await assert.rejects(RowEncoder.learn({ f: 'numeric' }, [{ f: 1 }, [1]]), { kind: 'bad_request', message: /row 1 is \[1\]/ });
  });

  it('takes nothing from the prototype of a row', async () => {
    const encoder = await RowEncoder.learn({ constructor: 'hash', toString: 'label' } as unknown as RowSchema, [{ toString: 'x' }]);
    assert.deepEqual(await matrix(encoder.rows([{}, { toString: 'x' }])), [
      [0, 0],
      [0, 1],
    ]);
  });

  it('refuses files that hold no encoder of ours', async () => {
    const good = (await RowEncoder.learn({ f: 'label', g: 'frequency' }, [{ f: 'a', g: 'b' }])).state;
    const bad: unknown[] = [
      null,
      [],
      { ...good, version: 2 },
      { ...good, schema: { f: 'label' } },
      { ...good, feature_order: ['f'] },
      { ...good, feature_order: ['f', 'f'] },
      { ...good, encoders: { ...good.encoders, f: { type: 'label', labels: [1] } } },
      { ...good, encoders: { ...good.encoders, f: { type: 'onehot', categories: [] } } },
      { ...good, encoders: { ...good.encoders, g: { type: 'frequency', frequencies: [['a']] } } },
      { ...good, encoders: { ...good.encoders, f: null } },
    ];
    assert.deepEqual(RowEncoder.of(good).features, ['f', 'g']);
    for (const one of bad) assert.throws(() => RowEncoder.of(one), { kind: 'invalid' });
  });

  it('has a list in which each encoding makes columns that it fills', async () => {
    for (const type of Object.keys(ENCODINGS)) {
      const rows = await encoded(type, ['a', 'b', 1], ['a', null, 5, true]);
      assert.ok(
        rows.every((row) => row.length === rows[0]!.length && row.every(Number.isFinite)),
        type,
      );
    }
  });
});
