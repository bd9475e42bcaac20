import { Failure } from '../../schemas/errors.js';
import { baseUrlOf } from '../config/variables.js';
import { onlyBase } from '../net/ask/bases.js';
import type { ChatClient } from './compat/client.js';
import type { Provider } from './contract.js';

/**
 * Speaks to any OpenAI-compatible host: `base_url` and, where the host wants one, `api_key`. `think` and `thinking_budget` are not sent,
 * because the API has no such members; what a host has instead goes into `extra_body`. A leading `<think>` block and the host's own
 * reasoning members come out as reasoning. Token counts are the host's, or 0 where it sends none.
 */
export function createCompatApi(client: ChatClient): Provider {
  return {
    async open(model, request, signal) {
      const base = baseUrlOf(model);
      if (base === undefined)
        throw new Failure(
          'bad_request',
          `Model '${model.name}' has the provider ${model.provider}, which needs base_url, such as https://host/v1: set it in project.yaml.`,
          { code: 'BaseUrlMissing' },
        );
      return client.open(model, request, { bases: onlyBase(base) }, signal);
    },
  };
}
