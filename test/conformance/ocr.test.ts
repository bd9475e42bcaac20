import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../runtime/base/log.js';
import { renderPages } from '../../runtime/documents/parsers/pdf/render.js';
import type { OcrName, OcrPage } from '../../runtime/engines/contracts/ocr.js';
import { OCR_ENGINES } from '../../runtime/engines/ocr/index.js';
import { decodePicture, encodePng, rotatePixels } from '../../runtime/pictures/codec.js';
import { Failure } from '../../schemas/errors.js';
import { emptyDataDir } from '../support/daemon.js';
import { drawn, pdf } from '../support/documents.js';
import { pagePng } from '../support/vision/glyphs.js';
import { installEngine, openVisionStage, type VisionStage } from '../support/vision/stage.js';

setLogLevel('error');
const never = new AbortController().signal;

/** What an engine is shown, and what it must read there. */
interface Stage {
  readonly image: () => Promise<Uint8Array>;
  readonly text: string;
  /** The first box, each side within some pixels. */
  readonly first: readonly [x1: number, y1: number, x2: number, y2: number];
  readonly within: number;
  readonly install?: (dataDir: string) => void;
}

async function rendered(lines: readonly (readonly [number, number, string])[]): Promise<Uint8Array> {
  const bytes = pdf([drawn(lines)]);
  let png: Uint8Array | undefined;
  await renderPages(
    { name: 'p.pdf', path: '', mimeType: '', sizeBytes: bytes.length, bytes },
    { pages: [1], dpi: 150 },
    async (_page, image) => {
      png = image;
    },
  );
  return png!;
}

const blocks = () =>
  pagePng(640, 320, [
    { text: 'QUERN 42', x: 64, y: 64 },
    { text: '42 NQUER', x: 64, y: 192 },
  ]);
const network = (name: 'paddleocr' | 'easyocr' | 'surya', joint: string): Stage => ({
  image: blocks,
  text: `QUERN 42${joint}42 NQUER`,
  first: [44, 52, 388, 98],
  within: 28,
  install: (dataDir) => installEngine(dataDir, name),
});

const STAGES: Record<OcrName, Stage> = {
  surya: network('surya', '\n'),
  easyocr: network('easyocr', ' '),
  paddleocr: network('paddleocr', ' '),
  tesseract: {
    image: () =>
      rendered([
        [18, 20, 'Invoice number 2041'],
        [18, 24, 'Total amount: 318.50 EUR'],
      ]),
    text: 'Invoice number 2041\nTotal amount: 318.50 EUR',
    first: [43, 56, 158, 84],
    within: 20,
  },
};

