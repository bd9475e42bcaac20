import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { Completion, CompletionRequest } from '../completions/contract.js';

/** Speaks to something that completes chats: one per provider name of the project file. */
export interface Provider {
  /** Checks the request, reaches the model, and opens the completion. */
  open(model: ModelConfig, request: CompletionRequest, signal: AbortSignal): Promise<Completion>;
  /** Loads a model of this machine and keeps it loaded until the returned function is called; resolves to `undefined` for a model that is elsewhere. */
  hold?(model: ModelConfig, signal: AbortSignal): Promise<(() => void) | undefined>;
}
