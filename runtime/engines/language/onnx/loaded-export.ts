import { setImmediate as turn } from 'node:timers/promises';
import { Failure } from '../../../../schemas/errors.js';
import { toWire } from '../../../hosts/protocol.js';
import type { GenerateEvent } from '../../contracts/language.js';
import { openSession } from '../../onnx/session.js';
import { TextTokenizer } from '../../tokenizers/text-tokenizer.js';
import { answerLimitOf, Generation, THINKING_TAGS, TokenTexts, withoutSpace } from '../generation.js';
import { countTokensOf, Prompts } from '../prompts.js';
import { Renderer } from '../templates/renderer.js';
import type { GenerateBody, HostEvent, StepExtra } from '../wire.js';
import { Decoder } from './decoder.js';
import { type ExportFacts, exportFacts } from './export-files.js';
import type { OpenBody, OpenedExport } from './load.js';
import { LongTexts, SHORT_CHARACTERS } from './long-texts.js';
import { isCuttable, type Past, SeenPrompts } from './past-states.js';
import { logOfSum, mostLikely, Sampler, ThinkingBudget, type ThinkingTags } from './sampler.js';

/** Notes of exports that are slow. */
const FORGETS = 'This export keeps no keys and values: every token reads the whole text again.';
const REREADS =
  'This export reads many tokens at once only at the beginning of a text: every prompt is read from its beginning, long ones slowly.';

/** Read when a model is opened whose graph has to show what it can do. */
const SAMPLE = 'The small brown dog ran over the old bridge 42 times; then it slept.';

/**
 * Tokens at the end of a prompt that a next one may lack, such as those that open a thinking block. What cannot be cut is kept before them, so that the
 * same prompt, or one that goes on after the answer told otherwise, is read on from there.
 */
const TAIL = 8;

/** After so many tokens of a prompt, or so much time, its sender is told how far it was read. */
const REPORT_TOKENS = 512;
const REPORT_MS = 500;

/** Answers made side by side. */
const RUNNING_LIMIT = 32;

/** A text-generation graph in its host process: the same calls and events as the GGUF engine's. */
export class LoadedExport {
  readonly #decoder: Decoder;
  readonly #tokenizer: TextTokenizer;
  readonly #texts: TokenTexts;
  readonly #renderer: Renderer;
  readonly #ends: ReadonlySet<number>;
  readonly #contextSize: number;
  readonly #thinkTags: ThinkingTags;
  readonly prompts: Prompts;
  readonly #histories = new SeenPrompts();
  readonly #running = new Set<number>();
  readonly #emit: (event: HostEvent) => void;

  private constructor(facts: ExportFacts, decoder: Decoder, { folder, contextSize = null }: OpenBody, emit: (event: HostEvent) => void) {
    const tokenizer = new TextTokenizer(facts.tokenizer, facts.tokenizerConfig);
    const long = new LongTexts(folder);
    this.#decoder = decoder;
    this.#tokenizer = tokenizer;
    this.#contextSize = Math.min(contextSize ?? facts.contextSize, facts.contextSize);
    this.#emit = emit;
    this.#texts = new TokenTexts({ tokenBytes: (token) => tokenizer.bytes(token) });
    this.#thinkTags = { start: [...tokenizer.encode(THINKING_TAGS.start, false)], end: [...tokenizer.encode(THINKING_TAGS.end, false)] };
    // Chat templates write all that belongs into a prompt, as transformers has it; only plain lines get what the tokenizer puts around a text.
    this.#renderer = new Renderer(
      (text, addSpecial, signal) =>
        text.length > SHORT_CHARACTERS ? long.encode(text, addSpecial, signal) : tokenizer.encode(text, addSpecial),
      { ...facts, controlTexts: tokenizer.controlTexts, framesPlainOnly: true, vocabularySize: tokenizer.size },
    );
    this.prompts = new Prompts(this.#renderer);
    const ended = tokenizer.idOf(facts.eosText);
    this.#ends = new Set(ended === undefined ? facts.ends : [...facts.ends, ended]);
  }

