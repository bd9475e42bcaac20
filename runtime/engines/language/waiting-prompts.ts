import { Failure } from '../../../schemas/errors.js';
import type { KeptPrompt } from './templates/renderer.js';

const KEPT_MS = 60_000;
/** Prompts that may wait, and their tokens together. */
const PROMPT_LIMIT = 1024;
const TOKEN_LIMIT = 32 * 1024 * 1024;

interface Waiting {
  readonly prompt: KeptPrompt;
  readonly until: number;
}

/** Tokenised prompts that wait for their generation, for 60 s. */
export class WaitingPrompts {
  readonly #prompts = new Map<number, Waiting>();
  #tokens = 0;
  #nextId = 1;

  /** Keeps a prompt and gives its id. Beyond the limits the oldest goes: prompts that are tried and not used are the old ones. */
  add(prompt: KeptPrompt): number {
    const { length } = prompt.tokens;
    this.#expire(length);
    const id = this.#nextId++;
    this.#prompts.set(id, { prompt, until: performance.now() + KEPT_MS });
    this.#tokens += length;
    return id;
  }

  /** Takes a prompt out. Throws `Failure('conflict')` when it was used before or has expired. */
  take(id: number): KeptPrompt {
    const found = this.#prompts.get(id);
    if (!found)
      throw new Failure('conflict', `Prompt ${id} is gone: a prompt serves one generation within ${KEPT_MS / 1000} s; prepare it again.`);
    this.#drop(id, found);
    return found.prompt;
  }

  #drop(id: number, found: Waiting): void {
    this.#prompts.delete(id);
    this.#tokens -= found.prompt.tokens.length;
  }

  // Prompts are in the order of their age: the first that is fresh ends the walk.
  #expire(arriving: number): void {
    const now = performance.now();
    for (const [id, waiting] of this.#prompts) {
      const full = this.#prompts.size >= PROMPT_LIMIT || this.#tokens + arriving > TOKEN_LIMIT;
      if (waiting.until > now && !full) return;
      this.#drop(id, waiting);
    }
  }
}
