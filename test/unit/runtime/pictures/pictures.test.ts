import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import sharp from 'sharp';
import { decodePicture, encodePng, scalePixels } from '../../../../runtime/pictures/codec.js';
import { pictureHead } from '../../../../runtime/pictures/head.js';
import { PIXEL_LIMIT } from '../../../../runtime/pictures/picture.js';
import { Failure } from '../../../../schemas/errors.js';
import { bmpOf, lyingPng } from '../../../support/vision/pictures.js';

const [width, height] = [37, 21];
const data = Uint8Array.from({ length: width * height * 3 }, (_, at) => ((at / 3) % width < 18 ? 40 : 210));
const pixels = { width, height, channels: 3 as const, data };
const raw = () => sharp(data, { raw: { width, height, channels: 3 } });
const FORMATS: Record<string, () => Promise<Uint8Array>> = {
  png: () => encodePng(pixels),
  jpeg: () => raw().jpeg({ quality: 100 }).toBuffer(),
  'progressive jpeg': () => raw().jpeg({ quality: 100, progressive: true }).withMetadata().toBuffer(),
  gif: () => raw().gif().toBuffer(),
  webp: () => raw().webp().toBuffer(),
  'lossless webp': () => raw().webp({ lossless: true }).toBuffer(),
  tiff: () => raw().tiff().toBuffer(),
  bmp: () => Promise.resolve(bmpOf(pixels)),
};

describe('pictures', () => {
  for (const [name, make] of Object.entries(FORMATS)) {
    it(`${name}: the head tells its size, and it is decoded`, async () => {
      const bytes = await make();
      assert.deepEqual(pictureHead(bytes), { format: name.split(' ').at(-1), width, height });
      const decoded = await decodePicture({ name: 'p', bytes });
      assert.deepEqual([decoded.width, decoded.height, decoded.channels], [width, height, 3]);
      for (const [x, shade] of [
        [3, 40],
        [30, 210],
      ] as const) {
        const value = decoded.data[(10 * width + x) * 3]!;
        assert.ok(Math.abs(value - shade) <= 6, `${name}: ${value} at ${x}, should be ${shade}`);
      }
    });

    it(`${name}: any part of it is refused or read, and nothing else happens`, async () => {
      const bytes = await make();
      for (let length = 0; length < bytes.length; length += Math.max(1, Math.floor(bytes.length / 40))) {
        const part = bytes.slice(0, length);
        pictureHead(part);
        await decodePicture({ name: 'part', bytes: part }).catch((error: unknown) => {
          assert.ok(error instanceof Failure && error.kind === 'bad_request' && error.message.startsWith('part '), String(error));
        });
      }
    });
  }

  it('transparency lies on white, and a turned photograph stands upright', async () => {
    const clear = await sharp({ create: { width: 4, height: 4, channels: 4, background: { r: 0, g: 0, b: 0, alpha: 0 } } })
      .png()
      .toBuffer();
    assert.deepEqual([...(await decodePicture({ name: 'p', bytes: clear })).data.subarray(0, 3)], [255, 255, 255]);
    const turned = await raw().jpeg().withMetadata({ orientation: 6 }).toBuffer();
    const upright = await decodePicture({ name: 'p', bytes: turned });
    assert.deepEqual([upright.width, upright.height], [height, width]);
  });

  it('gray and palette images come as RGB', async () => {
    for (const bytes of [await raw().grayscale().png().toBuffer(), await raw().png({ palette: true, colours: 4 }).toBuffer()])
      assert.equal((await decodePicture({ name: 'p', bytes })).data.length, width * height * 3);
  });

  it('bombs are refused by their head', async () => {
    for (const [wide, high] of [
      [100_000, 100_000],
      [PIXEL_LIMIT + 1, 1],
      [0xffffffff, 0xffffffff],
      [0, 5],
    ] as const)
      await assert.rejects(decodePicture({ name: 'bomb', bytes: lyingPng(wide, high) }), { kind: 'bad_request' });
    await assert.rejects(
      decodePicture({ name: 'svg', bytes: Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9"/>') }),
      /svg is not an image/,
    );
    await assert.rejects(decodePicture({ name: 'none', bytes: new Uint8Array(0) }), /none is empty/);
  });

  it('a BMP may lie about its size and its colours', async () => {
    const lying = Buffer.from(bmpOf(pixels));
    lying.writeInt32LE(30_000, 18);
    await assert.rejects(decodePicture({ name: 'p', bytes: lying }), { kind: 'bad_request' });
    const downwards = Buffer.from(bmpOf(pixels));
    downwards.writeInt32LE(-height, 22);
    assert.deepEqual([...(await decodePicture({ name: 'p', bytes: downwards })).data.subarray(0, 3)], [40, 40, 40]);
  });

  it('another size keeps flat shades', async () => {
    const larger = await scalePixels(pixels, width * 2, height * 2);
    assert.equal(larger.data[(20 * width * 2 + 6) * 3], 40);
    assert.deepEqual([larger.width, larger.height], [74, 42]);
  });
});
