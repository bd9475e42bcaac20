import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { CompletionRequest } from '../completions/contract.js';
import type { CompletionSource, UniversalRequest } from '../completions/request.js';
import { checkedExtra, formFields, generationSettings, languageOptions, languageSettings } from '../completions/settings.js';
import type { Provider } from './contract.js';

/** What a model's `extra_body` and the request's say together; the request wins. */
function universalRequest(model: ModelConfig, request: CompletionRequest): UniversalRequest {
  const extra = checkedExtra({ ...model.extra_body, ...request.extra });
  const { extra: _merged, ...own } = request;
  const out: UniversalRequest = {
    ...own,
    model: model.model,
    form: formFields({}, extra),
    options: languageOptions({ n_ctx: request.n_ctx ?? null }, extra),
    // A project's history is its owner's: it is not shortened behind their back unless they say so.
    autoTruncate: extra.auto_truncate ?? false,
    injectTools: model.tool_call_strategy === 'prompt_based',
  };
  if (model.keep_loaded) out.keepLoaded = true;
  const transformers = languageSettings(model.name, model.transformers);
  if (transformers) out.transformers = transformers;
  if (extra.truncation_strategy) out.truncationStrategy = extra.truncation_strategy;
  return Object.assign(out, generationSettings(request, extra));
}

/** Completes chats on the in-process runtime. A prompt over the context is refused unless `extra_body` sets `auto_truncate`. */
export function createUniversalProvider(completions: CompletionSource): Provider {
  return {
    open: (model, request, signal) => completions.open(universalRequest(model, request), signal),
    hold: async (model, signal) => {
      const { keepLoaded: _kept, ...request } = universalRequest(model, { messages: [] });
      return (await completions.hold(request, signal)).release;
    },
  };
}
