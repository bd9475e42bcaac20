import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { languageSettings } from '../completions/settings.js';
import { onlyBase, RoundRobin, runtimeBase } from '../net/ask/bases.js';
import type { ChatClient } from './compat/open.js';
import type { CompletionRequest, Provider } from './contract.js';
import { baseUrlOf } from './key.js';

/** The members that only the universal runtime knows. As in process, a history is not shortened unless `extra_body` says so. */
export function universalMembers(model: ModelConfig, request: CompletionRequest): Record<string, unknown> {
  const out: Record<string, unknown> = { auto_truncate: false };
  if (model.keep_loaded) out.keep_loaded = true;
  const transformers = languageSettings(model.name, model.transformers);
  if (transformers) out.transformers = transformers;
  for (const name of ['think', 'thinking_budget', 'deterministic', 'n_ctx'] as const)
    if (request[name] !== undefined) out[name] = request[name];
  return out;
}

/**
 * Speaks to universal runtimes over HTTP, as the in-process provider does without: `urls` are used in turn, and the next is tried when one
 * does not answer. A model's own `base_url` wins unless `isOurs` says that it names the runtime anyway.
 */
export function createRemoteUniversal(
  client: ChatClient,
  urls: readonly string[],
  isOurs: (base: string) => boolean = () => false,
): Provider {
  const all = new RoundRobin(urls.map(runtimeBase));
  return {
    async open(model, request, signal) {
      const own = baseUrlOf(model);
      const bases = own !== undefined && (all.count === 0 || !isOurs(own)) ? onlyBase(runtimeBase(own)) : all;
      return client.open(model, request, { bases, added: universalMembers(model, request), ours: true }, signal);
    },
  };
}
