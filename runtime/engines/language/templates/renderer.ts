import { Failure } from '../../../../schemas/errors.js';
import type { Message } from '../../../../schemas/generated/common.js';
import type { PrepareRequest, RawPrompt } from '../../contracts/language.js';
import { ControlGuard } from '../../tokenizers/control-texts.js';
import { type Adaptation, neededAdaptations, type Probing, renderAdapted } from './adaptation.js';
import { fallbackFor, fallbackNote, KNOWN_TEMPLATES, PLAIN } from './known-templates.js';
import { type TemplateMessage, templateMessages, templateTools } from './messages.js';
import { ChatTemplate, isStopped } from './template.js';

/** Templates of requests that are kept ready. */
const FORM_LIMIT = 8;

/** A prompt as tokens. */
export interface KeptPrompt {
  readonly tokens: Int32Array;
  readonly endsInThinking: boolean;
  /** Texts that end an answer, as the way of rendering needs. */
  readonly stops: readonly string[];
}

/** The same with its text; empty where it came as tokens. */
interface RenderedPrompt extends KeptPrompt {
  readonly text: string;
}

/** How models mark what is before a gap, what is behind it, and where they write. */
const GAP_MARKS: readonly (readonly [before: string, behind: string, middle: string])[] = [
  ['<|fim_prefix|>', '<|fim_suffix|>', '<|fim_middle|>'],
  ['<fim_prefix>', '<fim_suffix>', '<fim_middle>'],
  ['<fim-prefix>', '<fim-suffix>', '<fim-middle>'],
  ['<｜fim▁begin｜>', '<｜fim▁hole｜>', '<｜fim▁end｜>'],
  ['▁<PRE>', '▁<SUF>', '▁<MID>'],
  ['<|code_prefix|>', '<|code_suffix|>', '<|code_middle|>'],
];

/** Tokens of one piece of a prompt, in which texts of control tokens become those tokens. `signal` is aborted when nobody wants them any more. */
type Tokenize = (text: string, addSpecial: boolean, signal: AbortSignal) => Int32Array | Promise<Int32Array>;

/** What a renderer is made for. */
export interface RendererFacts {
  /** Jinja text; empty without one. */
  readonly template: string;
  readonly controlTexts: readonly string[];
  readonly bosText: string;
  readonly eosText: string;
  /** True = templates write all that belongs into a prompt, and only plain lines get what the tokenizer puts around a text. */
  readonly framesPlainOnly?: boolean;
  /** Ids of tokens go up to one less. */
  readonly vocabularySize: number;
}

/** Turns conversations into tokens by the template of the request, of the model, or of those that fit its vocabulary. */
export class Renderer {
  readonly #tokenize: Tokenize;
  readonly #guard: ControlGuard;
  readonly #facts: RendererFacts;
  /** The model's own form, or the one in its place; a failure where its template was stopped at a limit. */
  readonly #own: ChatForm | Failure;
  /** Of requests; a failure where a template was stopped at a limit, so that asking again costs nothing. */
  readonly #forms = new Map<string, ChatForm | Failure>();
  /** What whoever uses the model should know of its template. */
  readonly notes: readonly string[];

  constructor(tokenize: Tokenize, facts: RendererFacts) {
    this.#tokenize = tokenize;
    this.#guard = new ControlGuard(facts.controlTexts);
    this.#facts = facts;
    const { form, notes } = this.#chosen(facts.template);
    this.#own = form;
    this.notes = notes;
  }

  /** The text of the template that is used where a request brings none. */
  get template(): string {
    return this.#own instanceof Failure ? this.#facts.template : this.#own.text;
  }