for (const engine of OCR_ENGINES) {
  const { image, text, first, within, install } = STAGES[engine.name];
  describe(`OCR engine ${engine.name}`, () => {
    let stage: VisionStage;
    let bytes: Uint8Array;
    const read = async (content: Uint8Array, signal = never): Promise<OcrPage> => {
      const { model, pages } = await stage.vision.ocr(
        { model: engine.name, pictures: [{ name: 'images[0]', bytes: content }], languages: [] },
        signal,
      );
      assert.equal(model, engine.name);
      return pages[0]!;
    };
    const host = () => stage.models.loaded().find(({ type }) => type === `ocr_${engine.name}`);

    before(async () => {
      const dataDir = emptyDataDir();
      install?.(dataDir);
      stage = openVisionStage(dataDir);
      bytes = await image();
    });
    after(() => stage.close());

    it('reads the text of an image, with places and confidences', async () => {
      const page = await read(bytes);
      assert.equal(page.text, text);
      assert.ok(page.confidence > 0.8 && page.confidence <= 1, String(page.confidence));
      const [box] = page.boxes;
      for (const [index, side] of [box!.x1, box!.y1, box!.x2, box!.y2].entries())
        assert.ok(Math.abs(side - first[index]!) <= within, `side ${index} is ${side}, should be near ${first[index]}`);
      const mean = page.boxes.reduce((sum, { confidence }) => sum + confidence, 0) / page.boxes.length;
      assert.ok(Math.abs(mean - page.confidence) < 1e-9);
    });

    it('reads a file as it reads bytes', async () => {
      const path = join(stage.dataDir, 'page.png');
      writeFileSync(path, bytes);
      const { pages } = await stage.vision.ocr({ model: engine.name, pictures: [{ name: 'page.png', path }], languages: ['en'] }, never);
      assert.equal(pages[0]!.text, text);
    });

    it('reads nothing from a white page, with confidence 0', async () => {
      const page = await read(await pagePng(320, 320, []));
      assert.deepEqual(page, { text: '', confidence: 0, boxes: [] });
    });

    it('reads an image of one pixel', async () => {
      const page = await read(await encodePng({ width: 1, height: 1, channels: 3, data: Uint8Array.of(255, 255, 255) }));
      assert.equal(page.boxes.length, 0);
    });

    it('refuses what is no image, names it and goes on', async () => {
      for (const content of [Buffer.from('no image'), bytes.subarray(0, 200), Buffer.alloc(0)]) {
        await assert.rejects(
          read(content),
          (error) => error instanceof Failure && error.kind === 'bad_request' && error.message.startsWith('images[0] '),
        );
      }
      assert.equal((await read(bytes)).text, text);
    });

    it('stops when the caller leaves, and reads on for others', async () => {
      const control = new AbortController();
      const left = assert.rejects(read(bytes, control.signal), { name: 'AbortError' });
      control.abort();
      await left;
      assert.equal((await read(bytes)).text, text);
    });

    it('lives on when callers leave at any moment', async () => {
      await read(bytes);
      const { pid } = host()!;
      for (const afterMs of [1, 3, 6, 10, 15, 20, 30, 45, 70, 100, 150, 250]) {
        const control = new AbortController();
        const left = read(bytes, control.signal).catch((error: Error) => assert.equal(error.name, 'AbortError'));
        setTimeout(() => control.abort(), afterMs);
        await left;
      }
      assert.equal((await read(bytes)).text, text);
      assert.equal(host()!.pid, pid);
    });

    it('reads for several at a time in one process', async () => {
      const pages = await Promise.all([1, 2, 3].map(() => read(bytes)));
      assert.deepEqual(
        pages.map((page) => page.text),
        [text, text, text],
      );
      assert.equal(stage.models.loaded().length, 1);
    });

    it('reads several images of a request in their order, at once or not', async () => {
      const white = await pagePng(320, 320, []);
      const pictures = [bytes, white, bytes, white, bytes].map((content, index) => ({ name: `images[${index}]`, bytes: content }));
      const { pages } = await stage.vision.ocr({ model: engine.name, pictures, languages: ['en'] }, never);
      assert.deepEqual(
        pages.map((page) => page.text),
        [text, '', text, '', text],
      );
    });

    it('one bad image among several is named, and the others are not read for nothing', async () => {
      const pictures = [Buffer.from('no image'), ...Array.from({ length: 30 }, () => bytes)];
      const named = pictures.map((content, index) => ({ name: `images[${index}]`, bytes: content }));
      await assert.rejects(stage.vision.ocr({ model: engine.name, pictures: named, languages: [] }, never), /^Failure: images\[0\] /);
      assert.equal((await read(bytes)).text, text);
    });

    it('fails only what it reads when its process is killed, and comes back', async () => {
      const { pid } = host()!;
      const reads = Array.from({ length: 12 }, () => read(bytes));
      const ended = Promise.allSettled(reads);
      await Promise.race(reads);
      process.kill(pid!, 'SIGKILL');
      const failures = (await ended).flatMap((result) => (result.status === 'rejected' ? [result.reason as Failure] : []));
      assert.deepEqual(new Set(failures.map(({ kind }) => kind)), new Set(['unavailable']));
      assert.equal((await read(bytes)).text, text);
      assert.notEqual(host()!.pid, pid);
    });
  });
}

describe('a page that does not lie upright', () => {
  let stage: VisionStage;
  before(() => {
    stage = openVisionStage(emptyDataDir());
  });
  after(() => stage.close());

  for (const degrees of [90, 180, 270] as const)
    it(`is turned before tesseract reads it, by ${360 - degrees} degrees, and its boxes stay where they are`, async () => {
      const upright = await STAGES.tesseract.image();
      const lying = await rotatePixels(await decodePicture({ name: 'page', bytes: upright }), degrees);
      const { pages } = await stage.vision.ocr(
        { model: 'tesseract', pictures: [{ name: 'page', bytes: await encodePng(lying) }], languages: [] },
        never,
      );
      assert.equal(pages[0]!.text, STAGES.tesseract.text);
      const [x1, y1, x2, y2] = STAGES.tesseract.first;
      const { width, height } = lying;
      const expected = {
        90: [width - y2, x1, width - y1, x2],
        180: [width - x2, height - y2, width - x1, height - y1],
        270: [y1, height - x2, y2, height - x1],
      }[degrees];
      const box = pages[0]!.boxes[0]!;
      for (const [index, side] of [box.x1, box.y1, box.x2, box.y2].entries())
        assert.ok(
          Math.abs(side - expected[index]!) <= STAGES.tesseract.within,
          `side ${index} is ${side}, should be near ${expected[index]}`,
        );
    });
});
