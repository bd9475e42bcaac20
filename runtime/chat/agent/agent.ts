import { randomUUID } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import type { Message, Usage } from '../../../schemas/generated/common.js';
import { isObject } from '../../base/json.js';
import { Collector } from '../../completions/collect.js';
import {
  type Completion,
  type CompletionPart,
  type ContextUsage,
  cachedDetails,
  cachedTokens,
  type FinishReason,
} from '../../completions/contract.js';
import { parsedCalls, ToolCallParser } from '../../completions/tools/parser.js';
import type { Toolbox } from '../../mcp/contract.js';
import { aboutOf, makeCalls } from './calls.js';
import { type CallAbout, type CallRecord, cutText, type MadeCall, type ModelCall } from './tool-call.js';
import type { ToolFields, TurnTools } from './turn-tools.js';
import type { Consent, Decision, WaitingCall } from './waiting.js';

/** Model calls of one turn where the model's entry in the project says nothing. */
export const MODEL_CALLS = 10;
/** Said in place of an answer by a model that calls tools to the end. */
export const TOO_MANY_CALLS = 'Sorry, I did not come to an answer: this needed more tool calls than one turn may have.';

/** Failures of a prompt that its model has no room for. */
const TOO_LONG: ReadonlySet<string> = new Set(['context_length_exceeded', 'context_truncation_failed']);

/** Characters of one result, whatever the context; and where the context is not known. */
const MOST_CHARACTERS = 64 * 1024;
const USUAL_CHARACTERS = 32 * 1024;
/** Results are not shortened below this to make room. */
const LEAST_CHARACTERS = 256;

/** An answer of the model that called tools of servers, and what these gave. */
interface Round {
  readonly text: string;
  readonly calls: readonly ModelCall[];
  /** Whether the same answer called tools of the client. */
  readonly endsTurn: boolean;
  readonly made: MadeCall[];
}

/** All that a turn with tools is after some model calls; survives a restart as JSON. */
export interface AgentState {
  /** What the model was given first. */
  readonly opening: readonly Message[];
  readonly rounds: Round[];
  /** All that was said so far. */
  text: string;
  modelCalls: number;
  usage: Usage;
  thinkingTokens: number;
}

/** Lets a turn wait for a person without its client. */
interface Pauses {
  /** Whether the turn is small enough to be kept. */
  canPause(state: AgentState): boolean;
  named(calls: readonly CallAbout[]): WaitingCall[];
}

/** What a turn with tools is made of. */
export interface AgentParts {
  readonly toolbox: Toolbox;
  readonly tools: TurnTools;
  /** Model calls of the turn. */
  readonly most: number;
  readonly signal: AbortSignal;
  readonly sessionId: string | undefined;
  /** What is written of the answer, in which the first model call goes on; empty where it begins. It is the last message of the opening. */
  readonly begun: string;
  readonly consent: Consent;
  /** The answer is JSON or the like, so that what is said beside calls is no part of it. */
  readonly isFormed: boolean;
  /** Where the client waits for a body: it gets one that tells what waits for a person. */
  readonly pauses: Pauses | undefined;
  readonly record: CallRecord | undefined;
  open(messages: readonly Message[], fields: ToolFields): Promise<Completion>;
}

type Finish = Extract<CompletionPart, { type: 'finish' }>;

/** Whether a model has no room for what it was asked. */
export function isTooLong(failure: unknown): boolean {
  return failure instanceof Failure && TOO_LONG.has(failure.code);
}

/** What a turn begins with. */
export function newState(opening: readonly Message[]): AgentState {
  return {
    opening,
    rounds: [],
    text: '',
    modelCalls: 0,
    usage: { prompt_tokens: 0, completion_tokens: 0, total_tokens: 0 },
    thinkingTokens: 0,
  };
}

/** A turn whose model may call tools of servers: as many model calls as it takes, as one completion. */
export class Agent implements Pick<Completion, 'parts' | 'contextUsage'> {
  readonly parts: AsyncIterable<CompletionPart>;
  /** What the turn waits for, once its parts have ended before it has. */
  waiting: readonly WaitingCall[] = [];
  readonly #parts: AgentParts;
  readonly #state: AgentState;
  readonly #decided: Readonly<Record<string, Decision>>;
  readonly #first: Completion | undefined;
  #completion: Completion | undefined;
  #note: string | undefined;

  /** `first` is the opened answer to `state.opening`; without it the turn goes on with what was `decided` of its calls. */
  constructor(parts: AgentParts, state: AgentState, first: Completion | undefined, decided: Readonly<Record<string, Decision>> = {}) {
    this.#parts = parts;
    this.#state = state;
    this.#first = first;
    this.#completion = first;
    this.#decided = decided;
    const source = this.#turn();
    let begun = false;
    const iterator: AsyncIterator<CompletionPart, void, undefined> = {
      next: () => {
        begun = true;
        return source.next();
      },
      return: async () => {
        // A generator that never started has no `finally` to run.
        if (!begun) await first?.parts[Symbol.asyncIterator]().return?.();
        await source.return();
        return { done: true, value: undefined };
      },
    };
    this.parts = { [Symbol.asyncIterator]: () => iterator };
  }

