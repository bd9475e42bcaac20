import assert from 'node:assert/strict';
import { copyFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after, beforeEach, describe, it } from 'node:test';
import type { DocumentTask } from '../../../../runtime/engines/documents/contract.js';
import { setLogLevel } from '../../../../runtime/log.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { installDonut, installLayout } from '../../../support/vision/document-models.js';
import { pagePng } from '../../../support/vision/glyphs.js';
import { ENGINE_FILES } from '../../../support/vision/networks.js';
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

  it('is named with its file: settings that are none', async () => {
    writeFileSync(file(donut, 'preprocessor_config.json'), '[');
    await refused(ask(donut), /^Document model someone\/donut-docvqa: preprocessor_config\.json is no JSON object/);
    writeFileSync(file('easyocr/rec_english.json'), '{');
    await refused(read('easyocr'), /^OCR engine easyocr: rec_english\.json is no JSON/);
  });
});
