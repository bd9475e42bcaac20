import type { LanguageOptions } from '../../engines/contracts/language.js';
import type { FoundModel } from '../find/contract.js';
import type { LanguageSettings } from '../find/language.js';

const flagText = (value: boolean | undefined): string => (value === undefined ? 'default' : String(value));

/** The name of a loaded model in `/v1/models` and `/health`: different options are a different copy. Format: 4-runtime-wire 1.2. */
export function cacheKey(id: string, quantisation: string | null, options: LanguageOptions): string {
  const parts = [
    `language:${id}`,
    `ctx${options.n_ctx ?? 'auto'}`,
    `batch${options.n_batch ?? 'auto'}`,
    `gpu${options.n_gpu_layers ?? 'auto'}`,
    `threads${options.n_threads ?? 'auto'}`,
    `flash${flagText(options.flash_attn)}`,
    `mmap${flagText(options.use_mmap)}`,
    `mlock${flagText(options.use_mlock)}`,
    `cachek${options.cache_type_k?.toLowerCase() ?? 'default'}`,
    `cachev${options.cache_type_v?.toLowerCase() ?? 'default'}`,
    `quant${quantisation ?? 'default'}`,
  ];
  // Options that the format does not know come after it, and only where they are given.
  if (options.n_slots !== undefined) parts.push(`slots${options.n_slots}`);
  if (options.n_ubatch !== undefined) parts.push(`ubatch${options.n_ubatch}`);
  if (options.kv_unified !== undefined) parts.push(`unified${options.kv_unified}`);
  return parts.join(':');
}

/** What the settings of an ONNX export add to its key; the default adds nothing. */
export function exportKey({ device = 'auto', dtype = 'auto', model_type: type }: LanguageSettings): string {
  return (
    (device === 'auto' ? '' : `:device${device}`) + (dtype === 'auto' ? '' : `:dtype${dtype}`) + (type === undefined ? '' : `:${type}`)
  );
}

/** What makes another copy of an encoder, where it is said. */
interface EncoderLoading {
  readonly device?: string;
  readonly flashAttention?: boolean;
  readonly threads?: number;
  readonly gpuLayers?: number;
}

/** The same for an encoder of one task; `transformers` stands for the ONNX format, as clients know it. */
export function encoderKey(
  task: string,
  { format, id, quantisation }: Pick<FoundModel, 'format' | 'id' | 'quantisation'>,
  { device, flashAttention, threads, gpuLayers }: EncoderLoading = {},
): string {
  // The length is a matter of each call here, so that requests with different ones share a copy.
  const parts = [`encoder:${task}:${format === 'gguf' ? 'gguf' : 'transformers'}:${id}`, `quant${quantisation ?? 'default'}`, 'lenauto'];
  if (device !== undefined && device !== 'auto') parts.push(`device${device}`);
  if (format === 'gguf' && flashAttention === false) parts.push('flashfalse');
  if (threads !== undefined) parts.push(`threads${threads}`);
  if (format === 'gguf' && gpuLayers !== undefined) parts.push(`gpu${gpuLayers}`);
  return parts.join(':');
}
