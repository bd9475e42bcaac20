import { randomInt } from 'node:crypto';
import { readFileSync } from 'node:fs';
import {
  FINISH_ABORTED,
  FINISH_FAILED,
  FINISH_LENGTH,
  FINISH_NONE,
  type NativeGenerateOptions,
  type NativeScheduler,
  type NativeSchedulerOptions,
  STEP_FIELDS,
} from '../../../../native/contract.js';
import { backendFolders, loadInference } from '../../../../native/loader.js';
import { Failure } from '../../../../schemas/errors.js';
import { answerLimitOf, Generation, THINKING_TAGS, TokenTexts } from '../generation.js';
import { countTokensOf, Prompts } from '../prompts.js';
import { Renderer } from '../templates/renderer.js';
import type { GenerateBody, HostEvent, StepExtra } from '../wire.js';
import { type HeldAdapters, HostAdapters, NO_ADAPTERS } from './adapters.js';
import type { OpenBody, OpenedModel } from './load.js';
import type { LoadPlan } from './plan.js';
import { HostStates, stateTag } from './states.js';

/** Longer texts are tokenised on another thread, so that this one serves the streams meanwhile. */
const LONG_CHARS = 16 * 1024;
const STOP_LIMIT = 64;
const NO_TOKENS = new Int32Array(0);
const SEED_RANGE = 2 ** 32;

/** A generation with the adapters that it holds. */
interface Running {
  readonly generation: Generation;
  adapters: HeldAdapters;
}

/** A model in its host process: renders, tokenises, and turns the engine's steps into messages. */
export class LoadedGguf {
  readonly #engine: NativeScheduler;
  readonly #renderer: Renderer;
  readonly #texts: TokenTexts;
  readonly #adapters: HostAdapters;
  readonly prompts: Prompts;
  readonly states: HostStates;
  readonly #running: Map<number, Running>;
  readonly #thinkStart: Int32Array;
  readonly #thinkEnd: Int32Array;

