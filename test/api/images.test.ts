import assert from 'node:assert/strict';
import { renameSync } from 'node:fs';
import { join } from 'node:path';
import { universalEndpoints } from '../../gateway/universal/index.js';
import { Images } from '../../runtime/images/images.js';
import { Models } from '../../runtime/models/residency/models.js';
import { decodePicture, encodePixels, encodePng } from '../../runtime/pictures/codec.js';
import { Projects } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { emptyDataDir } from '../support/daemon.js';
import { writeTinyDiffusion } from '../support/models/tiny-diffusion/tiny-diffusion.js';
import { ANY_EVENTS, type Expected, expectations, type Scenario, scenarios } from '../support/scenario.js';

const GENERATIONS = '/v1/images/generations';
const model = 'tiny/painter';
const dataDir = emptyDataDir();
writeTinyDiffusion(join(dataDir, 'models', 'tiny', 'painter'));
const halves = join(dataDir, 'models', 'tiny', 'halves');
writeTinyDiffusion(halves);
for (const part of ['text_encoder', 'unet', 'vae_decoder', 'vae_encoder'])
  renameSync(join(halves, part, 'model.onnx'), join(halves, part, 'model_fp16.onnx'));
const models = new Models({ dataDir });
const projects = new Projects({ dataDir });

const blue = Buffer.from(
  await encodePng({ width: 40, height: 40, channels: 3, data: Uint8Array.from({ length: 4800 }, (_, at) => (at % 3 === 2 ? 255 : 0)) }),
).toString('base64');
const mask = Buffer.from(
  await encodePng({
    width: 40,
    height: 40,
    channels: 3,
    data: Uint8Array.from({ length: 4800 }, (_, at) => (Math.floor(at / 3) % 40 < 20 ? 0 : 255)),
  }),
).toString('base64');

/** The colour of a pixel of an encoded image, and its size. */
async function pixel(base64: string, column = 0): Promise<[width: number, height: number, colour: number[]]> {
  const { width, height, data } = await decodePicture({ name: 'answer', bytes: Buffer.from(base64, 'base64') });
  return [width, height, [...data.subarray(column * 3, column * 3 + 3)]];
}
/** An image in another format at its usual quality. */
const encoded = async (base64: string, format: 'jpeg' | 'webp'): Promise<string> =>
  Buffer.from(await encodePixels(await decodePicture({ name: 'answer', bytes: Buffer.from(base64, 'base64') }), format)).toString('base64');
const isRed = ([r, g, b]: number[]): boolean => r! > 200 && g! < 60 && b! < 60;
const isBlue = ([r, g, b]: number[]): boolean => r! < 60 && g! < 60 && b! > 200;

const post = (name: string, path: string, body: object, expected: Expected = {}): Scenario => ({
  name,
  method: 'POST',
  path,
  body: { model, size: '256x256', num_inference_steps: 4, seed: 1, ...body },
  ...expectations(expected),
});
const fails = (name: string, path: string, body: object, status: number, ...contains: string[]): Scenario =>
  post(name, path, body, { status, contains });

