import assert from 'node:assert/strict';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { pagePng } from '../../../support/vision/glyphs.js';
import { installEngine, openVisionStage, type VisionStage } from '../../../support/vision/stage.js';

setLogLevel('error');
const never = new AbortController().signal;

describe('a folder of surya that is not whole', () => {
  for (const file of ['decoder_model.onnx', 'encoder_model.onnx', 'det.onnx', 'tokenizer.json']) {
    let stage: VisionStage;
    before(() => {
      const dataDir = emptyDataDir();
      installEngine(dataDir, 'surya');
      rmSync(join(dataDir, 'models', 'surya', file));
      stage = openVisionStage(dataDir);
    });
    after(() => stage.close());

    it(`without ${file}: tesseract reads, and the answer says why`, async () => {
      const pictures = [{ name: 'images[0]', bytes: await pagePng(320, 160, []) }];
      const { model, notes } = await stage.vision.ocr({ model: 'surya', pictures, languages: [] }, never);
      assert.equal(model, 'tesseract');
      assert.match(notes[0]!, /weights of surya.*decoder_model\.onnx/);
    });
  }
});
