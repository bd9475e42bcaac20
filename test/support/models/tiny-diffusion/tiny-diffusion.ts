import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { writeOnnx } from '../writers/onnx-writer.js';
import { decoderGraph, encoderGraph, FACTOR, textGraph, unetGraph } from './graphs.js';
import { clipFiles } from './tokenizer.js';

/** What the words of the tiny pipeline paint, from -1 to 1 for red, green and blue. */
export const COLOURS: Readonly<Record<string, readonly [number, number, number]>> = {
  red: [1, -1, -1],
  green: [-1, 1, -1],
  blue: [-1, -1, 1],
  white: [1, 1, 1],
};

/** Less than the whole colour, so that what a seed adds can be seen. */
const PAINT = 0.8;

/** Forms of the tiny pipeline. */
export interface TinyDiffusionOptions {
  /** The network takes a mask and a masked picture too, as those that were trained to fill in. */
  readonly inpainting?: boolean;
  /** Two text encoders and sizes, as large pipelines have. */
  readonly large?: boolean;
  readonly withoutEncoder?: boolean;
  /** The encoder gives mean and variance instead of a latent. */
  readonly moments?: boolean;
  readonly schedulerClass?: string;
  /** Further inputs of the network, such as the vector that tells some their guidance. */
  readonly unetInputs?: readonly string[];
}

/**
 * Writes a diffusion pipeline of a few kilobytes into a folder, in the layout of `diffusers`: it paints the colour that its prompt names.
 * Its network knows the answer, so every scheduler ends there.
 */
export function writeTinyDiffusion(folder: string, options: TinyDiffusionOptions = {}): void {
  const {
    inpainting = false,
    large = false,
    withoutEncoder = false,
    moments = false,
    schedulerClass = 'DDIMScheduler',
    unetInputs,
  } = options;
  const { vocab, merges } = clipFiles(Object.keys(COLOURS));
  const rows = Object.keys(vocab).map((token) =>
    [...(COLOURS[token.replace('</w>', '')] ?? [0, 0, 0]), 0].map((part) => part * PAINT * FACTOR),
  );
  const put = (name: string, content: object | string | Uint8Array): void => {
    mkdirSync(dirname(join(folder, name)), { recursive: true });
    writeFileSync(join(folder, name), typeof content === 'string' || content instanceof Uint8Array ? content : JSON.stringify(content));
  };
  put('model_index.json', { _class_name: large ? 'StableDiffusionXLPipeline' : 'StableDiffusionPipeline' });
  put('scheduler/scheduler_config.json', {
    _class_name: schedulerClass,
    num_train_timesteps: 1000,
    beta_start: 0.00085,
    beta_end: 0.012,
    beta_schedule: 'scaled_linear',
    set_alpha_to_one: true,
    steps_offset: 1,
  });
  for (const suffix of large ? ['', '_2'] : ['']) {
    put(`tokenizer${suffix}/vocab.json`, vocab);
    put(`tokenizer${suffix}/merges.txt`, merges);
    put(`tokenizer${suffix}/tokenizer_config.json`, { model_max_length: 16, pad_token: '<|endoftext|>' });
    put(`text_encoder${suffix}/model.onnx`, writeOnnx(textGraph(rows, large)));
  }
  put('unet/config.json', { in_channels: inpainting ? 9 : 4 });
  put(
    'unet/model.onnx',
    writeOnnx(unetGraph({ inputs: inpainting ? 9 : 4, width: large ? 8 : 4, large, ...(unetInputs ? { more: unetInputs } : {}) })),
  );
  put('vae_decoder/config.json', { latent_channels: 4, block_out_channels: [8, 8, 8, 8], scaling_factor: FACTOR });
  put('vae_decoder/model.onnx', writeOnnx(decoderGraph()));
  if (!withoutEncoder) put('vae_encoder/model.onnx', writeOnnx(encoderGraph(moments)));
}
