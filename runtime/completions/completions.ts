import { Failure } from '../../schemas/errors.js';
import type { Message } from '../../schemas/generated/common.js';
import { log } from '../base/log.js';
import type {
  GenerateEvent,
  GenerateRequest,
  LanguageModel,
  PrepareRequest,
  PromptTexts,
  RawPrompt,
} from '../engines/contracts/language.js';
import { templateFacts } from '../engines/language/templates/known-templates.js';
import { type AnswerCheck, type CompletionParts, checkedParts } from './answer-check.js';
import { type AnswerForm, answerForm, answerGrammar } from './answer-form.js';
import { type Allocation, allocate, completionRoom, contextFailure, contextUsage, UNTOUCHED } from './budget.js';
import { Collector } from './collect.js';
import type { Completion } from './contract.js';
import { type Fitted, fitPrompt } from './fit-context.js';
import { type PlainMessage, plainMessages } from './messages.js';
import type { NamedModels } from './modelfiles/named-models.js';
import { MAX_CHOICES, ModelHold, OpenedCompletion, openChoices, settleSoon } from './opened-completion.js';
import { OutputReader, WholeAnswer } from './output.js';
import type { AcquiredModel, ModelRequest, ModelSource, StateUse, UniversalRequest } from './request.js';
import { engineSampling, seedAfter } from './settings.js';
import { type ThinkingPlan, thinkingPlan, withSoftSwitch } from './thinking.js';
import { formatOf, INJECTED_FORMAT, type ToolFormat } from './tools/formats.js';
import { ToolCallParser } from './tools/parser.js';
import { offerTools, type ToolOffer } from './tools/tool-choice.js';
import { injectOffer, toolHistoryAsText } from './tools/tool-prompt.js';
import { strategyOf } from './truncation.js';

/** Puts text in the place of audio: no model here hears. */
export interface Hearing {
  /** `heard` is told what is said in the last message: all of it so far, with each stretch that is heard. */
  messages(messages: readonly Message[], signal: AbortSignal, heard?: UniversalRequest['heard']): Promise<Message[]>;
}

/** One request on its way to a prompt. */
interface Plan {
  request: UniversalRequest;
  model: LanguageModel;
  messages: PlainMessage[];
  /** What of the answer is written already; empty where it begins. */
  begunAnswer: string;
  form: AnswerForm;
  offer: ToolOffer;
  thinking: ThinkingPlan;
  allocation: Allocation;
}

type Wishes = Pick<Plan, 'offer' | 'form' | 'messages' | 'begunAnswer'>;

/** Completes chats on the language models of this machine: everything between a checked request and the engine. */
export class Completions {
  readonly #models: ModelSource;
  readonly #hearing: Hearing | undefined;
  readonly #named: Pick<NamedModels, 'applySettings'> | undefined;

  /** `named` are the models that clients made of others. */
  constructor(parts: { models: ModelSource; hearing?: Hearing; named?: Pick<NamedModels, 'applySettings'> }) {
    this.#models = parts.models;
    this.#hearing = parts.hearing;
    this.#named = parts.named;
  }

  hold(request: ModelRequest, signal: AbortSignal): Promise<AcquiredModel> {
    const { model, options, keepLoaded, stayMs, transformers } =
      this.#named?.applySettings({ messages: [], autoTruncate: true, ...request }) ?? request;
    const residency = { keepLoaded: keepLoaded ?? false, stayMs, ...(transformers ? { transformers } : {}) };
    return this.#models.acquire(model, options, signal, residency);
  }

  /**
   * Loads the model, builds a prompt that fits, and waits for the first step, so that all that can fail before the first token fails here.
   * Aborting the signal frees the sequences and gives the model back, read or not. Saved states are for choice 0: the others share its prompt.
   */
  async open(asked: UniversalRequest, signal: AbortSignal): Promise<Completion> {
    const request = this.#named?.applySettings(asked) ?? asked;
    const heard =
      this.#hearing && request.messages.some(hasAudio)
        ? await this.#hearing.messages(request.messages, signal, request.heard)
        : request.messages;
    return openChoices({ ...request, messages: heard }, signal, ({ states, ...one }, each, choice) =>
      this.#open(choice === 0 && states ? { ...one, states } : one, each),
    );
  }

