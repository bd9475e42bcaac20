import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI, { toFile } from 'openai';
import { decodePicture, encodePng } from '../../runtime/pictures/codec.js';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';
import { filesBelow } from '../support/files-below.js';
import { writeTinyDiffusion } from '../support/models/tiny-diffusion/tiny-diffusion.js';
import { childrenOf } from '../support/processes.js';

const model = 'tiny/painter';
const prompt = 'a red house';
const SIDE = 40;
/** A blue image; `alpha` tells each column's. */
const blue = async (alpha = (_column: number): number => 255): Promise<Uint8Array> => {
  const data = Uint8Array.from({ length: SIDE * SIDE * 4 }, (_, at) => [0, 0, 255, alpha(Math.floor(at / 4) % SIDE)][at % 4]!);
  return encodePng({ width: SIDE, height: SIDE, channels: 4, data });
};
const rightHalf = (column: number): number => (column < SIDE / 2 ? 255 : 0);
const file = (bytes: Uint8Array, name: string): Promise<File> => toFile(bytes, name, { type: 'image/png' });

/** Colours of the first row's left and right end, as names. */
async function ends(base64: string): Promise<string[]> {
  const { width, data } = await decodePicture({ name: 'answer', bytes: Buffer.from(base64, 'base64') });
  return [2, width - 3].map((column) => {
    const [red, green, blue] = [...data.subarray(column * 3, column * 3 + 3)] as [number, number, number];
    if (green > 90) return 'other';
    return red > 170 && blue < 90 ? 'red' : blue > 170 && red < 90 ? 'blue' : 'other';
  });
}

/** Members that are not in the official types. */
const few = { num_inference_steps: 2, seed: 3 } as object;

