import { log } from '../base/log.js';
import type { LanguageModel, PreparedPrompt, PrepareRequest } from '../engines/contracts/language.js';
import { type Allocation, contextFailure, type Truncation, UNTOUCHED } from './budget.js';
import { type PlainMessage, plainMessages } from './messages.js';
import { compressHistory, summarisable, summarise, withSummary } from './shorten-history.js';
import {
  type CountedMessage,
  cutContents,
  dropMessages,
  halveLargest,
  leastTokens,
  MESSAGE_OVERHEAD,
  type TruncationStrategy,
  totalTokens,
  withinReach,
} from './truncation.js';

/** Rounds of dropping and cutting, each with the error of the one before, and of halving after that. */
const MAX_ROUNDS = 4;
const MAX_HALVINGS = 12;
/** Of the definitions of tools, what a template writes at least. */
const WRITTEN_SHARE = 0.25;
const TOOLS_TOO_LONG = 'The tools alone are too long; send fewer of them, shorten their descriptions and parameters, or raise n_ctx.';

/** A history and where it must fit. */
interface FitRequest {
  model: LanguageModel;
  messages: readonly PlainMessage[];
  allocation: Allocation;
  strategy: TruncationStrategy;
  /** Everything that is added to the messages, tools among them. */
  render(messages: PlainMessage[]): PrepareRequest;
  /** As of the request: a summary must not change between two of the same. */
  deterministic?: boolean | undefined;
}

/** A prompt that fits. */
export interface Fitted {
  prepared: PreparedPrompt;
  truncation: Truncation;
}

/** Prepares a prompt and, where it does not fit and `autoTruncate` allows it, shortens the history. */
export async function fitPrompt(request: FitRequest, autoTruncate: boolean, signal: AbortSignal): Promise<Fitted> {
  const { model, messages, allocation } = request;
  const added = leastTemplateTokens(request);
  if (added > allocation.maxPrompt) throw contextFailure('context_length_exceeded', allocation, added, TOOLS_TOO_LONG, true);
  let tokens = leastTokens(messages, model.info);
  const isLeast = tokens > allocation.maxPrompt;
  if (!isLeast) {
    const prepared = await model.prepare(request.render([...messages]), signal);
    if (prepared.promptTokens <= allocation.maxPrompt) return { prepared, truncation: UNTOUCHED };
    tokens = prepared.promptTokens;
  }
  if (autoTruncate) return shortenToFit(request, tokens, signal);
  throw contextFailure('context_length_exceeded', allocation, tokens, 'Shorten the messages, lower max_tokens, or raise n_ctx.', isLeast);
}

/** Fewest tokens of what is added to every history, which nothing shortens. */
function leastTemplateTokens({ model, render }: FitRequest): number {
  const { messages, tools } = render([]);
  const { longestToken } = model.info;
  const ofTools = longestToken === undefined || !tools?.length ? 0 : (JSON.stringify(tools).length * WRITTEN_SHARE) / longestToken;
  return leastTokens(plainMessages(messages), model.info) + Math.floor(ofTools);
}

/**
 * Makes an oversized history fit: compression, then the strategy, then shorter contents. `tokens` are those of the prompt, or fewer. Throws
 * `Failure` with code `context_truncation_failed` when nothing helps. The messages given stay as they are.
 */
async function shortenToFit(request: FitRequest, tokens: number, signal: AbortSignal): Promise<Fitted> {
  const shortening = new Shortening(request, request.messages.length, signal);
  const reached = withinReach(request.messages, request.allocation.maxPrompt, request.strategy);
  const compressed = compressHistory(reached);
  const prepared = await shortening.prepare(compressed);
  if (shortening.fits(prepared)) return shortening.result(prepared, compressed.length, 'compression');
  return shortening.run(compressed, Math.min(prepared.promptTokens, tokens));
}

/** One history on its way to fitting. */
class Shortening {
  #strategyUsed: string;
  #cut = 0;