  private constructor(engine: NativeScheduler, body: OpenBody, running: Map<number, Running>, tag: string) {
    this.#engine = engine;
    this.#adapters = new HostAdapters(engine);
    this.states = new HostStates(engine, this.#adapters, tag);
    this.#running = running;
    this.#renderer = new Renderer(
      (text, addSpecial) =>
        text.length > LONG_CHARS ? engine.tokenizeLong(text, addSpecial, true) : engine.tokenize(text, addSpecial, true),
      { ...body, vocabularySize: engine.info.vocabularySize },
    );
    this.prompts = new Prompts(this.#renderer);
    this.#texts = new TokenTexts(engine);
    this.#thinkStart = engine.tokenize(THINKING_TAGS.start, false, true);
    this.#thinkEnd = engine.tokenize(THINKING_TAGS.end, false, true);
  }

  /** Loads weights and makes the context; `emit` gets the progress now and the steps later. */
  static async open(body: OpenBody, emit: (event: HostEvent) => void): Promise<{ model: LoadedGguf; opened: OpenedModel }> {
    const addon = loadInference();
    const devices = addon.loadBackends(backendFolders());
    const { plan } = body;
    const running = new Map<number, Running>();
    let model: LoadedGguf | undefined;
    const engine = await addon.open(
      body.path,
      { gpuLayers: plan.gpuLayers, mmap: plan.mmap, mlock: plan.mlock },
      schedulerOptions(plan),
      (progress) => emit({ progress }),
      (rows, logprobs, error) => model?.step(rows, logprobs, error, emit),
    );
    const tag = stateTag(body, addon.llamaTag, engine.stateStreams);
    model = new LoadedGguf(engine, body, running, tag);
    const texts = plan.mlock ? processTexts() : undefined;
    const notes = [...model.#renderer.notes, texts ? lockNote(texts, engine.info.sizeBytes) : null];
    const opened = {
      native: engine.info,
      contextSize: engine.contextSize,
      devices: devices.map(({ name, kind }) => ({ name, kind })),
      notes: notes.filter((note) => note !== null),
      stateTag: tag,
      template: model.#renderer.template,
    };
    return { model, opened };
  }

  textsOf(lists: readonly Int32Array[]): string[] {
    return lists.map((tokens) => this.#texts.textOfTokens(tokens, this.#engine.info.vocabularySize));
  }

  countTokens(texts: readonly string[]): Promise<number[]> {
    return countTokensOf(texts, (text) => this.#engine.tokenize(text, false, true).length);
  }

  async generate(body: GenerateBody): Promise<void> {
    const { tokens, stops: needed } = this.prompts.take(body.promptId);
    const room = this.#engine.contextSize - tokens.length;
    if (room < 1) {
      throw new Failure(
        'bad_request',
        `The prompt has ${tokens.length} tokens and the context ${this.#engine.contextSize}; shorten it or raise n_ctx.`,
        {
          code: 'context_length_exceeded',
          fields: { context_usage: { total_context: this.#engine.contextSize, prompt_tokens: tokens.length, available_for_completion: 0 } },
        },
      );
    }
    const stops = [...(body.stop ?? []), ...needed];
    if (stops.length > STOP_LIMIT) throw new Failure('invalid', `stop has ${stops.length} texts; at most ${STOP_LIMIT} are allowed.`);
    const { id, adapters = [] } = body;
    const remembered = body.remember === undefined ? undefined : this.states.remember(body.remember, tokens, adapters);
    const running: Running = {
      generation: new Generation(stops, answerLimitOf(body, { start: this.#thinkStart, end: this.#thinkEnd }), remembered),
      adapters: NO_ADAPTERS,
    };
    this.#running.set(id, running);
    try {
      if (adapters.length > 0) running.adapters = await this.#adapters.hold(adapters);
      // Aborted while the adapters were loaded.
      if (this.#running.get(id) !== running) return running.adapters.release();
      this.#submit(body, tokens, room);
    } catch (error) {
      this.#end(id);
      throw error;
    }
  }

  /** Forgets a generation: rows of it that still come are passed over. */
  #end(id: number): void {
    this.#running.get(id)?.adapters.release();
    this.#running.delete(id);
  }

  /** A grammar for calls that nobody demanded is left out where the engine cannot read it. */
  #submit(body: GenerateBody, tokens: Int32Array, room: number): void {
    try {
      this.#engine.submit(body.id, tokens, this.#options(body, room));
    } catch (error) {
      if (body.grammarStart === undefined) throw error;
      this.#engine.submit(body.id, tokens, this.#options({ ...body, grammar: '' }, room));
    }
  }

  abort(id: number): void {
    this.#engine.abort(id);
    this.#end(id);
  }

  stats(): Record<string, number> {
    return { ...this.#engine.stats(), ...this.#adapters.stats };
  }

  close(): Promise<void> {
    return this.#engine.close();
  }

  /** Turns the rows of one step, or of several when this thread was busy, into one message. */
  step(rows: Int32Array, logprobs: Float64Array, error: string, emit: (event: HostEvent) => void): void {
    const ids: number[] = [];
    const texts: string[] = [];
    const tokens: number[] = [];
    const extras: [number, StepExtra][] = [];
    for (let at = 0; at < rows.length; at += STEP_FIELDS) {
      const id = rows[at]!;
      const generation = this.#running.get(id)?.generation;
      // Rows of what was stopped or aborted here a moment ago.
      if (!generation) continue;
      const token = rows[at + 1]!;
      let text = token >= 0 ? generation.add(this.#texts.of(token)) : '';
      if (token >= 0) generation.tokens?.push(token);
      const finish = rows[at + 2]!;
      const extra: StepExtra = {};
      const [prompt, reused, generated, thinking] = rows.subarray(at + 3, at + 7) as unknown as [number, number, number, number];
      const full = generation.isFull(generated, thinking);
      const { stopText } = generation;
      if (finish !== FINISH_NONE || stopText !== undefined || full) {
        this.#end(id);
        text += generation.end();
        this.#finish(extra, id, finish, stopText !== undefined ? 'stop' : full ? 'length' : undefined, error);
        if (stopText !== undefined) extra.stopText = stopText;
        extra.counts = { prompt, reused, generated, thinking };
      }
      const offset = rows[at + 7]!;
      if (offset >= 0 && token >= 0) extra.logprobs = [this.#texts.logprobs(token, logprobs, offset)];
      if (token < 0 && finish === FINISH_NONE) extra.progress = { read: rows[at + 8]!, of: prompt };
      if (Object.keys(extra).length > 0) extras.push([ids.length, extra]);
      ids.push(id);
      texts.push(text);
      tokens.push(token >= 0 ? 1 : 0);
    }
    if (ids.length > 0) emit({ ids, texts, tokens, extras });
  }

  /** `ended` = why this side ends the answer, whatever the engine says. */
  #finish(extra: StepExtra, id: number, finish: number, ended: 'stop' | 'length' | undefined, error: string): void {
    if (ended) {
      extra.finish = ended;
      if (finish === FINISH_NONE) this.#engine.abort(id);
    } else if (finish === FINISH_FAILED || finish === FINISH_ABORTED) {
      const message =
        finish === FINISH_FAILED ? `The model failed: ${error || 'the engine gave no reason'}` : 'The model was closed while it answered.';
      extra.failure = { kind: 'model_failed', message };
    } else {
      extra.finish = finish === FINISH_LENGTH ? 'length' : 'stop';
    }
  }

  /** Pairs of token and bias. Throws `invalid` for a token that the model does not have. */
  #biasOf({ logit_bias: bias }: GenerateBody): [token: number, value: number][] {
    const { vocabularySize } = this.#engine.info;
    return Object.entries(bias ?? {}).map(([id, value]) => {
      if (Number(id) < vocabularySize) return [Number(id), value];
      const msg = `logit_bias names the token ${id}; this model has ${vocabularySize} tokens, 0 to ${vocabularySize - 1}`;
      throw new Failure('invalid', `${msg}.`, { errors: [{ type: 'value_error', loc: ['body', 'logit_bias', id], msg, input: id }] });
    });
  }

  #options(body: GenerateBody, room: number): NativeGenerateOptions {
    const bias = this.#biasOf(body);
    const { ids, scales } = this.#running.get(body.id)?.adapters ?? NO_ADAPTERS;
    const grammarStart = body.grammarStart === undefined ? NO_TOKENS : this.#engine.tokenize(body.grammarStart, false, true);
    // Without tokens to wait for, it would hold from the beginning.
    const isUsable = body.grammarStart === undefined || grammarStart.length > 0;
    return {
      maxTokens: Math.max(1, Math.min(body.maxTokens, room)),
      temperature: body.temperature ?? 1,
      topK: body.top_k ?? 40,
      topP: body.top_p ?? 1,
      minP: body.min_p ?? 0.05,
      repeatPenalty: body.repeat_penalty ?? 1,
      presencePenalty: body.presence_penalty ?? 0,
      frequencyPenalty: body.frequency_penalty ?? 0,
      dryMultiplier: body.dry_multiplier ?? 0,
      dryBase: body.dry_base ?? 1.75,
      dryAllowedLength: body.dry_allowed_length ?? 2,
      seed: body.seed === undefined ? randomInt(SEED_RANGE) : ((body.seed % SEED_RANGE) + SEED_RANGE) % SEED_RANGE,
      deterministic: body.deterministic ?? false,
      topLogprobs: body.logprobs ? (body.top_logprobs ?? 0) : -1,
      grammar: isUsable ? (body.grammar ?? '') : '',
      grammarStart,
      biasTokens: Int32Array.from(bias, ([token]) => token),
      biasValues: Float32Array.from(bias, ([, value]) => value),
      thinkingBudget: body.thinkingBudget ?? -1,
      thinkStart: this.#thinkStart,
      thinkEnd: this.#thinkEnd,
      startsInThinking: body.startsInThinking ?? false,
      adapterIds: ids,
      adapterScales: scales,
    };
  }
}

function schedulerOptions(plan: LoadPlan): NativeSchedulerOptions {
  const { contextSize, slots, batch, ubatch, threads, flashAttention, cacheTypeK, cacheTypeV, unifiedKv, kvCells, warmUp } = plan;
  const options = { contextSize, slots, batch, ubatch, threads, flashAttention, cacheTypeK, cacheTypeV, unifiedKv, warmUp };
  return unifiedKv ? { ...options, kvCells } : options;
}

const MEBIBYTE = 1024 * 1024;

/** What Linux says of a process. */
interface ProcessTexts {
  /** `/proc/self/status`. */
  readonly status: string;
  /** `/proc/self/limits`. */
  readonly limits: string;
}

/** What Linux says of this process; undefined elsewhere. */
function processTexts(): ProcessTexts | undefined {
  if (process.platform !== 'linux') return undefined;
  try {
    return { status: readFileSync('/proc/self/status', 'utf8'), limits: readFileSync('/proc/self/limits', 'utf8') };
  } catch {
    return undefined;
  }
}

/** Says that less than the whole weights is locked in memory, and by which limit; null where all is. The engine itself goes on silently. */
export function lockNote(texts: ProcessTexts, weightBytes: number): string | null {
  const lockedBytes = Number(/^VmLck:\s+(\d+) kB$/m.exec(texts.status)?.[1] ?? 0) * 1024;
  if (lockedBytes >= weightBytes) return null;
  const limit = /^Max locked memory\s+(\d+)/m.exec(texts.limits)?.[1];
  const [locked, all] = [lockedBytes, weightBytes].map((bytes) => (bytes / MEBIBYTE).toFixed(1));
  const reason = limit === undefined ? '' : ` The system lets a process lock ${Number(limit) / MEBIBYTE} MiB; raise that with "ulimit -l".`;
  return `use_mlock: ${locked} of ${all} MiB of weights are locked in memory.${reason}`;
}
