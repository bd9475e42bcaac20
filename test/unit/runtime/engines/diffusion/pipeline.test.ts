import assert from 'node:assert/strict';
import { copyFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import type { ImageJob } from '../../../../../runtime/engines/contracts/images.js';
import { NormalNoise } from '../../../../../runtime/engines/diffusion/normal-noise.js';
import { Pipeline } from '../../../../../runtime/engines/diffusion/pipeline.js';
import { PipelineFolder } from '../../../../../runtime/engines/diffusion/pipeline-folder.js';
import { SCHEDULERS } from '../../../../../runtime/engines/diffusion/schedulers/index.js';
import { guidanceVector } from '../../../../../runtime/engines/diffusion/unet.js';
import { decodePicture, encodePng } from '../../../../../runtime/pictures/codec.js';
import type { Pixels } from '../../../../../runtime/pictures/picture.js';
import { COLOURS, type TinyDiffusionOptions, writeTinyDiffusion } from '../../../../support/models/tiny-diffusion/tiny-diffusion.js';

const folders: string[] = [];
after(() => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

const JOB: ImageJob = {
  prompt: 'a red house',
  negativePrompt: '',
  width: 64,
  height: 32,
  steps: 20,
  guidance: 1,
  scheduler: undefined,
  optimise: false,
  seed: 7,
  count: 1,
  format: 'png',
  strength: 0.75,
};
const FOREVER = new AbortController().signal;

function written(options: TinyDiffusionOptions = {}): string {
  const folder = mkdtempSync(join(tmpdir(), 'quern-diffusion-'));
  folders.push(folder);
  writeTinyDiffusion(folder, options);
  return folder;
}

const openIn = (folder: string): Promise<Pipeline> =>
  Pipeline.open(new PipelineFolder(folder, 'tiny', null), { threads: 1, provider: 'cpu' });
const opened = (options?: TinyDiffusionOptions): Promise<Pipeline> => openIn(written(options));

async function made(pipeline: Pipeline, job: Partial<ImageJob> = {}): Promise<Pixels> {
  const [bytes] = await pipeline.generate({ ...JOB, ...job }, () => {}, FOREVER);
  return decodePicture({ name: 'made', bytes: bytes! });
}

/** The mean of each channel over some columns, 0 to 255. */
function meanOf({ width, data }: Pixels, from = 0, to = width): number[] {
  const sums = [0, 0, 0];
  let count = 0;
  for (let place = 0; place < data.length / 3; place += 1) {
    const column = place % width;
    if (column < from || column >= to) continue;
    count += 1;
    for (let channel = 0; channel < 3; channel += 1) sums[channel]! += data[place * 3 + channel]!;
  }
  return sums.map((sum) => sum / count);
}

function assertColour(actual: number[], colour: keyof typeof COLOURS, within = 45): void {
  const wanted = COLOURS[colour]!.map((part) => (part + 1) * 127.5);
  for (const [channel, value] of wanted.entries())
    assert.ok(Math.abs(actual[channel]! - value) <= within, `${actual.map(Math.round)} should be ${colour}`);
}

const picture = (width: number, height: number, colour: readonly number[]): Promise<Uint8Array> =>
  encodePng({
    width,
    height,
    channels: 3,
    data: Uint8Array.from({ length: width * height * 3 }, (_, at) => (colour[at % 3]! + 1) * 127.5),
  });

/** Left half black, right half white. */
const halfMask = (width: number, height: number): Promise<Uint8Array> =>
  encodePng({
    width,
    height,
    channels: 3,
    data: Uint8Array.from({ length: width * height * 3 }, (_, at) => (Math.floor(at / 3) % width < width / 2 ? 0 : 255)),
  });

describe('a diffusion pipeline', () => {
  it('paints what the prompt says, in the size asked for', async () => {
    const pipeline = await opened();
    for (const word of Object.keys(COLOURS))
      assertColour(meanOf(await made(pipeline, { prompt: `The ${word.toUpperCase()} one, please!` })), word);
    const { width, height } = await made(pipeline);
    assert.deepEqual([width, height], [64, 32]);
    await pipeline.close();
  });

  for (const { name } of SCHEDULERS) {
    it(`by ${name}`, async () => {
      const pipeline = await opened();
      assertColour(meanOf(await made(pipeline, { scheduler: name })), 'red');
      await pipeline.close();
    });
  }

  it('gives the same picture for the same seed, others for others, and each next image the next seed', async () => {
    const pipeline = await opened();
    // More steps forget the seed: the network knows the answer.
    const job = { ...JOB, steps: 2 };
    const [first, second] = await pipeline.generate({ ...job, count: 2 }, () => {}, FOREVER);
    const [again] = await pipeline.generate(job, () => {}, FOREVER);
    const [next] = await pipeline.generate({ ...job, seed: 8 }, () => {}, FOREVER);
    assert.deepEqual(again, first);
    assert.deepEqual(next, second);
    assert.notDeepEqual(first, second);
    await pipeline.close();
  });

  it('is guided away from the negative prompt, alike when the halves run apart', async () => {
    const pipeline = await opened();
    const job = { prompt: 'red', negativePrompt: 'blue', guidance: 4 };
    const [together, apart] = [await made(pipeline, job), await made(pipeline, { ...job, optimise: true })];
    assertColour(meanOf(together), 'red');
    assert.deepEqual(apart.data, together.data);
    // 1 * blue would be painted without the prompt; twice as much against it gives yellow.
    const yellow = meanOf(await made(pipeline, { prompt: '', negativePrompt: 'blue', guidance: 2 }));
    assert.ok(yellow[0]! > 200 && yellow[1]! > 200 && yellow[2]! < 55, `${yellow}`);
    await pipeline.close();
  });

  it('reports every step', async () => {
    const pipeline = await opened();
    const seen: string[] = [];
    await pipeline.generate({ ...JOB, steps: 3, count: 2 }, ({ index, step, steps }) => seen.push(`${index}:${step}/${steps}`), FOREVER);
    assert.deepEqual(seen, ['0:1/3', '0:2/3', '0:3/3', '1:1/3', '1:2/3', '1:3/3']);
    await pipeline.close();
  });

  it('ends between two steps when it is aborted', async () => {
    const pipeline = await opened();
    const control = new AbortController();
    let steps = 0;
    const done = pipeline.generate(
      JOB,
      () => {
        steps += 1;
        if (steps === 4) control.abort();
      },
      control.signal,
    );
    await assert.rejects(done, { name: 'AbortError' });
    assert.equal(steps, 4);
    await pipeline.close();
  });

  it('varies an image the more, the stronger', async () => {
    for (const moments of [false, true]) {
      const pipeline = await opened({ moments });
      const image = await picture(100, 50, COLOURS.blue!);
      const greenness = async (strength: number): Promise<number> => meanOf(await made(pipeline, { image, prompt: 'green', strength }))[1]!;
      const [weak, strong] = [await greenness(0.05), await greenness(1)];
      assert.ok(strong > 200 && weak < strong, `${weak} ${strong}`);
      await pipeline.close();
    }
  });

  for (const inpainting of [false, true]) {
    it(`changes only what the mask covers, by ${inpainting ? 'a network that knows masks' : 'an ordinary network'}`, async () => {
      const folder = written({ inpainting });
      // The graph says it too.
      if (inpainting) rmSync(join(folder, 'unet/config.json'));
      const pipeline = await openIn(folder);
      const image = await picture(64, 32, COLOURS.blue!);
      const result = await made(pipeline, { image, mask: await halfMask(64, 32), prompt: 'red', strength: 1 });
      assert.deepEqual(meanOf(result, 0, 24), [0, 0, 255]);
      assertColour(meanOf(result, 40, 64), 'red');
      await pipeline.close();
    });
  }

  it('takes the transparent part of a mask', async () => {
    const pipeline = await opened();
    const data = Uint8Array.from({ length: 64 * 32 * 4 }, (_, at) => (at % 4 === 3 ? (Math.floor(at / 4) % 64 < 32 ? 255 : 0) : 200));
    const mask = await encodePng({ width: 64, height: 32, channels: 4, data });
    const result = await made(pipeline, { image: await picture(64, 32, COLOURS.blue!), mask, prompt: 'red', strength: 1 });
    assert.deepEqual(meanOf(result, 0, 24), [0, 0, 255]);
    assertColour(meanOf(result, 40, 64), 'red');
    await pipeline.close();
  });

  it('sends an image back through its share of the steps asked for, whether or not a scheduler takes one of them twice', async () => {
    const pipeline = await opened();
    const image = await picture(64, 32, COLOURS.blue!);
    for (const [scheduler, strength, expected] of [
      ['ddim', 0.5, 5],
      ['pndm', 0.5, 6],
      ['pndm', 0.3, 4],
      ['pndm', 1, 11],
      ['pndm', 0.05, 1],
    ] as const) {
      let all = 0;
      await pipeline.generate({ ...JOB, image, scheduler, strength, steps: 10 }, ({ steps }) => (all = steps), FOREVER);
      assert.equal(all, expected, `${scheduler} ${strength}`);
    }
    await pipeline.close();
  });

  it('tells its guidance to a network that takes it, and asks that one once per step', async () => {
    const pipeline = await opened({ unetInputs: ['timestep_cond'], schedulerClass: 'LCMScheduler' });
    assert.equal(pipeline.scheduler, 'lcm');
    const job = { prompt: 'green', guidance: 8, steps: 4 };
    const image = await made(pipeline, job);
    assertColour(meanOf(image), 'green');
    assert.deepEqual((await made(pipeline, { ...job, negativePrompt: 'red' })).data, image.data);
    const seen: string[] = [];
    const back = { ...JOB, ...job, image: await picture(64, 32, COLOURS.blue!), strength: 0.5 };
    await pipeline.generate(back, ({ step, steps }) => seen.push(`${step}/${steps}`), FOREVER);
    assert.deepEqual(seen, ['1/4', '2/4', '3/4', '4/4']);
    await pipeline.close();
  });

  it('asks for image and mask where the network only fills in', async () => {
    const pipeline = await opened({ inpainting: true });
    const message = /only fills in: it needs an image and a mask/;
    await assert.rejects(made(pipeline), { kind: 'bad_request', message });
    await assert.rejects(made(pipeline, { image: await picture(8, 8, [0, 0, 0]) }), { kind: 'bad_request', message });
    await pipeline.close();
  });

  const strangers: [string, TinyDiffusionOptions, (folder: string) => void, RegExp][] = [
    [
      'a transformer',
      {},
      (folder) => writeFileSync(join(folder, 'model_index.json'), '{"_class_name":"FluxPipeline","transformer":["diffusers","x"]}'),
      /it is a FluxPipeline with a transformer\. What is: Stable Diffusion/,
    ],
    [
      'a refiner',
      { large: true },
      (folder) => {
        rmSync(join(folder, 'text_encoder/model.onnx'));
        const parts = { text_encoder: [null, null], unet: ['diffusers', 'UNet2DConditionModel'] };
        writeFileSync(join(folder, 'model_index.json'), JSON.stringify({ _class_name: 'StableDiffusionXLImg2ImgPipeline', ...parts }));
      },
      /it is a StableDiffusionXLImg2ImgPipeline without a text_encoder/,
    ],
    [
      'a cascade',
      {},
      (folder) => {
        rmSync(join(folder, 'unet'), { recursive: true });
        const parts = { text_encoder: ['transformers', 'CLIPTextModel'], decoder: ['diffusers', 'StableCascadeUNet'] };
        writeFileSync(join(folder, 'model_index.json'), JSON.stringify({ _class_name: 'StableCascadeDecoderPipeline', ...parts }));
      },
      /it is a StableCascadeDecoderPipeline without a unet/,
    ],
    ['an unknown input', { unetInputs: ['class_labels'] }, () => {}, /unet\/model\.onnx wants class_labels/],
    [
      'eight channels',
      {},
      (folder) => writeFileSync(join(folder, 'unet/config.json'), '{"in_channels":8}'),
      /its unet takes 8 channels, and 4 or 9/,
    ],
    [
      'flow matching, before any graph is read',
      { schedulerClass: 'FlowMatchEulerDiscreteScheduler' },
      (folder) => writeFileSync(join(folder, 'text_encoder/model.onnx'), 'garbage'),
      /has _class_name "FlowMatchEulerDiscreteScheduler"/,
    ],
  ];
  for (const [name, options, change, message] of strangers) {
    it(`says what it does not run: ${name}`, async () => {
      const folder = written(options);
      change(folder);
      await assert.rejects(openIn(folder), { kind: 'bad_request', code: 'UnsupportedModel', message });
    });
  }

  it('takes parts that are named, and not there', async () => {
    const folder = written();
    const index = { _class_name: 'StableDiffusionPipeline', safety_checker: [null, null], transformer: [null, null], prior: null };
    writeFileSync(join(folder, 'model_index.json'), JSON.stringify(index));
    await (await openIn(folder)).close();
  });

  it('runs large pipelines with two text encoders', async () => {
    const pipeline = await opened({ large: true, schedulerClass: 'EulerDiscreteScheduler' });
    assert.equal(pipeline.scheduler, 'euler');
    assertColour(meanOf(await made(pipeline, { prompt: 'green', guidance: 2 })), 'green');
    await pipeline.close();
  });

  it('refuses a size that its latents do not fill, and images where it has no encoder', async () => {
    const pipeline = await opened({ withoutEncoder: true });
    await assert.rejects(made(pipeline, { width: 60 }), { kind: 'bad_request', message: /60x32; both must be multiples of 8/ });
    await assert.rejects(made(pipeline, { image: await picture(8, 8, [0, 0, 0]) }), { kind: 'bad_request', message: /no vae_encoder/ });
    await pipeline.close();
  });

  it('refuses what is no image', async () => {
    const pipeline = await opened();
    await assert.rejects(made(pipeline, { image: Buffer.from('no image at all') }), {
      kind: 'bad_request',
      message: /^image is not an image/,
    });
    await pipeline.close();
  });

  const broken: [string, (folder: string) => void, RegExp][] = [
    ['no index', (folder) => rmSync(join(folder, 'model_index.json')), /model_index\.json is missing/],
    ['no scheduler', (folder) => rmSync(join(folder, 'scheduler'), { recursive: true }), /scheduler_config\.json is missing/],
    ['no network', (folder) => rmSync(join(folder, 'unet/model.onnx')), /unet\/model\.onnx is missing/],
    ['no vocabulary', (folder) => rmSync(join(folder, 'tokenizer/vocab.json')), /vocab\.json is missing, and so is tokenizer\.json/],
    [
      'a damaged graph',
      (folder) => writeFileSync(join(folder, 'unet/model.onnx'), 'garbage'),
      /^unet\/model\.onnx is not a usable ONNX file/,
    ],
    [
      'a graph of something else',
      (folder) => copyFileSync(join(folder, 'vae_decoder/model.onnx'), join(folder, 'unet/model.onnx')),
      /unet\/model\.onnx has no input sample/,
    ],
    ['a damaged index', (folder) => writeFileSync(join(folder, 'model_index.json'), '{'), /model_index\.json is no JSON/],
    [
      'an absurd channel count',
      (folder) => writeFileSync(join(folder, 'unet/config.json'), '{"in_channels":1e9}'),
      /in_channels 1000000000/,
    ],
    [
      'an unknown schedule',
      (folder) => writeFileSync(join(folder, 'scheduler/scheduler_config.json'), '{"beta_schedule":"x"}'),
      /beta_schedule is "x"/,
    ],
    ['a zero scale', (folder) => writeFileSync(join(folder, 'vae_decoder/config.json'), '{"scaling_factor":0}'), /scaling_factor 0/],
  ];
  for (const [name, breakIt, message] of broken) {
    it(`says what is wrong: ${name}`, async () => {
      const folder = written();
      breakIt(folder);
      await assert.rejects(openIn(folder), { kind: 'invalid', message });
    });
  }
});

it('tells guidance as sines and cosines of what passes 1', () => {
  // Vectors of `LatentConsistencyModelPipeline.get_guidance_scale_embedding` of diffusers 0.42.1, for 7.5 and 1.25.
  const vectors: [number, number[]][] = [
    [8.5, [-0.8512, 0.5627, -0.4352, 0.6816, -0.5248, -0.8267, -0.9003, 0.7317]],
    [2.25, [-0.3465, -0.0663, 0.1247, 0.938, 0.9978, 0.9922, 0]],
  ];
  for (const [guidance, expected] of vectors) {
    const actual = guidanceVector(guidance, expected.length);
    for (const [place, value] of expected.entries()) assert.ok(Math.abs(actual[place]! - value) < 1e-3, `${actual} should be ${expected}`);
  }
});

describe('noise', () => {
  it('is normal, and the same for the same seed', () => {
    const values = new NormalNoise(42).take(20_000);
    const mean = values.reduce((sum, value) => sum + value, 0) / values.length;
    const variance = values.reduce((sum, value) => sum + (value - mean) ** 2, 0) / values.length;
    assert.ok(Math.abs(mean) < 0.03 && Math.abs(variance - 1) < 0.05, `${mean} ${variance}`);
    assert.deepEqual(new NormalNoise(42).take(5), values.slice(0, 5));
    assert.notDeepEqual(new NormalNoise(42 + 2 ** 32).take(5), values.slice(0, 5));
  });
});
