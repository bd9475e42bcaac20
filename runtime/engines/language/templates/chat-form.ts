import { Failure } from '../../../../schemas/errors.js';
import type { Message } from '../../../../schemas/generated/common.js';
import { type Adaptation, neededAdaptations, type Probing, renderAdapted } from './adaptation.js';
import { type TemplateMessage, templateMessages } from './messages.js';
import { ChatTemplate, isStopped } from './template.js';

/** Time for finding out what a template needs. */
const PROBING_LIMIT_MS = 1000;
const PROBE: readonly Message[] = [{ role: 'user', content: 'probeone' }];

/** The variables of a template beside the messages. */
export type FormVariables = Readonly<Record<string, unknown>> & { readonly bos_token: string; readonly eos_token: string };

/** Whether a template has to do with this conversation what another one may spare it. */
const isRefusal = (error: unknown): boolean =>
  error instanceof Failure && ['template_refused', 'template_failed'].includes(error.code) && !isStopped(error);

/** A way to write conversations: a template, what conversations need to fit it, and the texts that end an answer. */
export class ChatForm {
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
