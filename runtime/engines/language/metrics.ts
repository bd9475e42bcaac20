import { Counter, Histogram, SECONDS } from '../../base/metrics.js';
import type { GenerateEvent } from '../contracts/language.js';

const TOKENS = new Counter('quern_tokens_total', 'Tokens by model: read from prompts, taken from a cache instead, and written.', [
  'model',
  'kind',
]);
const ENDED = new Counter('quern_generations_total', 'Generations by model and how they ended.', ['model', 'finish']);
const FIRST = new Histogram('quern_first_token_seconds', 'From the order of a generation to its first token.', ['model'], SECONDS);
const GAP = new Histogram('quern_token_gap_seconds', 'Between two tokens of a generation.', ['model'], SECONDS);

/** Counts the tokens of one generation of a model, and how soon they came. */
export class GenerationMetrics {
  readonly #model: string;
  readonly #asked = performance.now();
  #last = 0;
  #isEnded = false;

  constructor(model: string) {
    this.#model = model;
  }

  take({ tokens, finish, counts }: GenerateEvent): void {
    const now = performance.now();
    if (tokens > 0) {
      TOKENS.add([this.#model, 'written'], tokens);
      if (this.#last === 0) FIRST.observe([this.#model], (now - this.#asked) / 1000);
      else GAP.observe([this.#model], (now - this.#last) / 1000 / tokens);
      this.#last = now;
    }
    if (!finish) return;
    this.#isEnded = true;
    ENDED.add([this.#model, finish]);
    if (!counts) return;
    TOKENS.add([this.#model, 'read'], counts.prompt - counts.reused);
    TOKENS.add([this.#model, 'cached'], counts.reused);
  }

  /** The reader left, or the engine failed, before the end. */
  end(): void {
    if (!this.#isEnded) ENDED.add([this.#model, 'cut']);
  }
}