describe('images through the official client', () => {
  let daemon: DaemonUnderTest;
  let client: OpenAI;
  const generations = (body: object, signal?: AbortSignal): Promise<Response> =>
    fetch(`${daemon.runtime}/v1/images/generations`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify({ model, prompt, size: '256x256', ...few, ...body }),
      ...(signal ? { signal } : {}),
    });
  const jobs = async (): Promise<{ model: string }[]> => {
    const health = (await (await fetch(`${daemon.runtime}/health`)).json()) as { engines: { model: string }[] };
    return health.engines;
  };

  before(async () => {
    const dataDir = emptyDataDir();
    writeTinyDiffusion(join(dataDir, 'models', 'tiny', 'painter'));
    daemon = await startDaemon({ dataDir });
    client = new OpenAI({ apiKey: 'none', maxRetries: 0, baseURL: `${daemon.runtime}/v1` });
  });
  after(() => daemon.end('SIGKILL'));

  it('are made', async () => {
    const answer = await client.images.generate({ model, prompt, n: 2, size: '256x256', response_format: 'b64_json', ...few });
    assert.equal(answer.data!.length, 2);
    const bytes = Buffer.from(answer.data![0]!.b64_json!, 'base64');
    assert.equal(bytes.subarray(1, 4).toString(), 'PNG');
    assert.deepEqual(
      (await jobs()).map((engine) => engine.model),
      [`diffusion:${model}`],
    );
  });

  it('are changed under a mask that comes as a file', async () => {
    const image = await file(await blue(), 'blue.png');
    const mask = await file(await blue(rightHalf), 'mask.png');
    const asked = { model, prompt, image, mask, n: 2, size: '256x256', response_format: 'b64_json', guidance_scale: 2 } as const;
    const answer = await client.images.edit({ ...asked, ...few });
    assert.equal(answer.data!.length, 2);
    for (const { b64_json } of answer.data!) assert.deepEqual(await ends(b64_json!), ['blue', 'red']);
  });

  it('are changed where they are transparent themselves, and in a stream', async () => {
    const image = await file(await blue(rightHalf), 'half.png');
    const stream = await client.images.edit({ model, prompt, image: [image], size: '256x256', stream: true, ...few });
    const types = new Set<string>();
    let last = '';
    for await (const event of stream as AsyncIterable<{ type: string; b64_json?: string }>) {
      types.add(event.type);
      last = event.b64_json ?? last;
    }
    assert.deepEqual([...types], ['image_generation.progress', 'image_generation.completed']);
    assert.equal((await ends(last))[1], 'red');
  });

  it('have variations', async () => {
    const image = await file(await blue(), 'blue.png');
    const answer = await client.images.createVariation({ model, image, size: '256x256', response_format: 'b64_json', ...few });
    assert.equal(Buffer.from(answer.data![0]!.b64_json!, 'base64').subarray(1, 4).toString(), 'PNG');
  });

  it('are refused as files with the reason, and nothing of them stays', async () => {
    const image = await file(await blue(), 'blue.png');
    const text = await file(Buffer.from('no image at all'), 'blue.png');
    const large = await file(Buffer.alloc(25 * 1024 * 1024), 'large.png');
    const refused = async (act: Promise<unknown>, status: number, reason: RegExp): Promise<void> => {
      await assert.rejects(act, (error: unknown) => {
        assert.ok(error instanceof OpenAI.APIError, String(error));
        assert.equal(error.status, status, error.message);
        assert.match(error.message, reason);
        return true;
      });
    };
    await refused(client.images.edit({ model, prompt, image, ...few }), 422, /mask/);
    await refused(client.images.edit({ model, prompt, image: [image, image], mask: image, ...few }), 400, /2 files/);
    await refused(client.images.edit({ model, prompt, image: [image, image], ...few }), 422, /image/);
    await refused(client.images.edit({ model, prompt, image: text, mask: image, ...few }), 400, /image is not an image/);
    await refused(client.images.edit({ model, prompt, image, mask: text, ...few }), 400, /mask is not an image/);
    await refused(client.images.edit({ model, prompt, image: large, mask: image, ...few }), 413, /24 MB/);
    await refused(client.images.createVariation({ model, image, n: 11, ...few }), 422, /\bn\b/);
    await refused(client.images.createVariation({ model, image, size: '1x1' as '256x256', ...few }), 422, /256x256/);
    assert.deepEqual(leftOf(daemon.dataDir), []);
  });

  it('come in a stream', async () => {
    const stream = await client.images.generate({
      model,
      prompt,
      size: '256x256',
      stream: true,
      ...few,
    } as OpenAI.ImageGenerateParamsStreaming);
    const types: string[] = [];
    for await (const event of stream) types.push(event.type);
    assert.equal(types.at(-1), 'image_generation.completed');
    assert.ok((types as string[]).includes('image_generation.progress'));
  });

  it('are refused with the reason', async () => {
    await assert.rejects(client.images.generate({ model: 'none/such', prompt }), (error: unknown) => {
      assert.ok(error instanceof OpenAI.APIError);
      assert.equal(error.status, 404);
      assert.match(error.message, /quern pull none\/such/);
      return true;
    });
  });

  it('end when the client goes, and the next client is served', async () => {
    const control = new AbortController();
    const response = await generations({ n: 10, num_inference_steps: 150, size: '1024x1024', stream: true }, control.signal);
    const reader = response.body!.getReader();
    assert.match(new TextDecoder().decode((await reader.read()).value), /image_generation\.progress/);
    control.abort();
    await reader.read().catch(() => {});
    // The engine makes one image after the other: this one waits for the end of what was left.
    const next = await generations({});
    assert.equal(next.status, 200);
  });

  it('a crashed engine fails its own request, and a new one serves the next', async () => {
    const response = await generations({ n: 10, num_inference_steps: 150, size: '1024x1024', stream: true });
    const reader = response.body!.getReader();
    await reader.read();
    const [child] = childrenOf(daemon.child.pid!, 'engines/diffusion');
    process.kill(child!, 'SIGKILL');
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += new TextDecoder().decode(part.value);
    assert.match(text, /event: error\n.*engine_crashed/);
    assert.match(text, /data: \[DONE\]/);
    assert.equal((await generations({})).status, 200);
  });
});

/** Uploads that lie in a data directory. */
function leftOf(dataDir: string): string[] {
  return filesBelow(dataDir).filter((path) => path.includes('upload-'));
}