let first = '';
const table: Scenario[] = [
  post('an image as a data: URL', GENERATIONS, { prompt: 'a red house', guidance_scale: 1, num_inference_steps: 2 }, async (body) => {
    assert.ok(Math.abs(body.created - Date.now() / 1000) < 60);
    const [image, ...none] = body.data;
    assert.deepEqual([none.length, image.revised_prompt, image.seed], [0, 'a red house', 1]);
    first = /^data:image\/png;base64,(.+)$/.exec(image.url)![1]!;
    const [width, height, colour] = await pixel(first);
    assert.deepEqual([width, height, isRed(colour)], [256, 256, true]);
  }),
  ...['tiny/halves', 'tiny/halves:FP16'].map((name) =>
    post(`a pipeline with nothing but halves, as ${name}`, GENERATIONS, { model: name, prompt: 'red' }, { contains: ['"data":['] }),
  ),
  fails('a format that is not there', GENERATIONS, { model: 'tiny/halves:Q4', prompt: 'red' }, 404, 'no Q4', 'quern pull tiny/halves:Q4'),
  post(
    'no guidance, as turbo models want it: the same as 1',
    GENERATIONS,
    { prompt: 'a red house', guidance_scale: 0, num_inference_steps: 2 },
    (body) => assert.deepEqual([body.guidance_scale, body.data[0].url], [0, `data:image/png;base64,${first}`]),
  ),
  post(
    'several in base64, the first as before',
    GENERATIONS,
    { prompt: 'a red house', guidance_scale: 1, num_inference_steps: 2, n: 2, response_format: 'b64_json' },
    (body) => {
      assert.deepEqual([body.data.length, body.data[0].b64_json, body.data[1].seed, 'url' in body.data[0]], [2, first, 2, false]);
      assert.notEqual(body.data[1].b64_json, first);
    },
  ),
  post(
    'progress as events',
    GENERATIONS,
    { prompt: 'red', stream: true, n: 2 },
    {
      answerHeaders: { 'content-type': /^text\/event-stream/ },
      events: [
        ANY_EVENTS,
        { type: 'image_generation.progress', index: 1, step: 4, total_steps: 4, n: 2 },
        { type: 'image_generation.completed', index: 0, size: '256x256', output_format: 'png', seed: 1 },
        { type: 'image_generation.completed', index: 1, seed: 2 },
        '[DONE]',
      ],
    },
  ),
  ...(['png', 'jpeg', 'webp'] as const).map((format) =>
    post(
      `raw ${format} for who accepts it by name`,
      GENERATIONS,
      { prompt: 'red, für dich' },
      {
        headers: { accept: `image/${format}, */*;q=0.1` },
        answerHeaders: { 'content-type': `image/${format}`, 'x-prompt': 'red%2C%20f%C3%BCr%20dich', 'x-model': 'tiny%2Fpainter' },
      },
    ),
  ),
  post('JSON for who accepts anything', GENERATIONS, { prompt: 'red' }, { headers: { accept: '*/*' }, contains: ['"data":['] }),
  post(
    'JSON where raw bytes were several',
    GENERATIONS,
    { prompt: 'red', n: 2 },
    { headers: { accept: 'image/png' }, contains: ['"data":['] },
  ),
  post(
    'guidance and a negative prompt',
    GENERATIONS,
    { prompt: 'red', negative_prompt: 'green', guidance_scale: 3, scheduler: 'euler_a' },
    async (body) => assert.ok(isRed((await pixel(body.data[0].url.split(',')[1]))[2])),
  ),
  post('an unknown scheduler is ignored', GENERATIONS, { prompt: 'red', scheduler: 'magic' }, { contains: ['"data":['] }),
  post(
    'the part under the mask is changed',
    '/v1/images/edits',
    { prompt: 'red', image: `data:image/png;base64,${blue}`, mask },
    async (body) => {
      const base64 = body.data[0].url.split(',')[1];
      assert.ok(isBlue((await pixel(base64, 10))[2]));
      assert.ok(isRed((await pixel(base64, 250))[2]));
    },
  ),
  post('a variation', '/v1/images/variations', { image: blue, strength: 0.1, response_format: 'b64_json' }, async (body) => {
    const [width, height, [, , b]] = await pixel(body.data[0].b64_json);
    assert.deepEqual([width, height], [256, 256]);
    assert.ok(b! > 120);
  }),
  ...(
    [
      ['quality', 'low', 25, 7.5],
      ['quality', 'medium', 50, 7.5],
      ['quality', 'hd', 100, 7.5],
      ['style', 'vivid', 50, 10.5],
      ['style', 'natural', 50, 5.25],
    ] as const
  ).map(([name, value, steps, guidance]) =>
    post(`${name} ${value}`, GENERATIONS, { prompt: 'red', num_inference_steps: null, size: '256x256', [name]: value }, (body) =>
      assert.deepEqual([body.num_inference_steps, body.guidance_scale], [steps, guidance]),
    ),
  ),
  ...(['jpeg', 'webp'] as const).map((format) =>
    post(
      `output_compression of ${format}`,
      GENERATIONS,
      { prompt: 'a red house', guidance_scale: 1, num_inference_steps: 2, output_format: format, output_compression: 0 },
      async (body) => {
        const [base64, best] = [body.data[0].url.split(',')[1], await encoded(first, format)];
        assert.deepEqual((await pixel(base64)).slice(0, 2), [256, 256]);
        assert.ok(base64.length < best.length / 2, `${base64.length} against ${best.length}`);
      },
    ),
  ),
  fails(
    'compression of a format that loses nothing',
    GENERATIONS,
    { prompt: 'x', output_compression: 50 },
    400,
    'output_compression is 50',
  ),
  fails('more than all quality', GENERATIONS, { prompt: 'x', output_format: 'webp', output_compression: 101 }, 422, 'output_compression'),
  post('png as it is', GENERATIONS, { prompt: 'red', output_compression: 100 }, { contains: ['"output_format":"png"'] }),
  post(
    'options that say what is done anyway',
    GENERATIONS,
    { prompt: 'red', background: 'opaque', moderation: 'auto', input_fidelity: 'low', partial_images: 0 },
    {
      contains: ['"data":['],
    },
  ),
  post(
    'options that say nothing',
    GENERATIONS,
    { prompt: 'red', background: null, moderation: null, input_fidelity: null, partial_images: null, output_compression: null },
    {
      contains: ['"data":['],
    },
  ),
  ...(
    [
      ['background', 'transparent', 'opaque'],
      ['moderation', 'low', 'moderated'],
      ['input_fidelity', 'high', 'strength'],
      ['partial_images', 2, 'finished images'],
    ] as const
  ).flatMap(([option, value, why]) =>
    ['generations', 'edits', 'variations'].map((what) =>
      fails(
        `${option} of ${what}`,
        `/v1/images/${what}`,
        { prompt: 'x', image: blue, mask, [option]: value },
        400,
        option,
        'is not supported',
        why,
      ),
    ),
  ),
  fails(
    'an adapter',
    GENERATIONS,
    { prompt: 'x', lora: [{ path: 'a.gguf' }] },
    400,
    'LoRA adapters are not run here',
    'fuse it into the pipeline',
  ),
  fails(
    'of an edit, by another name',
    '/v1/images/edits',
    { prompt: 'x', image: blue, extra_body: { loras: ['a'] } },
    400,
    'loras names',
    'fuse it',
  ),
  fails('a background that nobody knows', GENERATIONS, { prompt: 'x', background: 'green' }, 422, 'background'),
  post(
    'numbers go before quality and style',
    GENERATIONS,
    { prompt: 'red', num_inference_steps: 3, guidance_scale: 2, quality: 'hd', style: 'vivid' },
    (body) => assert.deepEqual([body.num_inference_steps, body.guidance_scale, body.size, body.output_format], [3, 2, '256x256', 'png']),
  ),
  post(
    'quality counts from what the project says',
    GENERATIONS,
    { prompt: 'red', model: null, project: 'art/studio', num_inference_steps: null, quality: 'high', style: 'natural' },
    (body) => assert.deepEqual([body.num_inference_steps, body.guidance_scale], [6, 1.4]),
  ),
  {
    name: 'the model is listed',
    path: '/v1/models',
    json: ({ data: [entry] }) => assert.deepEqual([entry.id, entry.key, entry.type], [model, `diffusion:${model}`, 'diffusion']),
  },
  post(
    'a project says how',
    GENERATIONS,
    { prompt: 'red', model: 'painter', project: 'art/studio', size: null, num_inference_steps: null, stream: true },
    {
      events: [
        ANY_EVENTS,
        { type: 'image_generation.progress', step: 3, total_steps: 3 },
        { type: 'image_generation.completed', size: '64x128' },
        '[DONE]',
      ],
    },
  ),
  post(
    'the request goes before the project',
    GENERATIONS,
    { prompt: 'red', model: null, project: 'art/studio', num_inference_steps: 2, stream: true },
    {
      events: [ANY_EVENTS, { step: 2, total_steps: 2 }, { size: '256x256' }, '[DONE]'],
    },
  ),
  fails('a project that is not there', GENERATIONS, { prompt: 'x', project: 'art/none' }, 404, 'none'),
  fails('no such weights', GENERATIONS, { prompt: 'x', model: 'some/model' }, 404, 'quern pull some/model', 'some/model'),
  fails(
    'the default model without its weights',
    GENERATIONS,
    { prompt: 'x', model: null },
    404,
    'quern pull stabilityai/stable-diffusion-xl-base-1.0',
  ),
  fails('a name that is a path upwards', GENERATIONS, { prompt: 'x', model: '../../etc' }, 400, 'not a model name'),
  fails('no prompt', GENERATIONS, { prompt: undefined }, 422, 'prompt'),
  fails('an empty prompt', GENERATIONS, { prompt: '' }, 422, 'prompt'),
  fails('eleven images', GENERATIONS, { prompt: 'x', n: 11 }, 422, 'n', '10'),
  fails('no images', GENERATIONS, { prompt: 'x', n: 0 }, 422, 'n'),
  fails('an odd size', GENERATIONS, { prompt: 'x', size: '100x100' }, 422, 'size', '512x512'),
  fails('an absurd size', GENERATIONS, { prompt: 'x', size: '99999x99999' }, 422, 'size'),
  fails('too many steps', GENERATIONS, { prompt: 'x', num_inference_steps: 151 }, 422, 'num_inference_steps', '150'),
  fails('guidance below nothing', GENERATIONS, { prompt: 'x', guidance_scale: -0.5 }, 422, 'guidance_scale'),
  fails('a negative seed', GENERATIONS, { prompt: 'x', seed: -1 }, 422, 'seed'),
  fails('an unknown form of answer', GENERATIONS, { prompt: 'x', response_format: 'file' }, 422, 'response_format'),
  fails('a path instead of an image', '/v1/images/variations', { image: '/etc/passwd.png' }, 400, 'Files and addresses are not read'),
  fails(
    'an address instead of an image',
    '/v1/images/variations',
    { image: 'http://127.0.0.1/x.png' },
    400,
    'Files and addresses are not read',
  ),
  fails(
    'text instead of an image',
    '/v1/images/variations',
    { image: Buffer.from('hello hello').toString('base64') },
    400,
    'image is not an image',
  ),
  fails('an edit of an opaque image without a mask', '/v1/images/edits', { prompt: 'x', image: blue }, 422, 'mask'),
  fails('an edit without a prompt', '/v1/images/edits', { image: blue, mask }, 422, 'prompt'),
  fails('a damaged mask', '/v1/images/edits', { prompt: 'x', image: blue, mask: blue.slice(0, 60) }, 400, 'mask'),
  fails('a strength above 1', '/v1/images/variations', { image: blue, strength: 1.5 }, 422, 'strength'),
];

scenarios(
  'the image endpoints',
  {
    endpoints: universalEndpoints,
    context: async () => {
      await projects.create('art', { name: 'studio' });
      await projects.edit('art', 'studio', (raw) => {
        const runtime = raw.runtime as { models: object[] };
        const painter = {
          name: 'painter',
          provider: 'universal',
          model,
          transformers: { model_type: 'image', device: 'cpu' },
          diffusion: { default_steps: 3, default_guidance: 2, default_size: '64x128', scheduler: 'dpm++', enable_optimizations: true },
        };
        return { ...raw, runtime: { ...runtime, models: [...runtime.models, painter] } } as unknown as typeof raw;
      });
      return { models, projects, images: new Images(models) } as unknown as Runtime;
    },
    close: () => models.close(),
  },
  table,
);
