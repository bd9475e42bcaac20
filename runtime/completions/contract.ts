import type { Message, Tool, ToolChoice, Usage } from '../../schemas/generated/common.js';
import type { Sampling } from '../engines/contracts/language.js';

/** One completion asked of a provider or of the runtime. */
export interface CompletionRequest extends Sampling {
  /** Full history with the system message first; the provider adds nothing but what its model's template adds. */
  messages: Message[];
  tools?: Tool[];
  tool_choice?: ToolChoice;
  parallel_tool_calls?: boolean;
  response_format?: Record<string, unknown>;
  /** Reasoning on (true), off (false) or left to the model (absent). */
  think?: boolean;
  /** Most thinking tokens when `think` is true; 1024 when absent. */
  thinking_budget?: number;
  /** Context size for this request; a different value loads the model a second time. */
  n_ctx?: number;
  user?: string;
  /** True = where the last message is one of the assistant, the answer goes on in it; providers of other hosts leave that to the host. */
  continue_final_message?: boolean;
  /** Answers that are made side by side, 2 to 8; absent = one. */
  n?: number;
  /** True when the answer is shown as it comes; otherwise parts may come coarser, such as tool calls only when they are complete. */
  stream?: boolean;
  /** Provider-specific parameters (`extra_body` of the model, then of the request). */
  extra?: Record<string, unknown>;
}

/** One token's probability, as the chat format has it. */
export interface TokenLogprob {
  token: string;
  logprob: number;
  bytes: number[] | null;
  top_logprobs: { token: string; logprob: number; bytes: number[] | null }[];
}

/** Why a completion ended. */
export type FinishReason = 'stop' | 'length' | 'tool_calls' | 'content_filter';

/** How full the context was. */
export interface ContextUsage {
  total_context: number;
  prompt_tokens: number;
  available_for_completion: number;
  truncated: boolean;
  truncated_messages: number;
  strategy_used: string | null;
}

/**
 * One piece of a completion, in order. Exactly one `finish` comes per choice, the last of it; the pieces of several choices come between one another.
 */
export type CompletionPart = PartOfChoice & {
  /** Which answer it belongs to, where several were asked for; absent = 0. */
  choice?: number;
};

type PartOfChoice =
  | { type: 'text'; text: string; logprobs?: TokenLogprob[] }
  | { type: 'reasoning'; text: string }
  /** Comes before the others, now and then while a long prompt is read: tokens of it that are read, and all of them. Not a part of the answer. */
  | { type: 'progress'; read: number; of: number }
  /** `id` and `name` come in the first part of an index, `arguments` grows over the parts. */
  | { type: 'tool_call'; index: number; id?: string; name?: string; arguments?: string }
  /** Something that happened beside the answer, such as a call of a server's tool. Not a part of the answer. */
  | { type: 'event'; name: string; data: Readonly<Record<string, unknown>> }
  /**
   * `usage` counts this choice, with the whole prompt, unless the provider knows the counts of all only: then the first choice has them, and the
   * others have 0. `schemaNotes`: what of a schema was not held while the answer was written, or is broken by it. `beside`: further members
   * of the answer, which only this server writes.
   */
  | {
      type: 'finish';
      reason: FinishReason;
      usage: Usage;
      thinkingTokens?: number;
      /** The stop text that ended the answer, where one did. */
      stopText?: string;
      schemaNotes?: readonly string[];
      beside?: Readonly<Record<string, unknown>>;
    };

/** An accepted completion: everything that can fail before the first token has been checked when this exists. */
export interface Completion {
  /** The model as the provider names it. */
  readonly model: string;
  readonly contextUsage?: ContextUsage;
  /** What the loading of the model took; 0 where it was in memory. Absent where the model is elsewhere. */
  readonly loadMs?: number;
  /** Consumed once. Leaving the loop early, or aborting the signal, frees the sequence within one decode step. Failures are thrown as `Failure`. */
  readonly parts: AsyncIterable<CompletionPart>;
}

/** Tokens of a prompt that were read before, and taken from memory. */
export const cachedTokens = ({ prompt_tokens_details: details }: Usage): number => details?.cached_tokens ?? 0;

/** The same as a member of the usage; none where there are none. */
export const cachedDetails = (tokens: number): Pick<Usage, 'prompt_tokens_details'> =>
  tokens > 0 ? { prompt_tokens_details: { cached_tokens: tokens } } : {};

/** A tool call of an answer. */
export interface CollectedToolCall {
  id: string;
  readonly type: 'function';
  /** The arguments are JSON text, as the model wrote it. */
  readonly function: { name: string; arguments: string };
}

/** A completion collected into one piece. */
export interface CollectedCompletion {
  text: string;
  reasoning: string;
  toolCalls: CollectedToolCall[];
  logprobs: TokenLogprob[];
  finishReason: FinishReason;
  usage: Usage;
  thinkingTokens?: number;
  stopText?: string;
  schemaNotes?: readonly string[];
  beside?: Readonly<Record<string, unknown>>;
}