  /** As its request would get it: nothing is left out of a history that is too long. */
  async render(asked: UniversalRequest, signal: AbortSignal): Promise<PromptTexts & { readonly contextSize: number }> {
    const request = this.#named?.applySettings(asked) ?? asked;
    const wishes = wishesOf(request);
    const acquired = await this.hold(request, signal);
    try {
      const plan = await this.#plan(request, wishes, acquired.model);
      const prompt = request.raw ? rawPrompt(request.raw) : renderer(plan, nativeFormat(plan) !== null)(plan.messages);
      return { ...(await plan.model.render(prompt, signal)), contextSize: plan.model.info.contextSize };
    } finally {
      acquired.release();
    }
  }

  async textsOf(request: ModelRequest, lists: readonly Int32Array[], signal: AbortSignal): Promise<string[]> {
    const { model, release } = await this.hold(request, signal);
    return model.textsOf(lists).finally(release);
  }

  async #plan(asked: UniversalRequest, wishes: Wishes, own: LanguageModel): Promise<Plan> {
    // What was to be thought comes before what is written.
    const request = wishes.begunAnswer === '' ? asked : { ...asked, think: false };
    const { chat_template: template } = request;
    const model = template === undefined ? own : withTemplate(own, await this.#models.chatTemplate(template));
    const { info } = model;
    return { request, model, ...wishes, thinking: thinkingPlan(info, request.think), allocation: allocate(info.contextSize, request) };
  }

  async #open(request: UniversalRequest, signal: AbortSignal): Promise<Completion> {
    const wishes = wishesOf(request);
    const { lora = [], transformers } = request;
    const adapters = lora.length === 0 ? [] : await this.#models.adapters(request.model, lora, transformers);
    const asked = performance.now();
    const acquired = await this.hold(request, signal);
    const loadMs = performance.now() - asked;
    const hold = new ModelHold(acquired, signal);
    try {
      hold.signal.throwIfAborted();
      const { model } = acquired;
      const plan = await this.#plan(request, wishes, adapters.length === 0 ? model : model.adapted!(adapters));
      await request.states?.before(plan.model);
      const prompt = await makePrompt(plan, hold.signal);
      const { check, parts } = await begun(plan, prompt, hold);
      const usage = contextUsage(plan.allocation, prompt.prepared.promptTokens, prompt.truncation);
      const again = async () => (await begun(plan, await makePrompt(plan, hold.signal), hold, true)).parts;
      const whole = request.stream !== true;
      return new OpenedCompletion(
        { model: request.model, contextUsage: usage, loadMs },
        hold,
        check ? checkedParts(parts, check, whole ? again : undefined) : parts,
      );
    } catch (error) {
      hold.end(error);
      throw error;
    }
  }
}

const hasAudio = ({ content }: Message): boolean => Array.isArray(content) && content.some(({ type }) => type === 'input_audio');

/** What of a request is known before its model is there. What cannot be used is refused before a model is loaded for it. */
function wishesOf(request: UniversalRequest): Wishes {
  const offer = offerTools(request.tools, request.tool_choice);
  const form = answerForm({ ...request.form, response_format: request.response_format });
  if (form.kind !== 'text' || offer.mode !== 'auto')
    answerGrammar({ offer, form, format: INJECTED_FORMAT, parallel: true, thinking: 'none' });
  const messages = plainMessages(request.messages);
  if (messages.length === 0 && !request.raw) throw new Failure('bad_request', 'messages is empty; send at least one message.');
  if (!goesOn(request, form, messages)) return { offer, form, messages, begunAnswer: '' };
  return { offer, form, messages: messages.slice(0, -1), begunAnswer: messages.at(-1)!.content };
}

/** Whether the answer of a request goes on in the last of its messages, which is not the only one; in an empty one it begins. */
function goesOn({ continue_final_message: isWanted, raw }: UniversalRequest, form: AnswerForm, messages: readonly PlainMessage[]): boolean {
  const last = messages.length > 1 ? messages.at(-1) : undefined;
  if (isWanted !== true || raw || last?.role !== 'assistant' || last.tool_calls?.length) return false;
  return form.kind === 'text' || last.content === '';
}

const rawPrompt = (raw: RawPrompt): PrepareRequest => ({ messages: [], addGenerationPrompt: false, raw });

