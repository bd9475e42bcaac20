import type { ModelConfig } from '../../../schemas/generated/config/project.js';
import { apiKeyOf } from '../../config/variables.js';
import type { Bases } from '../../net/ask/bases.js';
import { type SendSettings, sendChat } from '../../net/ask/chat.js';
import type { Outbound } from '../../net/outbound.js';
import type { Completion, CompletionRequest } from '../contract.js';
import { Answer } from './answer.js';
import { chatBody } from './body.js';
import { parsedCalls, promptedTools } from './prompted.js';

/** What an operator or a test may change. */
export interface ChatSettings extends SendSettings {
  readonly trailerMs?: number;
}

/** Where a completion is asked for, and what differs from a plain OpenAI-compatible host. */
export interface ChatPlace {
  readonly bases: Bases;
  /** Body members of this kind of host. */
  readonly added?: Record<string, unknown>;
  /** True when the host is our own runtime. */
  readonly ours?: boolean;
}

/** Speaks the chat API to hosts; every provider but the in-process one goes through here. */
export class ChatClient {
  constructor(
    readonly outbound: Outbound,
    readonly settings: ChatSettings = {},
  ) {}

  /** Sends the request and opens the completion; resolves with its first part at hand. Throws `Failure`, or the signal's reason. */
  async open(model: ModelConfig, request: CompletionRequest, place: ChatPlace, signal: AbortSignal): Promise<Completion> {
    const { request: sent, newParser } = promptedTools(model, request);
    const call = {
      bases: place.bases,
      body: chatBody(model, sent, place),
      name: model.name,
      model: model.model,
      apiKey: apiKeyOf(model),
      ours: place.ours ?? false,
    };
    const answer = new Answer(await sendChat(this.outbound, call, this.settings, signal), request.n, this.settings.trailerMs);
    await answer.prime();
    return {
      model: answer.model ?? model.model,
      get contextUsage() {
        return answer.contextUsage;
      },
      parts: newParser ? parsedCalls(answer.parts(), newParser) : answer.parts(),
    };
  }
}