  get contextUsage(): ContextUsage {
    return this.#completion?.contextUsage as ContextUsage;
  }

  /** What it goes on with after a pause. */
  get state(): AgentState {
    return this.#state;
  }

  /** The calls of servers' tools that have a result, and these, for the history; what was said beside them is part of the answer. */
  get messages(): Message[] {
    return this.#state.rounds.filter(({ made }) => made.length > 0).flatMap((round) => messagesOf(round, null));
  }

  /** All calls that were made. */
  get made(): MadeCall[] {
    return this.#state.rounds.flatMap((round) => round.made);
  }

  /** What is missing of the tools, and what went wrong, for people. */
  get notes(): string[] {
    return [...this.#parts.tools.notes, ...(this.#note === undefined ? [] : [this.#note])];
  }

  async *#turn(): AsyncGenerator<CompletionPart, void, undefined> {
    const { rounds, text } = this.#state;
    let finish: Finish | undefined;
    if (!this.#first && text !== '') yield { type: 'text', text };
    for (let completion = this.#first; ; ) {
      if (completion) {
        finish = yield* this.#read(completion);
        if (finish) break;
      }
      const round = rounds.at(-1)!;
      yield* this.#call(round);
      if (this.waiting.length > 0) {
        finish = yield* this.#paused();
        break;
      }
      if (round.endsTurn) {
        finish = this.#finish('tool_calls');
        break;
      }
      completion = await this.#next();
      this.#completion = completion;
    }
    yield finish;
  }

  /** Passes an answer on; resolves to the end of the turn, or to nothing where the answer called tools of servers. */
  async *#read({ parts }: Completion): AsyncGenerator<CompletionPart, Finish | undefined, undefined> {
    const state = this.#state;
    const { tools, most, begun } = this.#parts;
    // An answer that goes on has no break before its next word.
    const said = state.modelCalls === 0 ? '' : begun + state.text;
    state.modelCalls += 1;
    const collector = new Collector();
    const clientIndex = new Map<number, number>();
    let isNew = said.trim() !== '';
    let finish: Finish | undefined;
    const held: CompletionPart[] = [];
    // Without tools some models still write calls, which nobody should read.
    const read = state.modelCalls >= most ? parsedCalls(parts, () => new ToolCallParser()) : parts;
    for await (const part of read) {
      collector.add(part);
      if (part.type === 'finish') finish = part;
      else if (part.type === 'text' && this.#parts.isFormed) held.push(part);
      else if (part.type === 'tool_call') {
        if (part.name !== undefined && tools.isOfClient(part.name)) clientIndex.set(part.index, clientIndex.size);
        const index = clientIndex.get(part.index);
        if (index !== undefined) yield { ...part, index };
      } else if (part.type === 'text' && isNew && part.text.trim() !== '') {
        isNew = false;
        state.text += `\n\n${part.text}`;
        yield { type: 'text', text: '\n\n' };
        yield part;
      } else {
        if (part.type === 'text') state.text += part.text;
        yield part;
      }
    }
    if (!finish) throw new Failure('model_failed', 'The model broke off its answer without finishing it. Try again.');
    const { collected } = collector;
    this.#count(collected.usage, collected.thinkingTokens);
    const calls = collected.toolCalls.filter((call, index) => call !== undefined && !clientIndex.has(index));
    const isWhole = finish.reason === 'tool_calls' || finish.reason === 'stop';
    if (calls.length === 0 || !isWhole) {
      yield* held;
      return this.#finish(finish.reason, finish);
    }
    if (state.modelCalls >= most) {
      yield* held;
      return yield* this.#atLimit(collected.text, clientIndex.size > 0);
    }
    const taken = state.rounds.flatMap((round) => round.calls.map((call) => call.id));
    state.rounds.push({ text: collected.text, calls: withIds(calls, taken), endsTurn: clientIndex.size > 0, made: [] });
    return undefined;
  }

  async *#atLimit(said: string, endsTurn: boolean): AsyncGenerator<CompletionPart, Finish, undefined> {
    const { most } = this.#parts;
    this.#note = `The turn ended at its limit of ${most} model calls, with calls of tools that were not made. max_model_calls of the model sets the limit.`;
    if (endsTurn) return this.#finish('tool_calls');
    if (said.trim() === '') yield { type: 'text', text: `${this.#state.text.trim() === '' ? '' : '\n\n'}${TOO_MANY_CALLS}` };
    return this.#finish('stop');
  }

