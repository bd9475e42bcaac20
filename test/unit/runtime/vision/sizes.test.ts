import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { integers, writeOnnx } from '../../../support/models/writers/onnx-writer.js';
import { installDonut } from '../../../support/vision/document-models.js';
import { pagePng } from '../../../support/vision/glyphs.js';
import { node, writeFiles } from '../../../support/vision/networks.js';
import { installEngine, openVisionStage, type VisionStage } from '../../../support/vision/stage.js';

setLogLevel('error');
const never = new AbortController().signal;

/** Takes an image of a size, and gives its brightness in the shape of an encoder's answer. */
const sees = (height: number | string, width: number | string): Uint8Array =>
  writeOnnx({
    nodes: [
      node('ReduceMean', ['image'], 'mean', { axes: { ints: [1, 2, 3] }, keepdims: { int: 0 } }),
      node('Reshape', ['mean', 'shape'], 'last_hidden_state'),
    ],
    initializers: [integers('shape', [1, 1, 1])],
    inputs: [{ name: 'image', type: 'float32', dims: [1, 3, height, width] }],
    outputs: [{ name: 'last_hidden_state', type: 'float32', dims: [1, 1, 1] }],
  });

describe('sizes that no image has', () => {
  let stage: VisionStage;
  let bytes: Uint8Array;
  const dataDir = emptyDataDir();
  const donut = (name: string, encoder: Uint8Array, size: unknown): void => {
    installDonut(dataDir, `someone/${name}`, 'whole');
    writeFiles(join(dataDir, 'models', 'someone', name), {
      'onnx/encoder_model.onnx': encoder,
      'preprocessor_config.json': { size, do_pad: true },
    });
  };
  const extract = (name: string) =>
    stage.vision.extract({ model: `someone/${name}`, task: 'extraction', pictures: [{ name: 'p', bytes }], prompts: [] }, never);

  before(async () => {
    bytes = await pagePng(64, 64, []);
    donut('donut-wide', sees('height', 'width'), { height: 32, width: 20_000 });
    donut('donut-negative', sees('height', 'width'), { height: -3, width: 32 });
    donut('donut-fixed', sees(32, 1_000_000), { height: 32, width: 32 });
    donut('donut-sound', sees('height', 'width'), { height: 32, width: 48 });
    installEngine(dataDir, 'paddleocr');
    writeFiles(join(dataDir, 'models', 'paddleocr'), { 'det.onnx': sees(20_000, 20_000) });
    stage = openVisionStage(dataDir);
  });
  after(() => stage.close());

  it('are refused in the settings of a document model', async () => {
    await assert.rejects(extract('donut-wide'), { status: 422, message: /size\.width in preprocessor_config\.json is 20000/ });
    await assert.rejects(extract('donut-negative'), { status: 422, message: /size\.height in preprocessor_config\.json is -3/ });
    assert.equal((await extract('donut-sound')).length, 1);
  });

  it('are refused in its graph', () =>
    assert.rejects(extract('donut-fixed'), {
      status: 422,
      message:
        'Document model someone/donut-fixed: onnx/encoder_model.onnx fixes the width of its input "image" at 1000000 pixels; at most 4096 are possible. Export the model with a smaller input.',
    }));

  it('are refused in the graph of a detector', () =>
    assert.rejects(stage.vision.ocr({ model: 'paddleocr', pictures: [{ name: 'p', bytes }], languages: [] }, never), {
      status: 422,
      message: /paddleocr: det\.onnx fixes the height of its input "image" at 20000 pixels/,
    }));
});
