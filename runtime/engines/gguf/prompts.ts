import { Failure } from '../../../schemas/errors.js';

const KEPT_MS = 60_000;
/** Prompts that may wait, and their tokens together. */
const PROMPT_LIMIT = 1024;
const TOKEN_LIMIT = 32 * 1024 * 1024;

interface Waiting {
  readonly tokens: Int32Array;
  readonly until: number;
}

/** Tokenised prompts that wait for their generation, for 60 s. */
export class WaitingPrompts {
  readonly #prompts = new Map<number, Waiting>();
  #tokens = 0;
  #nextId = 1;

  /** Keeps a prompt and gives its id. Throws `Failure('busy')` when too many wait. */
  add(tokens: Int32Array): number {
    this.#expire();
    if (this.#prompts.size >= PROMPT_LIMIT || this.#tokens + tokens.length > TOKEN_LIMIT) {
      throw new Failure('busy', `${this.#prompts.size} prompts wait for this model already; try again in a moment.`, { retryAfterS: 1 });
    }
    const id = this.#nextId++;
    this.#prompts.set(id, { tokens, until: performance.now() + KEPT_MS });
    this.#tokens += tokens.length;
    return id;
  }

  /** Takes a prompt out. Throws `Failure('conflict')` when it was used before or has expired. */
  take(id: number): Int32Array {
    const found = this.#prompts.get(id);
    if (!found) throw new Failure('conflict', `Prompt ${id} is gone: a prompt serves one generation within ${KEPT_MS / 1000} s; prepare it again.`);
    this.#drop(id, found);
    return found.tokens;
  }

  /** Forgets a prompt that is not needed. */
  drop(id: number): void {
    const found = this.#prompts.get(id);
    if (found) this.#drop(id, found);
  }

  #drop(id: number, found: Waiting): void {
    this.#prompts.delete(id);
    this.#tokens -= found.tokens.length;
  }

  // Prompts are in the order of their age: the first that is fresh ends the walk.
  #expire(): void {
    const now = performance.now();
    for (const [id, waiting] of this.#prompts) {
      if (waiting.until > now) return;
      this.#drop(id, waiting);
    }
  }
}
