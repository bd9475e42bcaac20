import type { OnnxOptions, OnnxSession } from '../onnx/contract.js';
import { openSession } from '../onnx/session.js';
import { type Json, jsonExcerpt, type PipelineFolder, pipelineFault, wholeNumber } from './pipeline-folder.js';
import type { LatentScale } from './vae.js';

const CHANNEL_LIMIT = 64;
/** Pixels per latent along a side, and the scale of latents, where a pipeline does not say. */
const USUAL_SCALE = 8;
const USUAL_FACTOR = 0.18215;

/** The open graphs of a pipeline; the encoder of pictures and the second text encoder only where there are any. */
export interface Sessions {
  readonly text: OnnxSession;
  readonly text2: OnnxSession | undefined;
  readonly unet: OnnxSession;
  readonly decoder: OnnxSession;
  readonly encoder: OnnxSession | undefined;
}

/** Opens what a pipeline has; what was opened is closed again when a later part fails. */
export async function openSessions(folder: PipelineFolder, options: OnnxOptions): Promise<Sessions> {
  const opened: OnnxSession[] = [];
  const open = async (part: string): Promise<OnnxSession> => {
    const session = await openSession(folder.graph(part), { ...options, folder: folder.path() });
    opened.push(session);
    return session;
  };
  const openIfThere = async (part: string): Promise<OnnxSession | undefined> => (folder.hasGraph(part) ? open(part) : undefined);
  try {
    return {
      text: await open('text_encoder'),
      text2: await openIfThere('text_encoder_2'),
      unet: await open('unet'),
      decoder: await open('vae_decoder'),
      encoder: await openIfThere('vae_encoder'),
    };
  } catch (error) {
    await Promise.all(opened.map((session) => session.close()));
    throw error;
  }
}

/** What the configuration of a pipeline says about its latents. */
export interface LatentFacts {
  readonly channels: number;
  /** Channels that the network takes: those of the latent, and of mask and masked picture where it was trained to fill in. */
  readonly inputs: number;
  /** Pixels per latent along a side. */
  readonly pixels: number;
  readonly scale: LatentScale;
}

/** Reads `vae*` and `unet` configurations; where they say nothing, what the graph of the network says, else usual values. */
export function latentFacts(folder: PipelineFolder, network: OnnxSession): LatentFacts {
  const vae = folder.json('vae_decoder', 'config.json') ?? folder.json('vae', 'config.json') ?? {};
  const unet = folder.json('unet', 'config.json') ?? {};
  const blocks = vae.block_out_channels;
  const channels = wholeNumber('vae_decoder/config.json', vae, 'latent_channels', CHANNEL_LIMIT, 4);
  const fixed = network.inputs.find(({ name }) => name === 'sample')?.dims[1];
  const usual = typeof fixed === 'number' && fixed > 0 ? fixed : channels;
  const source = (unet.in_channels ?? null) === null ? network.file : 'unet/config.json';
  return {
    channels,
    inputs: wholeNumber(source, unet, 'in_channels', CHANNEL_LIMIT * 2 + 1, usual),
    pixels: Array.isArray(blocks) && blocks.length > 0 && blocks.length <= 8 ? 2 ** (blocks.length - 1) : USUAL_SCALE,
    scale: { factor: factorOf(vae), shift: typeof vae.shift_factor === 'number' ? vae.shift_factor : 0 },
  };
}

function factorOf(vae: Json): number {
  const factor = vae.scaling_factor ?? USUAL_FACTOR;
  if (typeof factor === 'number' && factor > 0 && Number.isFinite(factor)) return factor;
  throw pipelineFault('vae_decoder/config.json', `has scaling_factor ${jsonExcerpt(factor)}; a number above 0 is needed`);
}
