import type { Outbound } from '../../net/outbound.js';
import type { Completion } from '../contract.js';
import { Answer } from './answer.js';
import { type ChatCall, sendChat } from './exchange.js';
import type { ChatSettings } from './limits.js';

/** Sends a chat request and opens the completion; resolves with its first part at hand. Everything that speaks the chat API goes through here. */
export async function openChat(outbound: Outbound, call: ChatCall, settings: ChatSettings, signal: AbortSignal): Promise<Completion> {
  const answer = new Answer(await sendChat(outbound, call, settings, signal), settings.trailerMs);
  await answer.prime();
  return {
    model: answer.model ?? call.model,
    get contextUsage() {
      return answer.contextUsage;
    },
    parts: answer.parts(),
  };
}
