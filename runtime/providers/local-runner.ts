import type { CompletionRequest } from '../completions/contract.js';
import { openChoices } from '../completions/opened-completion.js';
import { baseUrlOf } from '../config/variables.js';
import { onlyBase } from '../net/ask/bases.js';
import type { ChatClient } from './compat/client.js';
import type { Provider } from './contract.js';

/** Where a local runner listens unless the model says otherwise. */
const LOCAL_RUNNER_URL = 'http://localhost:11434/v1';

/** Thinking tokens up to which the runner's low and medium effort are asked for; it takes no number. */
const LOW_EFFORT_TOKENS = 512;
const MEDIUM_EFFORT_TOKENS = 4096;

/** `think` as the runner's `reasoning_effort`; absent leaves it to the model. */
function effort({ think, thinking_budget: budget }: CompletionRequest): Record<string, unknown> {
  if (think === undefined) return {};
  if (!think) return { reasoning_effort: 'none' };
  if (budget === undefined) return { reasoning_effort: 'medium' };
  return { reasoning_effort: budget <= LOW_EFFORT_TOKENS ? 'low' : budget <= MEDIUM_EFFORT_TOKENS ? 'medium' : 'high' };
}

/** Speaks to a local runner's OpenAI-compatible API; no key is needed, and one that is given is sent. */
export function createLocalRunner(client: ChatClient): Provider {
  return {
    async open(model, request, signal) {
      const base = baseUrlOf(model) ?? LOCAL_RUNNER_URL;
      const place = { bases: onlyBase(base), added: effort(request) };
      // Local runners make one answer, whatever `n` says.
      return openChoices(request, signal, (one, each) => client.open(model, one, place, each));
    },
  };
}
