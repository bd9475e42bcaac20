import type { EncoderAsk } from '../../runtime/encoders/contract.js';
import type { Request } from '../../schemas/endpoint.js';

/** 10,000 texts of 3 KB each fit. */
export const TEXTS_BYTES = 32 * 1024 * 1024;

/** What every request to an encoder says, as the runtime takes it; null counts as absent. */
export function askOf(body: { readonly model: string; readonly max_length?: number | null }, { signal }: Request): EncoderAsk {
  return { model: body.model, settings: typeof body.max_length === 'number' ? { maxLength: body.max_length } : {}, signal };
}

/** Token counts as the wire has them. */
export function usageOf(tokens: number): { prompt_tokens: number; total_tokens: number } {
  return { prompt_tokens: tokens, total_tokens: tokens };
}
