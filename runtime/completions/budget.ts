import { Failure } from '../../schemas/errors.js';
import type { Completion, CompletionPart, ContextUsage } from './contract.js';

/** Is told how many tokens were read and written; several numbers add up. */
export type Spent = (tokens: number) => void;

/** A completion that tells at its end, be it whole or not, what it has cost. */
export function withSpentTokens(completion: Completion, spent: Spent): Completion {
  return {
    model: completion.model,
    // Other runtimes say it with the finish.
    get contextUsage() {
      return completion.contextUsage!;
    },
    ...(completion.loadMs === undefined ? {} : { loadMs: completion.loadMs }),
    parts: countParts(completion, spent),
  };
}

/** What the model has counted of each answer that it finished; of one that broke off the prompt, and a token for each part. */
async function* countParts(completion: Completion, spent: Spent): AsyncGenerator<CompletionPart, void, undefined> {
  let prompt = 0;
  let written = 0;
  const open = new Map<number, number>();
  try {
    for await (const part of completion.parts) {
      const { choice = 0 } = part;
      if (part.type === 'finish') {
        prompt = Math.max(prompt, part.usage.prompt_tokens);
        written += part.usage.completion_tokens;
        open.delete(choice);
      } else if (part.type !== 'event' && part.type !== 'progress') open.set(choice, (open.get(choice) ?? 0) + 1);
      yield part;
    }
  } finally {
    for (const parts of open.values()) written += parts;
    spent(Math.max(prompt, completion.contextUsage?.prompt_tokens ?? 0) + written);
  }
}

/** `max_tokens` of an answer that may go on until the context ends. */
export const UNTIL_CONTEXT_ENDS = -1;
/** Answer tokens when a request gives none. */
const DEFAULT_MAX_TOKENS = 512;
/** Thinking tokens when a request turns thinking on without a budget. */
const DEFAULT_THINKING_BUDGET = 1024;
/** Share of the context that stays free, against counting errors (4-runtime-wire 2.13). */
const SAFETY_SHARE = 0.05;
/** Largest share of the context that a default (as against an asked-for length) may reserve. */
const DEFAULT_SHARE = 0.25;
/** Share of the context that prompts always have, however long an answer is asked for. */
const PROMPT_SHARE = 0.25;

/** What a request may generate. */
interface TokenRequest {
  max_tokens?: number | undefined;
  think?: boolean | undefined;
  thinking_budget?: number | undefined;
}

/** How a context is shared out, in tokens. */
export interface Allocation {
  context: number;
  /** Answer and thinking together. */
  completion: number;
  thinking: number;
  safety: number;
  /** The longest prompt that leaves room for the completion. */
  maxPrompt: number;
}

/** Shares out a context of `context` tokens. Defaults shrink in small contexts, so that a prompt always has room. */
export function allocate(context: number, request: TokenRequest): Allocation {
  if (!Number.isInteger(context) || context < 1) {
    throw new Failure(
      'bad_request',
      `The context size of the model is not known (${context}), so the prompt cannot be checked; set n_ctx.`,
      {
        code: 'context_validation_unavailable',
        fields: { context_usage: { total_context: 0, prompt_tokens: 0, available_for_completion: 0 } },
      },
    );
  }
  const share = Math.max(1, Math.floor(context * DEFAULT_SHARE));
  const isOpen = request.max_tokens === UNTIL_CONTEXT_ENDS;
  const answer = (isOpen ? undefined : request.max_tokens) ?? Math.min(DEFAULT_MAX_TOKENS, share);
  const thinking = request.think ? (request.thinking_budget ?? Math.min(DEFAULT_THINKING_BUDGET, share)) : 0;
  const safety = Math.floor(context * SAFETY_SHARE);
  const completion = isOpen ? context : answer + thinking;
  const maxPrompt = Math.max(context - answer - thinking - safety, Math.floor(context * PROMPT_SHARE), 1);
  return { context, completion, thinking, safety, maxPrompt };
}

/** Tokens that may be generated after a prompt of `promptTokens`; 0 when nothing is left. */
export function completionRoom(allocation: Allocation, promptTokens: number): number {
  return Math.max(0, Math.min(allocation.completion, allocation.context - promptTokens));
}

/** What was done to a history. */
export interface Truncation {
  truncated: boolean;
  truncatedMessages: number;
  strategyUsed: string | null;
}

/** A history that fitted as it was. */
export const UNTOUCHED: Truncation = { truncated: false, truncatedMessages: 0, strategyUsed: null };

/** The `x_context_usage` of an answer. */
export function contextUsage(allocation: Allocation, promptTokens: number, truncation: Truncation): ContextUsage {
  return {
    total_context: allocation.context,
    prompt_tokens: promptTokens,
    available_for_completion: Math.max(0, allocation.context - promptTokens - allocation.safety),
    truncated: truncation.truncated,
    truncated_messages: truncation.truncatedMessages,
    strategy_used: truncation.strategyUsed,
  };
}

/** A failure about the context, with the numbers as `context_usage`; `isLeast` = the prompt may have more tokens. */
export function contextFailure(
  code: 'context_length_exceeded' | 'context_truncation_failed',
  allocation: Allocation,
  promptTokens: number,
  why: string,
  isLeast = false,
): Failure {
  const usage = {
    total_context: allocation.context,
    prompt_tokens: promptTokens,
    available_for_completion: Math.max(0, allocation.context - promptTokens - allocation.safety),
  };
  const limit = `The prompt has ${isLeast ? 'at least ' : ''}${promptTokens} tokens; the context of ${allocation.context} holds ${allocation.maxPrompt} beside an answer of up to ${allocation.completion}.`;
  return new Failure('bad_request', `${limit} ${why}`, { code, fields: { context_usage: usage } });
}
