import type { Metadata } from '../../documents/contract.js';
import { openAiVectors } from '../../net/ask/embeddings.js';
import { type JsonCall, postJson } from '../../net/ask/json-host.js';
import type { EmbedderParts, Purpose, Source } from './contract.js';

/** What a host that speaks `/v1/embeddings` is asked with. */
export interface HostedModel extends Pick<JsonCall, 'base' | 'model' | 'apiKey' | 'headers' | 'timeoutMs' | 'retries'> {
  readonly prefixes: Readonly<Record<Purpose, string>>;
  /** Further members of the request body. */
  readonly body?: Metadata;
}

/** Asks a host for vectors by `/v1/embeddings`. */
export function hostedSend(parts: EmbedderParts, hosted: HostedModel): Source['send'] {
  const { prefixes, body, ...call } = hosted;
  return async (texts, purpose, signal) => {
    const input = texts.map((text) => prefixes[purpose] + text);
    const asked = { ...call, path: '/v1/embeddings', body: { model: call.model, input, ...body }, retryBaseMs: parts.retryBaseMs };
    return openAiVectors(await postJson(parts.outbound, asked, signal), texts.length, call.base);
  };
}
