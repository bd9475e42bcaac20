import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import OpenAI from 'openai';
import { writeTinyDiffusion } from '../../models/tiny-diffusion/tiny-diffusion.js';
import { type DaemonUnderTest, emptyDataDir, startDaemon } from '../support/daemon.js';

const model = 'tiny/painter';
const prompt = 'a red house';
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
    assert.deepEqual((await jobs()).map((engine) => engine.model), [`diffusion:${model}`]); // biome-ignore format: one line
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
      assert.equal(error.status, 503);
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
    const [child] = await childrenOf(daemon.child.pid!);
    process.kill(child!, 'SIGKILL');
    let text = '';
    for (let part = await reader.read(); !part.done; part = await reader.read()) text += new TextDecoder().decode(part.value);
    assert.match(text, /event: error\n.*engine_crashed/);
    assert.match(text, /data: \[DONE\]/);
    assert.equal((await generations({})).status, 200);
  });
});

/** The processes that another one started. */
async function childrenOf(pid: number): Promise<number[]> {
  const { readFile } = await import('node:fs/promises');
  return (await readFile(`/proc/${pid}/task/${pid}/children`, 'utf8')).trim().split(' ').map(Number);
}
