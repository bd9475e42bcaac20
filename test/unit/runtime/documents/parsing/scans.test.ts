import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../../runtime/base/log.js';
import { PageImages } from '../../../../../runtime/documents/parsing/page-images.js';
import { Parsing } from '../../../../../runtime/documents/parsing/parsing.js';
import type { ReadImages } from '../../../../../runtime/documents/parsing/recognition.js';
import type { DataProcessingStrategy } from '../../../../../schemas/generated/config/rag.js';
import { emptyDataDir } from '../../../../support/daemon.js';
import { drawn, pdf } from '../../../../support/documents.js';
import { drawnBlocks } from '../../../../support/vision/glyphs.js';
import { installEngine, openVisionStage, type VisionStage } from '../../../../support/vision/stage.js';

setLogLevel('error');
const never = new AbortController().signal;
const strategy: DataProcessingStrategy = {
  name: 's',
  parsers: [{ type: 'PDFParser', config: { chunk_strategy: 'paragraphs' } }],
} as DataProcessingStrategy;
const bytes = pdf([drawn([[18, 20, 'Typed words']]), drawnBlocks('42'), '']);
const file = { path: '', name: 'mixed.pdf', mimeType: 'application/pdf', sizeBytes: bytes.length, bytes };

describe('scanned pages of a PDF', () => {
  let stage: VisionStage;
  const pageImages = new PageImages();
  const read: ReadImages = async (pictures, languages, signal) =>
    (await stage.vision.ocr({ model: 'paddleocr', pictures, languages }, signal)).pages.map(({ text }) => text);

  before(() => {
    const dataDir = emptyDataDir();
    installEngine(dataDir, 'paddleocr');
    stage = openVisionStage(dataDir);
  });
  after(async () => {
    await stage.close();
    await pageImages.close();
  });

  const parsed = async (ocr: ReadImages | undefined, what = file) => {
    const parsing = new Parsing({ hosts: 1 }, ocr && { pageImages, ocr });
    try {
      return await parsing.parse({ file: what, strategy }, never);
    } finally {
      await parsing.close();
    }
  };

  it('are read from their images, beside the text layers of the others', async () => {
    const { text, passages, warnings } = await parsed(read);
    assert.equal(text, 'Typed words\n\n42');
    const scanned = passages.find((passage) => passage.text.includes('42'));
    assert.equal(scanned?.metadata.ocr, true);
    assert.deepEqual(warnings, ['page 3 has no text layer']);
  });

  it('are named where nothing reads them', async () => {
    const { text, warnings } = await parsed(undefined);
    assert.equal(text, 'Typed words');
    assert.deepEqual(warnings, ['page 2 has no text layer', 'page 3 has no text layer']);
  });

  it('cost nothing else when reading them fails', async () => {
    const { text } = await parsed(() => Promise.reject(new Error('no engine')));
    assert.equal(text, 'Typed words');
  });

  it('are read though others of them fail, until three in a row do', async () => {
    const scans = pdf(Array.from({ length: 7 }, () => drawnBlocks('24')));
    const failing = [1, 2, 4, 5, 6];
    const asked: string[] = [];
    const ocr: ReadImages = (pictures, languages, signal) => {
      asked.push(pictures[0]!.name);
      return failing.includes(asked.length) ? Promise.reject(new Error('no room')) : read(pictures, languages, signal);
    };
    const { text, warnings } = await parsed(ocr, { ...file, name: 'scans.pdf', sizeBytes: scans.length, bytes: scans });
    assert.equal(text, '24');
    assert.equal(asked.length, 6);
    assert.deepEqual(
      warnings.filter((warning) => warning.includes('page 3')),
      [],
    );
  });

  it('are not those on which nothing is to be seen', async () => {
    const white = '1 g 0 0 400 400 re f';
    const yellowed = '0.96 0.95 0.9 rg 0 0 400 400 re f';
    const dot = '0 g 200 200 3 7 re f';
    const scans = pdf(['', white, yellowed, `${white} ${dot}`, drawnBlocks('24'), drawn([[12, 0, 'Typed words']])]);
    const asked: string[] = [];
    const ocr: ReadImages = (pictures) => {
      asked.push(pictures[0]!.name);
      return Promise.resolve(['seen']);
    };
    const { text } = await parsed(ocr, { ...file, name: 'scans.pdf', sizeBytes: scans.length, bytes: scans });
    assert.deepEqual(asked, ['scans.pdf, page 4', 'scans.pdf, page 5']);
    assert.equal(text, 'seen\n\nseen\n\nTyped words');
  });

  it('make a file of scans alone readable', async () => {
    const scan = pdf([drawnBlocks('24')]);
    const { text } = await parsed(read, { ...file, name: 'scan.pdf', sizeBytes: scan.length, bytes: scan });
    assert.equal(text, '24');
    await assert.rejects(parsed(undefined, { ...file, name: 'scan.pdf', sizeBytes: scan.length, bytes: scan }), { code: 'no_text' });
  });

  it('leave a damaged file to the parser', async () => {
    const broken = Buffer.from('%PDF-1.4 nothing');
    await assert.rejects(parsed(read, { ...file, sizeBytes: broken.length, bytes: broken }), { kind: 'invalid' });
  });

  it('change the name of the outcome', () => {
    const [plain, reading] = [new Parsing({ hosts: 1 }), new Parsing({ hosts: 1 }, { pageImages, ocr: read })];
    assert.notEqual(plain.key({ file, strategy }, 'a'), reading.key({ file, strategy }, 'a'));
  });
});
