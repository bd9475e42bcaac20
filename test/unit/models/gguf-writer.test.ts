import assert from 'node:assert/strict';
import { mkdtempSync, rmSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { f32, flag, type GgufMetadata, list, text, u32 } from '../../../models/writers/gguf-values.js';
import { writeGguf } from '../../../models/writers/gguf-writer.js';
import { seededRandom } from '../../../models/writers/random.js';
import { fromHalf, type TensorType, toHalf } from '../../../models/writers/tensor-types.js';
import { readGguf } from '../../support/models/read-gguf.js';

const folder = mkdtempSync(join(tmpdir(), 'quern-gguf-'));
after(() => rmSync(folder, { recursive: true }));
const path = join(folder, 'model.gguf');

test('metadata of every type reads back as written', () => {
  const metadata: GgufMetadata = [
    ['a.u8', { type: 'u8', value: 255 }],
    ['a.i8', { type: 'i8', value: -128 }],
    ['a.u16', { type: 'u16', value: 65_535 }],
    ['a.i16', { type: 'i16', value: -32_768 }],
    ['a.u32', u32(2 ** 32 - 1)],
    ['a.i32', { type: 'i32', value: -(2 ** 31) }],
    ['a.f32', f32(0.5)],
    ['a.bool', flag(true)],
    ['a.string', text('Größe 😀\n')],
    ['a.u64', { type: 'u64', value: 2n ** 64n - 1n }],
    ['a.i64', { type: 'i64', value: -(2n ** 63n) }],
    ['a.f64', { type: 'f64', value: Math.PI }],
    ['a.strings', list('string', ['', 'b'])],
    ['a.none', list('i32', [])],
  ];
  writeGguf(path, { metadata, tensors: [] });
  const read = readGguf(path);
  assert.equal(read.version, 3);
  const expected = metadata.map(([key, value]) => [key, value.type === 'array' ? value.values : value.value]);
  assert.deepEqual([...read.metadata], expected);
});

test('a number that does not fit its type is refused', () => {
  assert.throws(() => writeGguf(path, { metadata: [['a', { type: 'u8', value: 256 }]], tensors: [] }), RangeError);
});

const TOLERANCE: Record<TensorType, number> = { F32: 1e-7, F16: 5e-4, Q8_0: 1 / 254 + 5e-4, Q4_0: 1 / 8 + 1e-3 };

for (const type of Object.keys(TOLERANCE) as TensorType[]) {
  test(`${type} tensors read back within the type's precision, at aligned offsets`, () => {
    const values = new Float32Array(96 * 3);
    seededRandom(5).fill(values, 1);
    values.fill(0, 32, 64);
    writeGguf(path, {
      metadata: [],
      alignment: 64,
      tensors: [
        { name: 'odd', type: 'F32', shape: [3], values: Float32Array.of(1, 2, 3) },
        { name: 'wanted', type, shape: [96, 3], values },
        { name: 'last', type: 'F32', shape: [1], values: Float32Array.of(7) },
      ],
    });
    const { tensors } = readGguf(path);
    const wanted = tensors.get('wanted')!;
    assert.deepEqual(wanted.shape, [96, 3]);
    assert.equal(wanted.offset % 64, 0);
    wanted.values.forEach((value, index) => {
      assert.ok(Math.abs(value - values[index]!) <= TOLERANCE[type], `value ${index}: ${value} for ${values[index]}`);
    });
    assert.deepEqual([...tensors.get('last')!.values], [7]);
    assert.equal(statSync(path).size % 64, 0);
  });
}

test('a filled tensor larger than a chunk is written in order', () => {
  const count = (1 << 20) + 64;
  const values = (chunk: Float32Array, offset: number): void => {
    for (let index = 0; index < chunk.length; index += 1) chunk[index] = offset + index;
  };
  writeGguf(path, { metadata: [], tensors: [{ name: 'ramp', type: 'F32', shape: [count], values }] });
  const ramp = readGguf(path).tensors.get('ramp')!.values;
  for (const index of [0, 1, (1 << 20) - 1, 1 << 20, count - 1]) assert.equal(ramp[index], index);
});

test('values that do not match the shape, and rows that are no whole blocks, are refused', () => {
  const tensor = { name: 'a', type: 'F32', shape: [4], values: new Float32Array(3) } as const;
  assert.throws(() => writeGguf(path, { metadata: [], tensors: [tensor] }), /a has 3 values, its shape 4 needs 4/);
  const ragged = { name: 'a', type: 'Q8_0', shape: [33], values: new Float32Array(33) } as const;
  assert.throws(() => writeGguf(path, { metadata: [], tensors: [ragged] }), /not a multiple of the 32/);
});

test('every half float survives a round trip, and rounding goes to the nearest', () => {
  for (let bits = 0; bits < 0x10000; bits += 1) {
    const value = fromHalf(bits);
    if (!Number.isNaN(value)) assert.equal(toHalf(value), bits);
  }
  assert.equal(fromHalf(toHalf(1 + 2 ** -11)), 1, 'a tie goes to even');
  assert.equal(fromHalf(toHalf(1 + 2 ** -11 + 2 ** -20)), 1 + 2 ** -10);
  assert.equal(fromHalf(toHalf(65_520)), Number.POSITIVE_INFINITY);
  assert.equal(fromHalf(toHalf(65_519)), 65_504);
  assert.equal(fromHalf(toHalf(2 ** -25)), 0);
});
