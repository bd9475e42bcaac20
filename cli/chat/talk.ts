import type { TaskList } from '../../schemas/generated/core/tasks.js';
import { type DaemonClient, route } from '../daemon/client.js';
import { type Output, withoutControls } from '../output.js';
import type { ProjectName } from '../verb.js';
import type { ContentPart } from './attachments.js';

/** A message of a talk; content in parts where pictures or sound are in it. */
interface Message {
  readonly role: 'system' | 'user' | 'assistant';
  readonly content: string | readonly ContentPart[];
}

/** A piece of an answer as it comes. */
export type Piece =
  | { readonly kind: 'text' | 'thinking'; readonly text: string }
  /** A tool that the server calls, or a remark of the server. */
  | { readonly kind: 'tool'; readonly name: string }
  | { readonly kind: 'end'; readonly finishReason: string; readonly figures: Figures };

/** How fast an answer was. Times in seconds. */
export interface Figures {
  readonly promptTokens: number;
  readonly answerTokens: number;
  readonly firstTokenS: number;
  readonly totalS: number;
}

interface Chunk {
  readonly choices?: readonly {
    readonly delta?: { readonly content?: string | null; readonly reasoning_content?: string | null };
    readonly finish_reason?: string | null;
  }[];
  readonly usage?: { readonly prompt_tokens: number; readonly completion_tokens: number } | null;
  readonly error?: { readonly message: string };
  readonly x_tool?: { readonly name?: string };
}

/** A conversation with a model, which gets everything that was said each time, or with a project, which keeps it in a session. */
export class Talk {
  readonly #daemon: DaemonClient;
  readonly #partner: string | ProjectName;
  #messages: Message[] = [];
  #session: string | null = null;
  #system = '';
  readonly #settings: Record<string, unknown> = {};

  constructor(daemon: DaemonClient, partner: string | ProjectName) {
    this.#daemon = daemon;
    this.#partner = partner;
  }

  /** Who answers. */
  get title(): string {
    return typeof this.#partner === 'string' ? this.#partner : `${this.#partner.namespace}/${this.#partner.project}`;
  }

  get settings(): Readonly<Record<string, unknown>> {
    return this.#settings;
  }

  /** What was said so far, oldest first. */
  get messages(): readonly Message[] {
    return this.#messages;
  }

  get system(): string {
    return this.#system;
  }

  /** What the model is told about its role; the talk begins anew. */
  set system(text: string) {
    this.#system = text;
    this.clear();
  }

  /** Sets a member of the requests, such as `temperature`; undefined takes it away. */
  set(name: string, value: unknown): void {
    if (value === undefined) delete this.#settings[name];
    else this.#settings[name] = value;
  }

  /** Forgets what was said. */
  clear(): void {
    this.#messages = [];
    this.#session = null;
  }

  /** What the talk waits for, where models are being fetched; null where none is, or where this user may not know. */
  async fetchProgress(): Promise<string | null> {
    const { tasks } = await this.#daemon.ask<TaskList>('/v1/tasks').catch(() => ({ tasks: [] }));
    const running = tasks.filter(({ state }) => state === 'STARTED').map(({ meta }) => String(meta?.message));
    return running.length > 0 ? running.join('; ') : null;
  }

  /** Says something and gives the answer piece by piece, its figures last. An answer that is stopped stays in the talk as far as it came. */
  async *say(content: Message['content'], signal?: AbortSignal): AsyncGenerator<Piece, void, undefined> {
    const started = performance.now();
    let firstTokenS = 0;
    let answer = '';
    let finishReason = 'stop';
    let usage: Chunk['usage'] = null;
    this.#messages.push({ role: 'user', content });
    try {
      for await (const chunk of this.#chunks(signal)) {
        if (chunk.error) throw new Error(chunk.error.message);
        if (chunk.x_tool?.name) yield { kind: 'tool', name: chunk.x_tool.name };
        const { delta, finish_reason } = chunk.choices?.[0] ?? {};
        const thinking = delta?.reasoning_content ?? '';
        const text = delta?.content ?? '';
        if (firstTokenS === 0 && (text !== '' || thinking !== '')) firstTokenS = (performance.now() - started) / 1000;
        if (thinking !== '') yield { kind: 'thinking', text: thinking };
        answer += text;
        if (text !== '') yield { kind: 'text', text };
        finishReason = finish_reason ?? finishReason;
        usage = chunk.usage ?? usage;
      }
    } finally {
      if (answer === '') this.#messages.pop();
      else this.#messages.push({ role: 'assistant', content: answer });
    }
    const figures = {
      promptTokens: usage?.prompt_tokens ?? 0,
      answerTokens: usage?.completion_tokens ?? 0,
      firstTokenS,
      totalS: (performance.now() - started) / 1000,
    };
    yield { kind: 'end', finishReason, figures };
  }

