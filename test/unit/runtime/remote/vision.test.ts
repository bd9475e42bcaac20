import assert from 'node:assert/strict';
import { after, afterEach, before, beforeEach, describe, it } from 'node:test';
import { visionEndpoints } from '../../../../gateway/universal/vision.js';
import { setLogLevel } from '../../../../runtime/base/log.js';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { RemoteVision } from '../../../../runtime/remote/vision.js';
import { emptyDataDir } from '../../../support/daemon.js';
import { json, type Scene, ScriptedOpenAI } from '../../../support/scripted-openai.js';
import { installDonut } from '../../../support/vision/document-models.js';
import { pagePng } from '../../../support/vision/glyphs.js';
import { listenOn } from '../../../support/vision/listen.js';
import { installEngine, openVisionStage, type VisionStage } from '../../../support/vision/stage.js';

setLogLevel('error');
const never = new AbortController().signal;

describe('a vision runtime elsewhere', () => {
  let stage: VisionStage;
  let remote: RemoteVision;
  let url: string;
  let end: () => Promise<void>;
  const outbound = new Outbound();

  before(async () => {
    const dataDir = emptyDataDir();
    installEngine(dataDir, 'paddleocr');
    installDonut(dataDir, 'someone/donut-rvlcdip', 'whole');
    stage = openVisionStage(dataDir);
    const listener = await listenOn(visionEndpoints, stage);
    ({ url, end } = listener);
    remote = new RemoteVision(outbound, [url]);
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
    await assert.rejects(remote.ocr({ ...ocr, model: 'easyocr' }, never), { status: 404, message: /quern pull runemic-ai/ });
  });

  it('is unavailable when nothing answers, and says which setting names it', async () => {
    const nobody = new RemoteVision(outbound, ['http://127.0.0.1:9']);
    const picture = { name: 'p', bytes: Buffer.from('x') };
    await assert.rejects(nobody.ocr({ model: 'tesseract', pictures: [picture], languages: [] }, never), {
      status: 503,
      message: /127\.0\.0\.1:9.*Start it, or correct --runtime-url \(RUNTIME_URL\)\.$/,
    });
  });

  it('is asked where the one before it does not answer', async () => {
    const several = new RemoteVision(outbound, ['http://127.0.0.1:9', url]);
    const picture = { name: 'p', bytes: await pagePng(640, 192, [{ text: 'QUERN', x: 64, y: 64 }]) };
    const ocr = { model: 'paddleocr', pictures: [picture], languages: ['en'] };
    assert.deepEqual(await several.ocr(ocr, never), await stage.vision.ocr(ocr, never));
    const extract = { model: 'someone/donut-rvlcdip', task: 'classification' as const, pictures: [picture], prompts: [] };
    assert.deepEqual(await several.extract(extract, never), await stage.vision.extract(extract, never));
  });
});

describe('vision runtimes in turn', () => {
  const outbound = new Outbound();
  const hosts: ScriptedOpenAI[] = [];
  let remote: RemoteVision;
  const page = (text: string): Scene =>
    json({ object: 'list', data: [{ index: 0, text, confidence: 1 }], model: 'tesseract', usage: { images_processed: 1 } });
  const ask = async (signal = never): Promise<string> => {
    const { pages } = await remote.ocr({ model: 'tesseract', pictures: [{ name: 'p', bytes: Buffer.from('x') }], languages: [] }, signal);
    return pages[0]!.text;
  };

  beforeEach(async () => {
    hosts.splice(0, 2, await ScriptedOpenAI.start(), await ScriptedOpenAI.start());
    for (const [index, host] of hosts.entries()) host.always(page(`of ${index}`));
    remote = new RemoteVision(
      outbound,
      hosts.map(({ origin }) => origin),
    );
  });
  afterEach(() => Promise.all(hosts.map((host) => host.close())));
  after(() => outbound.close());

  it('keep their turn when they refuse a picture', async () => {
    hosts[0]!.script(json({ detail: 'images[0] is not an image.', error: 'BadImage' }, 400));
    await assert.rejects(ask(), { status: 400, code: 'BadImage' });
    assert.deepEqual([await ask(), await ask()], ['of 1', 'of 0']);
  });

  it('keep their turn when a caller leaves', async () => {
    const control = new AbortController();
    hosts[0]!.script({ silent: true, steps: [{ call: () => control.abort() }, 'hang'] });
    await assert.rejects(ask(control.signal), { name: 'AbortError' });
    assert.deepEqual([await ask(), await ask()], ['of 1', 'of 0']);
  });

  it('are passed over for a while when they are gone', async () => {
    await hosts[0]!.close();
    assert.deepEqual([await ask(), await ask(), await ask()], ['of 1', 'of 1', 'of 1']);
    hosts[0] = await ScriptedOpenAI.start();
  });

  it('are each asked once more, and then tell what the last one said', async () => {
    for (const host of hosts) host.always(json({ detail: 'The weights are not on this machine.', error: 'OcrModelMissing' }, 503));
    await assert.rejects(ask(), { status: 503, code: 'OcrModelMissing' });
    assert.deepEqual(
      hosts.map(({ seen }) => seen.length),
      [2, 2],
    );
  });
});