function renderer(plan: Plan, native: boolean): (messages: PlainMessage[]) => PrepareRequest {
  const { offer, thinking, model, begunAnswer } = plan;
  const enable = {
    ...(thinking.enableThinking === undefined ? {} : { enableThinking: thinking.enableThinking }),
    ...(begunAnswer === '' ? {} : { begunAnswer }),
  };
  return (messages) => {
    const switched = withSoftSwitch(messages, thinking);
    if (native) return { messages: switched, tools: offer.tools, addGenerationPrompt: true, ...enable };
    // A history with tool roles is readable to templates that know tools, unless the tools of this request come as text.
    const asText = offer.tools.length > 0 || !model.info.template.tools;
    const history = asText ? toolHistoryAsText(switched) : switched;
    return { messages: injectOffer(history, offer), addGenerationPrompt: true, ...enable };
  };
}

/** The form in which the model's own template teaches the tools of a request; null where they go into the prompt as text. */
function nativeFormat({ offer, model, request }: Plan): ToolFormat | null {
  const { template } = model.info;
  return offer.tools.length > 0 && template.tools && !request.injectTools ? formatOf(template.text ?? '') : null;
}

/** A model whose conversations are written by another chat template; known ones go by their names. */
function withTemplate(model: LanguageModel, template: string): LanguageModel {
  return {
    info: { ...model.info, template: templateFacts(model.info.template.present ? model.info.template.text : '', template) },
    states: model.states,
    prepare: (request, signal) => model.prepare({ ...request, chatTemplate: template }, signal),
    render: (request, signal) => model.render({ ...request, chatTemplate: template }, signal),
    textsOf: (lists) => model.textsOf(lists),
    countTokens: (texts) => model.countTokens(texts),
    generate: (request, signal) => model.generate(request, signal),
  };
}

/** A prompt that fits, with the form in which its tools were taught. */
interface Prompt extends Fitted {
  format: ToolFormat;
}

async function makePrompt(plan: Plan, signal: AbortSignal): Promise<Prompt> {
  const { model, request, offer, messages, allocation } = plan;
  if (request.raw) {
    const prepared = await model.prepare(rawPrompt(request.raw), signal);
    if (prepared.promptTokens === 0)
      throw new Failure('bad_request', 'The prompt is empty, and this model begins with no token of its own; send a text.');
    return { prepared, truncation: UNTOUCHED, format: INJECTED_FORMAT };
  }
  const format = nativeFormat(plan);
  const native = format && (await nativePrompt(plan, format, signal));
  if (native) return native;
  const strategy = strategyOf(request.truncationStrategy, offer.tools.length > 0);
  const fit = { model, messages, allocation, strategy, render: renderer(plan, false), deterministic: request.deterministic };
  return { ...(await fitPrompt(fit, request.autoTruncate, signal)), format: INJECTED_FORMAT };
}

/** Failures that say nothing about the template, so that another rendering would not help. */
const NOT_THE_TEMPLATE: ReadonlySet<string> = new Set(['unavailable', 'busy', 'timed_out', 'too_many']);

/** The template's own tools where it has a form that we parse; null = as text. Such a prompt is never truncated. */
async function nativePrompt(plan: Plan, format: ToolFormat, signal: AbortSignal): Promise<Prompt | null> {
  const { model, allocation, request, messages } = plan;
  const fit = { model, messages, allocation, strategy: strategyOf(request.truncationStrategy, false), render: renderer(plan, true) };
  try {
    return { ...(await fitPrompt(fit, false, signal)), format };
  } catch (error) {
    signal.throwIfAborted();
    if (error instanceof Failure && (error.code === 'context_length_exceeded' || NOT_THE_TEMPLATE.has(error.kind))) throw error;
    log('warn', "the model's template could not render the tools; they go into the prompt as text", { error });
    return null;
  }
}

/** Begins a generation, and waits a while for its first step. */
async function begun(
  plan: Plan,
  prompt: Prompt,
  hold: ModelHold,
  again = false,
): Promise<{ check: AnswerCheck | undefined; parts: CompletionParts }> {
  const { generate, reader, check, whole } = generation(plan, prompt, again);
  const events = plan.model.generate(generate, hold.signal)[Symbol.asyncIterator]();
  const first = events.next();
  // Nobody may ever read them, when the client goes.
  first.catch(() => undefined);
  hold.signal.addEventListener('abort', () => void events.return?.().catch(() => undefined), { once: true });
  await settleSoon(first);
  return { check, parts: partsOfChoice(first, events, reader, hold, { model: plan.model, states: plan.request.states, whole }) };
}

