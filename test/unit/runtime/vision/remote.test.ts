import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { visionEndpoints } from '../../../../gateway/universal/vision.js';
import { setLogLevel } from '../../../../runtime/log.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { RemoteVision } from '../../../../runtime/vision/remote.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { installDonut } from '../../../support/vision/document-models.js';
import { pagePng } from '../../../support/vision/glyphs.js';
import { listenOn } from '../../../support/vision/listen.js';
import { installEngine, openVisionStage, type VisionStage } from '../../../support/vision/stage.js';

setLogLevel('error');
const never = new AbortController().signal;

describe('a vision runtime elsewhere', () => {
  let stage: VisionStage;
  let remote: RemoteVision;
  let end: () => Promise<void>;
  const outbound = new Outbound();

  before(async () => {
    const dataDir = emptyDataDir();
    installEngine(dataDir, 'paddleocr');
    installDonut(dataDir, 'someone/donut-rvlcdip', 'whole');
    stage = openVisionStage(dataDir);
    const listener = await listenOn(visionEndpoints, stage);
    end = listener.end;
    remote = new RemoteVision(outbound, [listener.url]);
  });
  after(async () => {
    await end();
    await outbound.close();
    await stage.close();
  });

  it('answers as the one in this process', async () => {
    const picture = { name: 'p', bytes: await pagePng(640, 192, [{ text: 'QUERN', x: 64, y: 64 }]) };
    const ocr = { model: 'paddleocr', pictures: [picture], languages: ['en'] };
    assert.deepEqual(await remote.ocr(ocr, never), await stage.vision.ocr(ocr, never));
    const extract = { model: 'someone/donut-rvlcdip', task: 'classification' as const, pictures: [picture], prompts: [] };
    assert.deepEqual(await remote.extract(extract, never), await stage.vision.extract(extract, never));
  });

  it('refuses with the same status and words', async () => {
    const ocr = { model: 'paper', pictures: [{ name: 'p', bytes: Buffer.from('x') }], languages: [] };
    await assert.rejects(remote.ocr(ocr, never), { status: 400, message: /not supported; there are surya/ });
    await assert.rejects(remote.ocr({ ...ocr, model: 'easyocr' }, never), { status: 503, message: /quern pull runemic-ai/ });
  });

  it('is unavailable when nothing answers', async () => {
    const nobody = new RemoteVision(outbound, ['http://127.0.0.1:9']);
    await assert.rejects(nobody.ocr({ model: 'tesseract', pictures: [], languages: [] }, never), { status: 503 });
  });
});
