import assert from 'node:assert/strict';
import { it } from 'node:test';
import { encoderInput } from '../../../../../runtime/engines/image-text/encoder-input.js';
import { imageSettings } from '../../../../../runtime/engines/image-text/settings.js';

/** Where a white image of a size stands on a ground of 48 x 64 pixels, as DonutImageProcessor of transformers 4.57 puts it. */
const PLACES: readonly [width: number, height: number, left: number, top: number, wide: number, high: number][] = [
  [300, 500, 5, 0, 38, 64],
  [500, 300, 0, 18, 48, 28],
  [30, 40, 0, 0, 48, 64],
  [400, 60, 0, 28, 48, 7],
  [50, 420, 20, 0, 7, 64],
  [333, 217, 0, 16, 48, 31],
  [200, 300, 3, 0, 42, 64],
  [64, 64, 0, 8, 48, 48],
];

for (const [width, height, ...expected] of PLACES)
  it(`an image of ${width} x ${height} stands where the training put it`, async () => {
    const pixels = { width, height, channels: 3, data: new Uint8Array(width * height * 3).fill(255) } as const;
    const settings = { width: 48, height: 64, fit: true, align: false, mean: [0.5, 0.5, 0.5], deviation: [0.5, 0.5, 0.5] } as const;
    const { data } = await encoderInput(pixels, settings);
    const red = Array.from({ length: 48 * 64 }, (_, at) => at).filter((at) => (data as Float32Array)[at]! > 0);
    const [columns, rows] = [new Set(red.map((at) => at % 48)), new Set(red.map((at) => Math.floor(at / 48)))];
    assert.deepEqual([Math.min(...columns), Math.min(...rows), columns.size, rows.size], expected);
  });

it('an image that is a thin line is still there', async () => {
  const pixels = { width: 2000, height: 10, channels: 3, data: new Uint8Array(60_000).fill(255) } as const;
  const { data } = await encoderInput(pixels, { width: 48, height: 64, fit: true, align: false, mean: [0, 0, 0], deviation: [1, 1, 1] });
  assert.equal((data as Float32Array).filter((value) => value > 0).length, 48 * 3);
});

it('an image that lies is turned where the settings say so, clockwise', async () => {
  const data = Uint8Array.from({ length: 64 * 48 * 3 }, (_, at) => (Math.floor(at / 3) % 64 < 10 ? 255 : 0));
  const lying = { width: 64, height: 48, channels: 3, data } as const;
  const given = { size: { width: 48, height: 64 }, do_thumbnail: true, do_align_long_axis: true };
  const { data: values } = await encoderInput(lying, imageSettings(given));
  const bright = Array.from({ length: 48 * 64 }, (_, at) => at).filter((at) => (values as Float32Array)[at]! > 0);
  // What was at the left is above.
  assert.deepEqual([bright.length, Math.max(...bright)], [480, 479]);
  const upright = await encoderInput({ ...lying, width: 48, height: 64 }, imageSettings(given));
  assert.deepEqual(
    upright,
    await encoderInput({ ...lying, width: 48, height: 64 }, imageSettings({ ...given, do_align_long_axis: false })),
  );
});

it('an image that stands is turned for a ground that lies', async () => {
  const data = Uint8Array.from({ length: 48 * 64 * 3 }, (_, at) => (Math.floor(at / 3 / 48) < 10 ? 255 : 0));
  const settings = imageSettings({ size: { width: 64, height: 48 }, do_thumbnail: true, do_align_long_axis: true });
  const { data: values } = await encoderInput({ width: 48, height: 64, channels: 3, data }, settings);
  const bright = Array.from({ length: 64 * 48 }, (_, at) => at).filter((at) => (values as Float32Array)[at]! > 0);
  // What was above is at the right.
  assert.deepEqual([bright.length, Math.min(...bright.map((at) => at % 64))], [480, 54]);
});
