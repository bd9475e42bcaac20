import { exportSettings } from '../../runtime/completions/options.js';
import type { EncoderAsk, EncoderSettings } from '../../runtime/encoders/contract.js';
import type { Request } from '../../schemas/endpoint.js';
import type { TransformersConfig } from '../../schemas/generated/config/project.js';
import type { ExtraBody } from '../../schemas/generated/universal/chat.js';

/** 10,000 texts of 3 KB each fit. */
export const TEXTS_BYTES = 32 * 1024 * 1024;

/** What a request to an encoder may say of the model and how it is read. */
interface Body {
  readonly model: string;
  readonly max_length?: number | null;
  readonly keep_loaded?: boolean | null;
  readonly transformers?: TransformersConfig | null;
  readonly extra_body?: ExtraBody | null;
}

/** What every request to an encoder says, as the runtime takes it; null counts as absent. */
export function askOf({ model, max_length: maxLength, extra_body: extra, ...body }: Body, { signal }: Request): EncoderAsk {
  const ofGguf = { threads: extra?.n_threads, gpuLayers: extra?.n_gpu_layers, flashAttention: extra?.flash_attn };
  const said = {
    maxLength,
    ...ofGguf,
    ...exportSettings(body.transformers ?? undefined),
    batchSize: body.transformers?.batch_size,
    keepLoaded: body.keep_loaded,
  };
  const settings: EncoderSettings = Object.fromEntries(Object.entries(said).filter(([, value]) => value !== null && value !== undefined));
  return { model, settings, signal };
}

/** The texts of a request, which some clients call `input`; its schema lets one of the two through. */
export function textsOf({
  texts,
  input,
}: {
  readonly texts?: readonly string[];
  readonly input?: string | readonly string[];
}): readonly string[] {
  return texts ?? [input ?? []].flat();
}

/** Token counts as the wire has them. */
export function usageOf(tokens: number): { prompt_tokens: number; total_tokens: number } {
  return { prompt_tokens: tokens, total_tokens: tokens };
}