  async *#chunks(signal: AbortSignal | undefined): AsyncGenerator<Chunk, void, undefined> {
    const { eventDataOf } = await import('../daemon/client.js');
    const partner = this.#partner;
    const isModel = typeof partner === 'string';
    const system: Message[] = this.#system === '' ? [] : [{ role: 'system', content: this.#system }];
    const reply = await this.#daemon.reply(
      isModel ? '/v1/chat/completions' : route`/v1/projects/${partner.namespace}/${partner.project}/chat/completions`,
      {
        api: isModel ? 'runtime' : 'core',
        json: {
          ...(isModel ? { model: partner } : {}),
          ...this.#settings,
          messages: isModel || this.#session === null ? [...system, ...this.#messages] : this.#messages.slice(-1),
          stream: true,
          stream_options: { include_usage: true },
        },
        headers: this.#session === null ? {} : { 'x-session-id': this.#session },
        signal,
      },
    );
    this.#session = reply.header('x-session-id') ?? null;
    for await (const data of eventDataOf(reply)) {
      if (data === '[DONE]') return;
      yield JSON.parse(data) as Chunk;
    }
  }
}

const DIGITS = 1;
/** How often it is looked whether a model is being fetched. */
const LOOK_MS = 1000;

/** How fast an answer was, in a line. */
export function figuresLine({ promptTokens, answerTokens, firstTokenS, totalS }: Figures): string {
  const rate =
    answerTokens > 1 && totalS > firstTokenS ? `, ${((answerTokens - 1) / (totalS - firstTokenS)).toFixed(DIGITS)} tokens/s` : '';
  return `${promptTokens} tokens read, ${answerTokens} written${rate}; first after ${firstTokenS.toFixed(2)} s, all after ${totalS.toFixed(2)} s`;
}

/** The figures of an answer for programs. */
export const figuresValue = ({ promptTokens, answerTokens, firstTokenS, totalS }: Figures) => ({
  prompt_tokens: promptTokens,
  completion_tokens: answerTokens,
  first_token_s: firstTokenS,
  total_s: totalS,
});

/** Draws how far models are that must be fetched first, until the returned function is called. */
function showFetches(talk: Talk, out: Output): () => void {
  let isOver = !out.isTerminal;
  const look = async (): Promise<void> => {
    const text = await talk.fetchProgress();
    if (isOver) return;
    if (text !== null) out.progress(text);
    timer = setTimeout(look, LOOK_MS);
  };
  let timer = isOver ? undefined : setTimeout(look, LOOK_MS);
  return () => {
    if (!isOver) out.endProgress();
    isOver = true;
    clearTimeout(timer);
  };
}

/** Prints an answer as it comes, and its figures where `isVerbose`; with `--json` one object at its end. */
export async function printAnswer(
  talk: Talk,
  content: Parameters<Talk['say']>[0],
  { out, signal, isVerbose }: { out: Output; signal?: AbortSignal; isVerbose: boolean },
): Promise<void> {
  let isThinking = false;
  let text = '';
  const endFetches = showFetches(talk, out);
  try {
    for await (const piece of talk.say(content, signal)) {
      endFetches();
      if (piece.kind === 'tool') out.line(out.style('dim', `[calls ${withoutControls(piece.name)}]`));
      else if (piece.kind === 'end') {
        out.line();
        if (isVerbose) out.line(out.style('dim', figuresLine(piece.figures)));
        out.value({ answer: text, finish_reason: piece.finishReason, ...figuresValue(piece.figures) });
      } else {
        if (isThinking && piece.kind === 'text') out.write('\n\n');
        isThinking = piece.kind === 'thinking';
        if (!isThinking) text += piece.text;
        out.write(isThinking ? out.style('dim', withoutControls(piece.text)) : withoutControls(piece.text));
      }
    }
  } finally {
    endFetches();
  }
}