  /** Makes the calls of a round that have not been made. */
  async *#call(round: Round): AsyncGenerator<CompletionPart, void, undefined> {
    const { pauses, tools } = this.#parts;
    const isMade = (call: ModelCall): boolean => round.made.some((made) => made.tool_call_id === call.id);
    const asks = (call: ModelCall): boolean =>
      tools.ofServers.get(call.function.name)?.ask === true && !Object.hasOwn(this.#decided, call.id);
    const open = round.calls.filter((call) => !isMade(call));
    const asked = pauses ? open.filter(asks) : [];
    const canPause = pauses?.canPause(this.#state) ?? false;
    const decided: Record<string, Decision> = { ...this.#decided };
    if (!canPause) for (const call of asked) decided[call.id] = 'late';
    const now = canPause ? open.filter((call) => !asked.includes(call)) : open;
    yield* makeCalls(now, { ...this.#parts, maxCharacters: this.#room(), decided, made: (one) => round.made.push(one) });
    const order = new Map(round.calls.map((call, index) => [call.id, index]));
    round.made.sort((a, b) => order.get(a.tool_call_id)! - order.get(b.tool_call_id)!);
    if (canPause && asked.length > 0) {
      this.waiting = pauses!.named(asked.map((call) => aboutOf(call, tools.ofServers.get(call.function.name))));
    }
  }

  async *#paused(): AsyncGenerator<CompletionPart, Finish, undefined> {
    const names = this.waiting.map(({ tool, server }) => `${tool} of ${server}`).join(', ');
    const text = `This answer waits until somebody allows or denies ${this.waiting.length === 1 ? 'a call of a tool' : 'calls of tools'}: ${names}.`;
    yield { type: 'text', text: `${this.#state.text.trim() === '' ? '' : '\n\n'}${text}` };
    return this.#finish('stop');
  }

  /** Asks the model again; where its context has no room for the results, with shorter ones. */
  async #next(): Promise<Completion> {
    const { open, tools, most } = this.#parts;
    const isLast = this.#state.modelCalls + 1 >= most;
    for (let room = Number.POSITIVE_INFINITY; ; room = Math.floor(Math.min(room, this.#room()) / 2)) {
      try {
        return await open(this.#given(room, isLast), tools.fields(isLast ? 'last' : 'later'));
      } catch (failure) {
        if (room <= LEAST_CHARACTERS || !isTooLong(failure)) throw failure;
      }
    }
  }

  #given(room: number, isLast: boolean): Message[] {
    const { opening, rounds } = this.#state;
    const { begun } = this.#parts;
    const said = rounds.flatMap((round, at) => messagesOf(round, at === 0 ? begun + round.text : round.text));
    const messages = said.map((one) => (one.role === 'tool' ? { ...one, content: cutText(one.content as string, room) } : one));
    if (isLast) {
      const last = messages.at(-1)!;
      const hint = 'This turn makes no more calls of these tools. Answer now with what you have.';
      messages[messages.length - 1] = { ...last, content: `${last.content as string}\n\n[${hint}]` };
    }
    return [...(begun === '' ? opening : opening.slice(0, -1)), ...messages];
  }

  /** Characters of one result: about a quarter of the model's context, where that is known. */
  #room(): number {
    const context = this.contextUsage?.total_context;
    return context === undefined ? USUAL_CHARACTERS : Math.max(LEAST_CHARACTERS, Math.min(MOST_CHARACTERS, context));
  }

  #count(usage: Usage, thinkingTokens = 0): void {
    const { usage: sum } = this.#state;
    sum.prompt_tokens += usage.prompt_tokens;
    sum.completion_tokens += usage.completion_tokens;
    sum.total_tokens += usage.total_tokens;
    Object.assign(sum, cachedDetails(cachedTokens(sum) + cachedTokens(usage)));
    this.#state.thinkingTokens += thinkingTokens || (usage.completion_tokens_details?.reasoning_tokens ?? 0);
  }

  /** The end of the turn, with the counts of all its model calls. */
  #finish(reason: FinishReason, last?: Finish): Finish {
    const { usage, thinkingTokens } = this.#state;
    return {
      type: 'finish',
      reason,
      usage: { ...usage },
      ...(thinkingTokens > 0 ? { thinkingTokens } : {}),
      ...(last?.schemaNotes ? { schemaNotes: last.schemaNotes } : {}),
    };
  }
}

/** Calls whose ids differ from each other and from those `taken`: hosts may count them anew in each answer. */
function withIds(calls: readonly ModelCall[], taken: readonly string[]): ModelCall[] {
  const known = new Set(taken);
  return calls.map((call) => {
    const id = call.id === '' || known.has(call.id) ? `call_${randomUUID()}` : call.id;
    known.add(id);
    return { ...call, id };
  });
}

function messagesOf({ calls, made }: Round, text: string | null): Message[] {
  const answered = calls.filter((call) => made.some((one) => one.tool_call_id === call.id));
  const whole = answered.map((call) => ({ ...call, function: { ...call.function, arguments: objectText(call.function.arguments) } }));
  const results = made.map(({ tool_call_id, result }): Message => ({ role: 'tool', tool_call_id, content: result }));
  return [{ role: 'assistant', content: text?.trim() ? text : null, tool_calls: whole }, ...results];
}

/** Arguments that are no JSON object would fail every later request that repeats them. */
function objectText(text: string): string {
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? text : '{}';
  } catch {
    return '{}';
  }
}
