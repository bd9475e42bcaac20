import { Failure } from '../../../schemas/errors.js';
import type { PrepareRequest } from '../contract.js';
import { ControlGuard } from './guard.js';
import { PLAIN_FORM, PLAIN_STOPS, plainPrompt, templateMessages, templateTools } from './messages.js';
import { ChatTemplate } from './template.js';
import type { OpenBody } from './wire.js';

/** A prompt as tokens. */
export interface RenderedPrompt {
  readonly tokens: Int32Array;
  readonly endsInThinking: boolean;
}

/** Tokens of one piece of a prompt, in which texts of control tokens become those tokens. */
type Tokenize = (text: string, addSpecial: boolean) => Int32Array | Promise<Int32Array>;

/** Turns conversations into tokens by the model's own template, or by plain lines where it has none. */
export class Renderer {
  readonly #tokenize: Tokenize;
  readonly #guard: ControlGuard;
  readonly #template: ChatTemplate | Failure | undefined;
  readonly #bosText: string;
  readonly #eosText: string;

  constructor(tokenize: Tokenize, body: Pick<OpenBody, 'template' | 'controlTexts' | 'bosText' | 'eosText'>) {
    this.#tokenize = tokenize;
    this.#guard = new ControlGuard(body.controlTexts);
    this.#bosText = body.bosText;
    this.#eosText = body.eosText;
    this.#template = body.template === '' ? undefined : loadTemplate(body.template);
  }

  /** What is wrong with the template; null where it works or there is none. */
  get problem(): string | null {
    return this.#template instanceof Failure ? this.#template.message : null;
  }

  /** Stop strings that the way of rendering needs. */
  get stops(): readonly string[] {
    return this.#template ? [] : PLAIN_STOPS;
  }

  /** Throws `Failure` with code `template_refused` or `template_failed` where the template does not render, of kind `busy` where there was no time for it. */
  async render(request: PrepareRequest): Promise<RenderedPrompt> {
    const rendered = this.#text(request);
    const pieces = this.#guard.pieces(rendered);
    const first = pieces[0] ?? '';
    // Templates write the beginning token themselves; a second one would confuse the model.
    const addSpecial = this.#bosText === '' || !first.startsWith(this.#bosText);
    const parts: Int32Array[] = [];
    for (const [index, piece] of pieces.entries()) parts.push(await this.#tokenize(piece, index === 0 && addSpecial));
    const tokens = parts.length === 1 ? parts[0]! : joined(parts);
    if (tokens.length === 0) throw new Failure('bad_request', 'The prompt is empty; send at least one message with content.');
    return { tokens, endsInThinking: request.addGenerationPrompt && rendered.trimEnd().endsWith('<think>') };
  }

  #text(request: PrepareRequest): string {
    const template = this.#template;
    if (template instanceof Failure) throw template;
    const messages = this.#guard.mark(templateMessages(request.messages, template?.callForm ?? { ...PLAIN_FORM, argumentsAsText: true }));
    if (!template) return plainPrompt(messages, request.addGenerationPrompt);
    // As transformers has it, templates ask whether they are null rather than whether they are there.
    const tools = request.tools && request.tools.length > 0 ? this.#guard.mark(templateTools(request.tools)) : null;
    const thinking = request.enableThinking === undefined ? {} : { enable_thinking: request.enableThinking };
    return template.render({
      messages,
      tools,
      documents: null,
      ...thinking,
      add_generation_prompt: request.addGenerationPrompt,
      bos_token: this.#bosText,
      eos_token: this.#eosText,
    });
  }
}

function loadTemplate(text: string): ChatTemplate | Failure {
  try {
    return new ChatTemplate(text);
  } catch (error) {
    // A machine without time says nothing about the template: the load fails, and may be tried again.
    if (error instanceof Failure && error.kind !== 'busy') return error;
    throw error;
  }
}

function joined(parts: readonly Int32Array[]): Int32Array {
  const out = new Int32Array(parts.reduce((sum, part) => sum + part.length, 0));
  let at = 0;
  for (const part of parts) {
    out.set(part, at);
    at += part.length;
  }
  return out;
}
