import {
  FINISH_NONE,
  type NativeGenerateOptions,
  type NativeModelOptions,
  type NativeScheduler,
  type NativeSchedulerOptions,
  STEP_FIELDS,
} from '../../native/contract.js';
import { backendFolders, loadInference } from '../../native/loader.js';

/** Greedy, unconstrained, 16 tokens. */
export const GREEDY: NativeGenerateOptions = {
  maxTokens: 16,
  temperature: 0,
  topK: 0,
  topP: 1,
  minP: 0,
  repeatPenalty: 1,
  presencePenalty: 0,
  frequencyPenalty: 0,
  dryMultiplier: 0,
  dryBase: 1.75,
  dryAllowedLength: 2,
  seed: 1,
  deterministic: false,
  topLogprobs: -1,
  grammar: '',
  grammarStart: new Int32Array(0),
  biasTokens: new Int32Array(),
  biasValues: new Float32Array(),
  thinkingBudget: -1,
  thinkStart: new Int32Array(),
  thinkEnd: new Int32Array(),
  startsInThinking: false,
  adapterIds: new Int32Array(),
  adapterScales: new Float32Array(),
};

/** One slot and small chunks: what most tests change a member of. */
export const SCHEDULER: NativeSchedulerOptions = {
  contextSize: 512,
  slots: 1,
  batch: 512,
  ubatch: 128,
  threads: 1,
  flashAttention: true,
  cacheTypeK: 'f16',
  cacheTypeV: 'f16',
  unifiedKv: false,
  warmUp: true,
};

/** Arithmetic whose rounding hardly depends on what else is in the batch; flash attention adds up in half precision. */
export const EXACT = { flashAttention: false, cacheTypeK: 'f32', cacheTypeV: 'f32' } as const;

/** On the CPU, mapped. */
export const MODEL: NativeModelOptions = { gpuLayers: 0, mmap: true, mlock: false };

/** The logprobs of one token. */
export interface TokenLogprobs {
  readonly logprob: number;
  readonly top: readonly { readonly token: number; readonly logprob: number }[];
}

/** A finished generation. */
export interface Outcome {
  readonly tokens: number[];
  readonly logprobs: TokenLogprobs[];
  finish: number;
  promptTokens: number;
  reused: number;
  generated: number;
  thinking: number;
  error: string;
}

interface Running {
  readonly outcome: Outcome;
  readonly onToken: ((count: number) => void) | undefined;
  readonly settle: (outcome: Outcome) => void;
}

/** A scheduler whose generations are promises. */
export class Generations {
  readonly #running = new Map<number, Running>();
  #scheduler: NativeScheduler | undefined;
  #nextId = 1;

  /** Opens a model; the options given replace those of `SCHEDULER` and `MODEL`. */
  static async open(
    path: string,
    options: Partial<NativeSchedulerOptions> = {},
    model: Partial<NativeModelOptions> = {},
  ): Promise<Generations> {
    const addon = loadInference();
    addon.loadBackends(backendFolders());
    const made = new Generations();
    made.#scheduler = await addon.open(
      path,
      { ...MODEL, ...model },
      { ...SCHEDULER, ...options },
      () => undefined,
      (rows, logprobs, error) => made.#take(rows, logprobs, error),
    );
    return made;
  }

  get scheduler(): NativeScheduler {
    if (!this.#scheduler) throw new Error('not open');
    return this.#scheduler;
  }

  /** Starts a generation; `onToken` runs inside the step callback with the number of tokens so far. */
  start(
    prompt: Int32Array,
    options: Partial<NativeGenerateOptions> = {},
    onToken?: (count: number) => void,
  ): { id: number; done: Promise<Outcome> } {
    const id = this.#nextId++;
    const outcome: Outcome = {
      tokens: [],
      logprobs: [],
      finish: FINISH_NONE,
      promptTokens: 0,
      reused: 0,
      generated: 0,
      thinking: 0,
      error: '',
    };
    this.scheduler.submit(id, prompt, { ...GREEDY, ...options });
    const done = new Promise<Outcome>((settle) => this.#running.set(id, { outcome, onToken, settle }));
    return { id, done };
  }

  /** A generation from start to end. */
  run(prompt: Int32Array, options: Partial<NativeGenerateOptions> = {}): Promise<Outcome> {
    return this.start(prompt, options).done;
  }

  /** Text to tokens, special ones parsed. */
  tokens(text: string): Int32Array {
    return this.scheduler.tokenize(text, false, true);
  }

  /** Tokens to text. */
  text(tokens: readonly number[]): string {
    return Buffer.concat(tokens.map((token) => this.scheduler.tokenBytes(token, true))).toString();
  }

  /** Closes the scheduler. */
  close(): Promise<void> {
    return this.scheduler.close();
  }

  #take(rows: Int32Array, logprobs: Float64Array, error: string): void {
    for (let at = 0; at < rows.length; at += STEP_FIELDS) {
      const [id, token, finish, promptTokens, reused, generated, thinking, offset] = rows.subarray(
        at,
        at + STEP_FIELDS,
      ) as unknown as number[];
      const running = this.#running.get(id!);
      if (!running) throw new Error(`a row for generation ${id}, which is not running`);
      const { outcome } = running;
      if (token! >= 0) outcome.tokens.push(token!);
      if (offset! >= 0) outcome.logprobs.push(readLogprobs(logprobs, offset!));
      Object.assign(outcome, { finish, promptTokens, reused, generated, thinking });
      running.onToken?.(outcome.tokens.length);
      if (finish === FINISH_NONE) continue;
      outcome.error = error;
      this.#running.delete(id!);
      running.settle(outcome);
    }
  }
}

function readLogprobs(values: Float64Array, offset: number): TokenLogprobs {
  const count = values[offset + 1]!;
  const top = Array.from({ length: count }, (_, i) => ({ token: values[offset + 2 + 2 * i]!, logprob: values[offset + 3 + 2 * i]! }));
  return { logprob: values[offset]!, top };
}
