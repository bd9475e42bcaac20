import type { ModelConfig } from '../../schemas/generated/config/project.js';
import type { Completion, CompletionRequest } from '../completions/contract.js';
import type { Bases } from '../net/ask/bases.js';
import { universalMembers } from '../providers/compat/body.js';
import type { ChatClient } from '../providers/compat/client.js';
import type { Provider } from '../providers/contract.js';

/** Completes chats of projects on universal runtimes, in turn, and on the next where one does not answer. */
export class RemoteCompletions implements Provider {
  constructor(
    readonly client: ChatClient,
    readonly bases: Bases,
  ) {}

  open(model: ModelConfig, request: CompletionRequest, signal: AbortSignal): Promise<Completion> {
    return this.client.open(model, request, { bases: this.bases, added: universalMembers(model, request), ours: true }, signal);
  }
}
