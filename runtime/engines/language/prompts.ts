import { setImmediate as turn } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';
import type { PreparedPrompt, PrepareRequest, PromptTexts } from '../contracts/language.js';
import type { KeptPrompt, Renderer } from './templates/renderer.js';

const KEPT_MS = 60_000;
/** Prompts that may wait, and their tokens together. */
const PROMPT_LIMIT = 1024;
const TOKEN_LIMIT = 32 * 1024 * 1024;

interface WaitingPrompt {
  readonly prompt: KeptPrompt;
  readonly until: number;
}

/** The prompts of a loaded model: rendered, tokenised, and kept for 60 s until their generation takes them. */
export class Prompts {
  readonly #renderer: Renderer;
  readonly #waiting = new Map<number, WaitingPrompt>();
  #tokens = 0;
  #nextId = 1;

  constructor(renderer: Renderer) {
    this.#renderer = renderer;
  }

  /** Renders a prompt and keeps it for its generation. Throws as `Renderer.render` does. */
  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedPrompt> {
    const { text: _text, ...prompt } = await this.#renderer.render(request, signal);
    return { promptId: this.#add(prompt), promptTokens: prompt.tokens.length, endsInThinking: prompt.endsInThinking };
  }

  /** Renders a prompt that nobody will generate from. Throws as `Renderer.render` does. */
  async render(request: PrepareRequest, signal: AbortSignal): Promise<PromptTexts> {
    const { text, tokens } = await this.#renderer.render(request, signal);
    return { text, tokens };
  }

  /** Takes a prompt out. Throws `Failure('conflict')` when it was used before or has expired. */
  take(id: number): KeptPrompt {
    const found = this.#waiting.get(id);
    if (!found)
      throw new Failure('conflict', `Prompt ${id} is gone: a prompt serves one generation within ${KEPT_MS / 1000} s; prepare it again.`);
    this.#drop(id, found);
    return found.prompt;
  }

  /** Beyond the limits the oldest goes: prompts that are tried and not used are the old ones. */
  #add(prompt: KeptPrompt): number {
    const { length } = prompt.tokens;
    this.#expire(length);
    const id = this.#nextId++;
    this.#waiting.set(id, { prompt, until: performance.now() + KEPT_MS });
    this.#tokens += length;
    return id;
  }

  #drop(id: number, found: WaitingPrompt): void {
    this.#waiting.delete(id);
    this.#tokens -= found.prompt.tokens.length;
  }

  // Prompts are in the order of their age: the first that is fresh ends the walk.
  #expire(arriving: number): void {
    const now = performance.now();
    for (const [id, waiting] of this.#waiting) {
      const full = this.#waiting.size >= PROMPT_LIMIT || this.#tokens + arriving > TOKEN_LIMIT;
      if (waiting.until > now && !full) return;
      this.#drop(id, waiting);
    }
  }
}

/** Texts of more characters are not counted but estimated from two samples of half as many, one at their beginning and one in their middle. */
const SAMPLE_CHARS = 32 * 1024;

/** Tokens of each text by `count`, exact for texts of up to 32,768 characters; others get their turn after each. */
export async function countTokensOf(texts: readonly string[], count: (text: string) => number): Promise<number[]> {
  const counts: number[] = [];
  let since = 0;
  for (const text of texts) {
    counts.push(text.length <= SAMPLE_CHARS ? count(text) : estimateTokens(text, count));
    since += Math.min(text.length, SAMPLE_CHARS);
    if (since < SAMPLE_CHARS) continue;
    since = 0;
    await turn();
  }
  return counts;
}

function estimateTokens(text: string, count: (text: string) => number): number {
  const half = SAMPLE_CHARS / 2;
  const middle = Math.floor((text.length - half) / 2);
  const sampled = count(text.slice(0, half)) + count(text.slice(middle, middle + half));
  return Math.ceil((sampled * text.length) / SAMPLE_CHARS);
}