  constructor(
    readonly request: FitRequest,
    readonly original: number,
    readonly signal: AbortSignal,
  ) {
    this.#strategyUsed = request.strategy === 'summarize' ? 'summarize+keep_system' : request.strategy;
  }

  prepare(messages: PlainMessage[]): Promise<PreparedPrompt> {
    return this.request.model.prepare(this.request.render(messages), this.signal);
  }

  fits(prepared: PreparedPrompt): boolean {
    return prepared.promptTokens <= this.request.allocation.maxPrompt;
  }

  result(prepared: PreparedPrompt, kept: number, strategyUsed = this.#strategyUsed): Fitted {
    return { prepared, truncation: { truncated: true, truncatedMessages: Math.max(0, this.original - kept) + this.#cut, strategyUsed } };
  }

  async run(compressed: PlainMessage[], tokens: number): Promise<Fitted> {
    let messages = compressed;
    let promptTokens = tokens;
    if (this.request.strategy === 'summarize') {
      const shorter = await summariseOld(this.request, messages, this.signal);
      if (shorter) {
        messages = shorter;
        const prepared = await this.prepare(messages);
        if (this.fits(prepared)) return this.result(prepared, messages.length, 'summarize');
        promptTokens = prepared.promptTokens;
      }
    }
    const prices = await countMessages(this.request.model, messages);
    // What the template, its marks and the tools cost beside the contents.
    let limit = this.request.allocation.maxPrompt - Math.max(0, promptTokens - totalTokens(prices));
    let kept = prices;
    for (let round = 0; round < MAX_ROUNDS; round += 1) {
      kept = dropMessages(prices, limit, this.request.strategy);
      const whole = kept;
      kept = cutContents(kept, limit);
      this.#cut = kept.filter((entry, index) => entry !== whole[index]).length;
      const prepared = await this.prepare(kept.map((entry) => entry.message));
      if (this.fits(prepared)) return this.result(prepared, kept.length);
      promptTokens = prepared.promptTokens;
      limit -= promptTokens - this.request.allocation.maxPrompt;
      if (limit <= 0) break;
    }
    return this.#halve(kept, promptTokens);
  }

  async #halve(messages: CountedMessage[], tokens: number): Promise<Fitted> {
    let kept: CountedMessage[] | null = messages;
    let promptTokens = tokens;
    for (let round = 0; round < MAX_HALVINGS; round += 1) {
      kept = halveLargest(kept);
      if (!kept) break;
      const prepared = await this.prepare(kept.map((entry) => entry.message));
      promptTokens = prepared.promptTokens;
      if (this.fits(prepared)) {
        this.#cut = Math.max(1, this.#cut);
        return this.result(prepared, kept.length);
      }
    }
    throw contextFailure(
      'context_truncation_failed',
      this.request.allocation,
      promptTokens,
      'It is still too long after everything that may be shortened; raise n_ctx or send less.',
    );
  }
}

async function summariseOld(request: FitRequest, messages: PlainMessage[], signal: AbortSignal): Promise<PlainMessage[] | null> {
  const old = summarisable(messages);
  if (old.length === 0) return null;
  try {
    const summary = await summarise(request.model, old, signal, request.deterministic);
    return summary === null ? null : withSummary(messages, old, summary);
  } catch (error) {
    signal.throwIfAborted();
    log('warn', 'the older part of a conversation could not be summarised; it is dropped instead', { error });
    return null;
  }
}

/** Token prices of messages, in one round trip. */
async function countMessages(model: LanguageModel, messages: readonly PlainMessage[]): Promise<CountedMessage[]> {
  const tokens = await model.countTokens(
    messages.map((message) => message.content + (message.tool_calls?.length ? JSON.stringify(message.tool_calls) : '')),
  );
  return messages.map((message, index) => ({ message, tokens: (tokens[index] ?? 0) + MESSAGE_OVERHEAD }));
}