  /** Throws `Failure` with code `template_refused` or `template_failed` where the template does not render, of kind `busy` where there was no time for it. */
  async render(request: PrepareRequest, signal: AbortSignal): Promise<RenderedPrompt> {
    if (request.raw) return this.#raw(request.raw, signal);
    const form = request.chatTemplate === undefined ? this.#own : this.#asked(request.chatTemplate);
    if (form instanceof Failure) throw form;
    const rendered = this.#text(form, request);
    const pieces = this.#guard.pieces(rendered);
    const first = pieces[0] ?? '';
    const { bosText, framesPlainOnly } = this.#facts;
    // Templates write the beginning token themselves; a second one would confuse the model.
    const isFramed = framesPlainOnly ? form.text === KNOWN_TEMPLATES[PLAIN]!.template : bosText === '' || !first.startsWith(bosText);
    const tokens = await this.#tokens(pieces, isFramed, signal);
    if (tokens.length === 0) throw new Failure('bad_request', 'The prompt is empty; send at least one message with content.');
    const endsInThinking = request.addGenerationPrompt && request.begunAnswer === undefined && rendered.trimEnd().endsWith('<think>');
    return { tokens, endsInThinking, stops: form.stops, text: pieces.join('') };
  }

  async #raw({ content, suffix, framed = true, plain = false }: RawPrompt, signal: AbortSignal): Promise<RenderedPrompt> {
    if (typeof content !== 'string') {
      requireTokens(content, this.#facts.vocabularySize);
      return { tokens: content, endsInThinking: false, stops: [], text: '' };
    }
    const text = suffix === undefined ? content : this.#withGap(content, suffix);
    const pieces = plain ? this.#guard.pieces(this.#guard.mark(text)) : [text];
    const isFramed = framed && (this.#facts.bosText === '' || !text.startsWith(this.#facts.bosText));
    return { tokens: await this.#tokens(pieces, isFramed, signal), endsInThinking: false, stops: [], text };
  }

  #withGap(before: string, behind: string): string {
    const marks = GAP_MARKS.find((three) => three.every((mark) => this.#facts.controlTexts.includes(mark)));
    if (!marks)
      throw new Failure('bad_request', 'This model does not support insert: its vocabulary has no marks for a gap; leave out suffix.', {
        code: 'InsertUnsupported',
      });
    return `${marks[0]}${before}${marks[1]}${behind}${marks[2]}`;
  }

  async #tokens(pieces: readonly string[], isFramed: boolean, signal: AbortSignal): Promise<Int32Array> {
    const parts: Int32Array[] = [];
    for (const [index, piece] of pieces.entries()) parts.push(await this.#tokenize(piece, index === 0 && isFramed, signal));
    return parts.length === 1 ? parts[0]! : concatTokens(parts);
  }

  #text(form: ChatForm, request: PrepareRequest): string {
    const messages = this.#guard.mark(form.messages(request.messages));
    // As transformers has it, templates ask whether they are null rather than whether they are there.
    const tools = request.tools && request.tools.length > 0 ? this.#guard.mark(templateTools(request.tools)) : null;
    const thinking = request.enableThinking === undefined ? {} : { enable_thinking: request.enableThinking };
    const rendered = form.render(messages, {
      tools,
      documents: null,
      ...thinking,
      add_generation_prompt: request.addGenerationPrompt,
      ...this.#ends,
    });
    return request.begunAnswer === undefined ? rendered : withoutOpenThinking(rendered) + this.#guard.mark(request.begunAnswer);
  }

  get #ends(): { readonly bos_token: string; readonly eos_token: string } {
    return { bos_token: this.#facts.bosText, eos_token: this.#facts.eosText };
  }

  #made(template: string): ChatForm {
    const known = Object.hasOwn(KNOWN_TEMPLATES, template) ? KNOWN_TEMPLATES[template]! : { template, stops: [] };
    return new ChatForm(known.template, known.stops, this.#ends);
  }

  /** The form of a request's own template. */
  #asked(template: string): ChatForm | Failure {
    const form = this.#forms.get(template) ?? this.#tried(template);
    this.#forms.delete(template);
    this.#forms.set(template, form);
    if (this.#forms.size > FORM_LIMIT) this.#forms.delete(this.#forms.keys().next().value!);
    return form;
  }

  #tried(template: string): ChatForm | Failure {
    try {
      return this.#made(template);
    } catch (error) {
      if (error instanceof Failure && error.kind !== 'busy' && isStopped(error)) return error;
      throw error;
    }
  }

  #chosen(template: string): { readonly form: ChatForm | Failure; readonly notes: readonly string[] } {
    let why = 'The model has no chat template';
    if (template !== '') {
      try {
        const form = this.#made(template);
        return { form, notes: form.note === null ? [] : [form.note] };
      } catch (error) {
        // A machine without time says nothing about the template: the load fails, and may be tried again.
        if (!(error instanceof Failure) || error.kind === 'busy') throw error;
        if (isStopped(error)) return { form: error, notes: [error.message] };
        why = `The model's chat template cannot be used (${error.message})`;
      }
    }
    const name = fallbackFor(this.#facts.controlTexts);
    return { form: this.#made(name), notes: [fallbackNote(why, name)] };
  }
}

/** A prompt that ends where the answer begins: a block of thinking that the template opened is closed. */
function withoutOpenThinking(prompt: string): string {
  const end = prompt.trimEnd();
  return end.endsWith('<think>') ? `${end}\n\n</think>\n\n` : prompt;
}

/** Throws `invalid` for a token that a vocabulary of that size does not have. */
export function requireTokens(tokens: Int32Array, vocabularySize: number): void {
  const wrong = tokens.find((token) => token < 0 || token >= vocabularySize);
  if (wrong === undefined) return;
  throw new Failure('invalid', `Token ${wrong} is not in the vocabulary of this model; its tokens are 0 to ${vocabularySize - 1}.`, {
    code: 'UnknownToken',
  });
}

function concatTokens(parts: readonly Int32Array[]): Int32Array {
  const out = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}

/** Time for finding out what a template needs. */
const PROBING_LIMIT_MS = 1000;

const PROBE: readonly Message[] = [{ role: 'user', content: 'probeone' }];

/** The variables of a template beside the messages. */
type FormVariables = Readonly<Record<string, unknown>> & { readonly bos_token: string; readonly eos_token: string };

/** Whether a template has to do with this conversation what another one may spare it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && ['template_refused', 'template_failed'].includes(error.code) && !isStopped(error);

/** A way to write conversations: a template, what conversations need to fit it, and the texts that end an answer. */
class ChatForm {
  /** Jinja text. */
  readonly text: string;
  readonly stops: readonly string[];
  readonly #template: ChatTemplate;
  readonly #needed: readonly Adaptation[];

  /** Throws as `ChatTemplate` does for a text that does not parse, and for one that renders nothing at all. `tokens` are those that it may write. */
  constructor(text: string, stops: readonly string[], tokens: Pick<FormVariables, 'bos_token' | 'eos_token'>) {
    this.text = text;
    this.stops = stops;
    this.#template = new ChatTemplate(text);
    const start = performance.now();
    const variables = { ...tokens, tools: null, documents: null, add_generation_prompt: true };
    const probing: Probing = {
      messages: (probe) => this.messages(probe),
      render: (messages) => this.#template.render({ ...variables, messages }),
      isRefusal,
      hasTime: () => performance.now() - start < PROBING_LIMIT_MS,
    };
    try {
      probing.render(probing.messages(PROBE));
      this.#needed = neededAdaptations(probing);
    } catch (error) {
      if (!(error instanceof Failure) || error.code !== 'template_refused') throw error;
      this.#needed = [];
    }
  }

  /** A sentence on what is changed of conversations; null where they are taken as they are. */
  get note(): string | null {
    const takesTools = /\btools\b/.test(this.text);
    const changes = this.#needed.filter(({ isOfTools }) => takesTools || !isOfTools).map(({ what }) => what);
    return changes.length > 0 ? `The chat template does not take every conversation, so some are adapted: ${changes.join('; ')}.` : null;
  }

  /** Messages as the template takes them. */
  messages(messages: readonly Message[]): TemplateMessage[] {
    return templateMessages(messages, this.#template.callForm);
  }

  /** Throws as `ChatTemplate.render` does, where no adaptation helps. */
  render(messages: readonly TemplateMessage[], variables: FormVariables): string {
    const render = (fitting: readonly TemplateMessage[]): string => this.#template.render({ ...variables, messages: fitting });
    return renderAdapted(messages, this.#needed, { render, isRefusal });
  }
}