/** What the engine is asked for, and how its output is read and checked. */
interface Generation {
  generate: GenerateRequest;
  reader: OutputReader;
  check: AnswerCheck | undefined;
  /** Closes an answer that runs out of tokens; absent where it has no form that can be closed. */
  whole: WholeAnswer | undefined;
}

/** Least temperature of an answer that is drawn again. */
const SECOND_TRY_TEMPERATURE = 0.8;

/** `again` = an answer did not fit its schema, and another is drawn: with the next seed, and not too cold to differ. */
function generation(plan: Plan, prompt: Prompt, again = false): Generation {
  const { request, allocation, offer, model, thinking, form } = plan;
  const { prepared, format } = prompt;
  const maxTokens = completionRoom(allocation, prepared.promptTokens);
  if (maxTokens < 1) {
    throw contextFailure(
      'context_length_exceeded',
      allocation,
      prepared.promptTokens,
      'No token is left for an answer; shorten the messages or raise n_ctx.',
    );
  }
  const parallel = request.parallel_tool_calls !== false;
  const mayThink =
    !request.raw &&
    plan.begunAnswer === '' &&
    (request.think === true || (thinking.enableThinking !== false && (model.info.template.text ?? '').includes('<think>')));
  const held = answerGrammar({
    offer,
    format,
    form,
    parallel,
    thinking: prepared.endsInThinking ? 'open' : mayThink ? 'possible' : 'none',
  });
  const { check, answer, ...grammar } = held ?? {};
  const sampling = engineSampling(request, model.info.sampling, held !== undefined && held.grammarStart === undefined);
  if (again)
    Object.assign(sampling, {
      // Behind those of the other choices.
      seed: seedAfter(sampling.seed ?? 0, MAX_CHOICES),
      temperature: Math.max(sampling.temperature ?? 0, SECOND_TRY_TEMPERATURE),
    });
  const generate: GenerateRequest = { ...sampling, promptId: prepared.promptId, maxTokens, startsInThinking: prepared.endsInThinking };
  Object.assign(generate, grammar);
  if (request.states?.remember !== undefined) generate.remember = request.states.remember;
  if (request.think === true)
    Object.assign(generate, { thinkingBudget: allocation.thinking, answerTokens: allocation.completion - allocation.thinking });
  const one = !parallel || offer.mode === 'named';
  const parser =
    offer.tools.length > 0 ? new ToolCallParser(format, { whole: request.stream !== true, ...(one ? { maxCalls: 1 } : {}) }) : undefined;
  const reader = new OutputReader({
    startsInThinking: prepared.endsInThinking,
    goesOn: plan.begunAnswer !== '',
    parser,
    topLogprobs: sampling.logprobs ? sampling.top_logprobs : undefined,
    promptTokens: prepared.promptTokens,
    plain: request.raw !== undefined,
  });
  const whole = answer === undefined ? undefined : new WholeAnswer(answer, maxTokens, (texts) => model.countTokens(texts));
  return { generate, reader, check, whole };
}

/** The parts of a generation whose first event was asked for already. */
async function* partsOfChoice(
  first: Promise<IteratorResult<GenerateEvent>>,
  events: AsyncIterator<GenerateEvent>,
  reader: OutputReader,
  hold: ModelHold,
  { model, states, whole }: { model: LanguageModel; states: StateUse | undefined; whole: WholeAnswer | undefined },
): CompletionParts {
  let last: GenerateEvent | undefined;
  const answer = states && new Collector();
  let used = 0;
  try {
    let step = await first;
    while (!step.done) {
      if (step.value.progress) yield { type: 'progress', ...step.value.progress };
      // A plain loop: `yield*` would await each part once more.
      const parts = reader.take(step.value);
      used += step.value.tokens;
      for (const part of parts) answer?.add(part);
      for (const part of whole?.take(parts, used) ?? parts) yield part;
      if (step.value.finish) last = step.value;
      if (reader.finished) break;
      step = await events.next();
    }
    hold.signal.throwIfAborted();
    if (!last && !reader.finished) throw new Failure('model_failed', 'The model stopped without finishing its answer; try again.');
    const parts = reader.finish(last);
    for (const part of parts) answer?.add(part);
    for (const part of (await whole?.end(parts)) ?? parts) yield part;
    if (answer) await states?.after(model, { ...answer.collected, reusedTokens: last?.counts?.reused ?? 0 });
  } finally {
    hold.end();
    await events.return?.().catch(() => undefined);
  }
}