  /** Opens the graph and reads what lies beside it; `emit` gets the steps later. */
  static async open(body: OpenBody, emit: (event: HostEvent) => void): Promise<{ model: LoadedExport; opened: OpenedExport }> {
    const facts = exportFacts(body.folder);
    const session = await openSession(body.graph, {
      threads: body.threads,
      provider: body.provider,
      folder: body.folder,
      shapesVary: true,
    });
    const decoder = new Decoder(session, facts);
    const model = new LoadedExport(facts, decoder, body, emit);
    await decoder.tryPieces(model.#tokenizer.encode(SAMPLE, false));
    const { architecture, template, recommended } = facts;
    const slow = decoder.resumes ? [] : [decoder.remembers ? REREADS : FORGETS];
    const notes = [...model.#renderer.notes, ...slow, ...recommended.notes];
    return {
      model,
      opened: {
        architecture,
        contextSize: model.#contextSize,
        trainedContextSize: facts.contextSize,
        ...(model.#tokenizer.longestToken === undefined ? {} : { longestToken: model.#tokenizer.longestToken }),
        ownTemplate: template,
        template: model.#renderer.template,
        sampling: recommended.sampling,
        devices: session.providers,
        notes,
      },
    };
  }

  textsOf(lists: readonly Int32Array[]): string[] {
    return lists.map((tokens) => this.#texts.textOfTokens(tokens, this.#tokenizer.size));
  }

  countTokens(texts: readonly string[]): Promise<number[]> {
    return countTokensOf(texts, (text) => this.#tokenizer.encode(text, false).length);
  }

  /** Starts an answer, which goes on by itself. Throws for what this engine cannot do. */
  generate(body: GenerateBody): void {
    const { tokens: prompt, stops } = this.prompts.take(body.promptId);
    if (body.grammar !== undefined && body.grammarStart === undefined)
      throw new Failure(
        'bad_request',
        'ONNX models cannot be held to a form: leave out response_format, and tool_choice "required" or by name; or name a GGUF export of the model.',
        { code: 'GrammarUnsupported' },
      );
    if (prompt.length >= this.#contextSize)
      throw new Failure('bad_request', `The prompt has ${prompt.length} tokens and the context ${this.#contextSize}; shorten it.`, {
        code: 'context_length_exceeded',
      });
    if (this.#running.size >= RUNNING_LIMIT)
      throw new Failure('busy', `${RUNNING_LIMIT} answers are being made; try again later.`, { retryAfterS: 5 });
    this.#running.add(body.id);
    this.#answer(body, prompt, stops).catch((error: unknown) => {
      const failure = toWire(
        error instanceof Failure ? error : new Error(`The model failed: ${error instanceof Error ? error.message : String(error)}`),
      );
      this.#running.delete(body.id);
      this.#send(body.id, '', 0, { failure });
    });
  }

  abort(id: number): void {
    this.#running.delete(id);
  }

  stats(): Record<string, number> {
    return { active: this.#running.size };
  }

  async #answer(body: GenerateBody, prompt: Int32Array, stops: readonly string[]): Promise<void> {
    const { id } = body;
    const limit = answerLimitOf(body, this.#thinkTags);
    const generation = new Generation([...(body.stop ?? []), ...stops], limit);
    const thinking = new ThinkingBudget(this.#thinkTags, body.thinkingBudget ?? Number.POSITIVE_INFINITY, body.startsInThinking ?? false);
    const sampler = new Sampler(body, prompt);
    // The tags are neither thinking nor answer.
    const most = Math.min(body.maxTokens + (limit?.tagTokens ?? 0), this.#contextSize - prompt.length);
    const tokens = [...prompt];
    // Read on from elsewhere, a prompt is cut into other pieces, whose sums round otherwise.
    const found = this.#decoder.resumes && !body.deterministic ? this.#histories.find(prompt) : undefined;
    let past: Past = found ?? this.#decoder.nothing;
    const reused = past.length;
    const shared = prompt.subarray(0, Math.max(0, prompt.length - TAIL));
    if (this.#decoder.resumes && !isCuttable(past) && shared.length > past.length) {
      const read = await this.#readOn(id, shared, past);
      if (!read) return;
      past = read.past;
      this.#histories.keep(shared, past);
    }
    let generated = 0;
    while (this.#running.has(id)) {
      const read = await this.#readOn(id, tokens, past);
      if (!read) return;
      past = read.past;
      const raw = read.logits.slice();
      const token = thinking.forced ?? sampler.choose(read.logits);
      const isEnd = this.#ends.has(token);
      let text = '';
      const extra: StepExtra = {};
      if (!isEnd) {
        generated += 1;
        tokens.push(token);
        sampler.accept(token);
        thinking.accept(token);
        const piece = this.#texts.of(token);
        text = generation.add(generated === 1 && this.#tokenizer.dropsFirstSpace ? withoutSpace(piece) : piece);
        if (body.logprobs) extra.logprobs = [this.#logprobs(raw, token, body.top_logprobs ?? 0)];
      }
      const { stopText } = generation;
      const finish =
        isEnd || stopText !== undefined ? 'stop' : generated >= most || generation.isFull(generated, thinking.count) ? 'length' : undefined;
      if (finish) {
        text += generation.end();
        extra.finish = finish;
        if (stopText !== undefined) extra.stopText = stopText;
        extra.counts = { prompt: prompt.length, reused, generated, thinking: thinking.count };
        if (this.#decoder.resumes) this.#histories.keep(Int32Array.from(tokens), past);
        this.#running.delete(id);
      }
      this.#send(id, text, isEnd ? 0 : 1, extra);
    }
  }

  /** Reads what of `tokens` was not seen, and tells how far it is; undefined when the answer was aborted meanwhile. */
  async #readOn(id: number, tokens: ArrayLike<number>, from: Past): Promise<{ logits: Float32Array; past: Past } | undefined> {
    let past = this.#decoder.remembers ? from : this.#decoder.nothing;
    let reported = { tokens: past.length, ms: performance.now() };
    while (true) {
      await turn();
      if (!this.#running.has(id)) return undefined;
      const to = Math.min(tokens.length, past.length + this.#decoder.most(past));
      const read = await this.#decoder.read(
        Int32Array.from({ length: to - past.length }, (_, index) => tokens[past.length + index]!),
        past,
      );
      if (to === tokens.length) return read;
      past = read.past;
      if (to - reported.tokens < REPORT_TOKENS && performance.now() - reported.ms < REPORT_MS) continue;
      reported = { tokens: to, ms: performance.now() };
      this.#send(id, '', 0, { progress: { read: to, of: tokens.length } });
    }
  }

  #logprobs(logits: Float32Array, token: number, count: number): NonNullable<GenerateEvent['logprobs']>[number] {
    const top = mostLikely(logits, count).map((one) => this.#texts.tokenWithLogprob(one.token, one.logprob));
    return { ...this.#texts.tokenWithLogprob(token, logits[token]! - logOfSum(logits)), top };
  }

  #send(id: number, text: string, tokens: number, extra: StepExtra): void {
    const extras: [number, StepExtra][] = Object.keys(extra).length > 0 ? [[0, extra]] : [];
    this.#emit({ ids: [id], texts: [text], tokens: [tokens], extras });
  }
}
