import assert from 'node:assert/strict';
import { copyFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import type { DocumentTask } from '../../../../runtime/engines/contracts/documents.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { installDonut, installLayout } from '../../../support/vision/document-models.js';
import { GLYPHS, pagePng } from '../../../support/vision/glyphs.js';
import { ENGINE_FILES, recogniser } from '../../../support/vision/networks.js';
import { installEngine, openVisionStage, type VisionStage } from '../../../support/vision/stage.js';

setLogLevel('error');
const never = new AbortController().signal;
const picture = { name: 'images[0]', bytes: await pagePng(640, 192, [{ text: 'QUERN', x: 64, y: 64 }]) };
const donut = 'someone/donut-docvqa';
const layout = 'someone/layoutlm-words';

describe('a model that looks at images and is refused', () => {
  let stage: VisionStage;
  const stages: VisionStage[] = [];
  const file = (...names: string[]): string => join(stage.dataDir, 'models', ...names);
  const read = (model: 'paddleocr' | 'easyocr' | 'surya') => stage.vision.ocr({ model, pictures: [picture], languages: ['en'] }, never);
  const ask = (model: string, task: DocumentTask = 'extraction') =>
    stage.vision.extract({ model, task, pictures: [picture], prompts: [] }, never);

  beforeEach(() => {
    const dataDir = emptyDataDir();
    for (const name of ['paddleocr', 'easyocr', 'surya'] as const) installEngine(dataDir, name);
    installDonut(dataDir, donut, 'whole');
    installLayout(dataDir, layout, 'words');
    stage = openVisionStage(dataDir);
    stages.push(stage);
  });
  after(() => Promise.all(stages.map(({ close }) => close())));

  /** Refused in words that name the model and the file, and no folder of this machine. */
  async function refused(asked: Promise<unknown>, message: RegExp): Promise<void> {
    await assert.rejects(asked, (error: Error) => {
      assert.match(error.message, message);
      assert.ok(!error.message.includes(stage.dataDir), error.message);
      return (error as Error & { status?: number }).status === 422;
    });
  }

  it('is named with its file: a graph that is none', async () => {
    writeFileSync(file('paddleocr/languages/english/rec.onnx'), 'no graph');
    await refused(read('paddleocr'), /^OCR engine paddleocr: languages\/english\/rec\.onnx is not a usable ONNX file/);
    writeFileSync(file('surya/decoder_model.onnx'), 'no graph');
    await refused(read('surya'), /^OCR engine surya: decoder_model\.onnx is not a usable ONNX file/);
    writeFileSync(file(donut, 'onnx/encoder_model.onnx'), 'no graph');
    await refused(ask(donut), /^Document model someone\/donut-docvqa: onnx\/encoder_model\.onnx is not a usable ONNX file/);
    await refused(ask(file(donut)), /^Document model donut-docvqa: onnx\/encoder_model\.onnx is not a usable ONNX file/);
    writeFileSync(file(layout, 'onnx/model.onnx'), 'no graph');
    await refused(ask(layout), /^Document model someone\/layoutlm-words: onnx\/model\.onnx is not a usable ONNX file/);
  });

  it('is named with its file: a graph of something else', async () => {
    copyFileSync(file(donut, 'onnx/encoder_model.onnx'), file(donut, 'onnx/decoder_model.onnx'));
    await refused(
      ask(donut),
      /^Document model someone\/donut-docvqa: onnx\/decoder_model\.onnx asks for an input "pixel_values" that is not known/,
    );
    writeFileSync(file(layout, 'onnx/model.onnx'), ENGINE_FILES.surya()['encoder_model.onnx'] as Uint8Array);
    await refused(ask(layout), /^Document model someone\/layoutlm-words: onnx\/model\.onnx asks for an input "line" that is not known/);
  });

  /** Asks what is refused in these words, mends it, and asks again. */
  async function mended(asked: () => Promise<unknown>, message: RegExp, mend: () => void): Promise<void> {
    await refused(asked(), message);
    await refused(asked(), message);
    mend();
    await asked();
  }

  const two = () => writeFileSync(file('paddleocr/languages/english/dict.txt'), 'a\nb');
  const all = () => writeFileSync(file('paddleocr/languages/english/dict.txt'), GLYPHS.join('\n'));
  const TOLD =
    /^OCR engine paddleocr: languages\/english\/dict\.txt lists 2 characters, and languages\/english\/rec\.onnx tells \d+ classes apart/;

  it('is read again once its characters are those of its recogniser', async () => {
    two();
    await mended(() => read('paddleocr'), TOLD, all);
    const [loaded] = stage.models.loaded();
    two();
    await read('paddleocr');
    assert.equal(stage.models.loaded()[0]!.pid, loaded!.pid, 'what reads stays loaded');
  });

  it('is read again also where only its answers show how many characters it tells apart', async () => {
    writeFileSync(file('paddleocr/languages/english/rec.onnx'), recogniser(3, 48, {}, 'classes'));
    two();
    await mended(() => read('paddleocr'), TOLD, all);
  });

  it('is read again once its decoder is one', async () => {
    const [decoder, kept] = [file(donut, 'onnx/decoder_model.onnx'), file('kept.onnx')];
    copyFileSync(decoder, kept);
    copyFileSync(file(donut, 'onnx/encoder_model.onnx'), decoder);
    await mended(
      () => ask(donut),
      /asks for an input "pixel_values"/,
      () => copyFileSync(kept, decoder),
    );
  });

  it('says so where its characters stand in the graph itself', async () => {
    rmSync(file('paddleocr/languages/english/dict.txt'));
    writeFileSync(file('paddleocr/languages/english/rec.onnx'), recogniser(3, 48, { character: 'a\nb\nc' }));
    await refused(read('paddleocr'), /languages\/english\/rec\.onnx lists 3 characters, and tells \d+ classes apart/);
  });

  it('is not let go for a picture that is none', async () => {
    await read('paddleocr');
    const pid = stage.models.loaded()[0]!.pid;
    const bad = { name: 'images[0]', bytes: Buffer.from('no image') };
    await assert.rejects(stage.vision.ocr({ model: 'paddleocr', pictures: [bad], languages: ['en'] }, never), { status: 400 });
    assert.equal(stage.models.loaded()[0]?.pid, pid);
  });

  it('is named with its file: settings that are none', async () => {
    writeFileSync(file(donut, 'preprocessor_config.json'), '[');
    await refused(ask(donut), /^Document model someone\/donut-docvqa: preprocessor_config\.json is no JSON object/);
    writeFileSync(file('easyocr/rec_english.json'), '{');
    await refused(read('easyocr'), /^OCR engine easyocr: rec_english\.json is no JSON/);
  });
});
