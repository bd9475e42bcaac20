import type { ModelSource } from '../../runtime/completions/request.js';
import type {
  GenerateEvent,
  GenerateRequest,
  LanguageInfo,
  LanguageModel,
  LanguageOptions,
  PreparedPrompt,
  PrepareRequest,
  PromptTexts,
} from '../../runtime/engines/contracts/language.js';

const CHARS_PER_TOKEN = 4;
const TOKENS_PER_MESSAGE = 4;

/** What a scripted model does and is. */
export interface Script {
  /** Output per generation, in pieces; a function sees the request and its rendered prompt. */
  output?: string[] | ((request: GenerateRequest, prompt: PrepareRequest) => string[]);
  finish?: 'stop' | 'length';
  contextSize?: number;
  /** As in `LanguageInfo`. */
  longestToken?: number;
  template?: string;
  tools?: boolean;
  thinking?: boolean;
  sampling?: LanguageInfo['sampling'];
  endsInThinking?: boolean;
  /** Thrown by `prepare` when the template is given tools. */
  toolsFail?: Error;
  /** Thrown after this many events. */
  failAfter?: { events: number; error: Error };
  /** Never finishes. */
  endless?: boolean;
}

const LOADED: LanguageInfo['options'] = {
  n_ctx: 4096,
  n_slots: 1,
  n_batch: 512,
  n_ubatch: 512,
  n_gpu_layers: 0,
  n_threads: 1,
  flash_attn: true,
  use_mmap: true,
  use_mlock: false,
  cache_type_k: 'f16',
  cache_type_v: 'f16',
  kv_unified: false,
  warm_up: true,
};

/** A model that answers by script, to see what the completions ask of an engine; four characters are a token. */
export class ScriptedModel implements LanguageModel, ModelSource {
  readonly info: LanguageInfo;
  readonly prepared: PrepareRequest[] = [];
  readonly generated: GenerateRequest[] = [];
  readonly acquired: { id: string; options: LanguageOptions }[] = [];
  released = 0;
  running = 0;

  constructor(readonly script: Script = {}) {
    const { template = '', tools = false, thinking = false, contextSize = 4096 } = script;
    this.info = {
      path: '/x.gguf',
      name: 'scripted',
      architecture: 'llama',
      sizeBytes: 1,
      contextSize,
      trainedContextSize: contextSize,
      ...(script.longestToken === undefined ? {} : { longestToken: script.longestToken }),
      options: LOADED,
      template: { present: template !== '', text: template, hash: '', tools, thinking },
      sampling: script.sampling ?? {},
      devices: { requested: 'cpu', available: ['cpu'], used: ['cpu'], why: null },
      notes: [],
    };
  }

  async adapters() {
    return [];
  }

  async acquire(id: string, options: LanguageOptions) {
    this.acquired.push({ id, options });
    return {
      model: this,
      key: id,
      release: () => {
        this.released += 1;
      },
    };
  }

  async chatTemplate(setting: string): Promise<string> {
    return setting;
  }

  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedPrompt> {
    signal.throwIfAborted();
    if (request.tools && this.script.toolsFail) throw this.script.toolsFail;
    this.prepared.push(request);
    const text = request.messages.map((message) => message.content).join('') + JSON.stringify(request.tools ?? '');
    const promptTokens = Math.ceil(text.length / CHARS_PER_TOKEN) + request.messages.length * TOKENS_PER_MESSAGE;
    return { promptId: this.prepared.length - 1, promptTokens, endsInThinking: this.script.endsInThinking ?? false };
  }

  async render(request: PrepareRequest): Promise<PromptTexts> {
    const text = request.messages.map(({ role, content }) => `${role}: ${content}`).join('\n');
    return { text, tokens: new Int32Array(Math.ceil(text.length / CHARS_PER_TOKEN)) };
  }

  async textsOf(lists: readonly Int32Array[]): Promise<string[]> {
    return lists.map((tokens) => 'word'.repeat(tokens.length));
  }

  async countTokens(texts: string[]): Promise<number[]> {
    return texts.map((text) => Math.ceil(text.length / CHARS_PER_TOKEN));
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<GenerateEvent> {
    this.generated.push(request);
    this.running += 1;
    const { output = ['ok'], finish = 'stop', failAfter, endless } = this.script;
    const pieces = typeof output === 'function' ? output(request, this.prepared[request.promptId]!) : output;
    try {
      for (let n = 0; endless || n < pieces.length; n += 1) {
        await new Promise((resolve) => setImmediate(resolve));
        signal.throwIfAborted();
        if (failAfter?.events === n) throw failAfter.error;
        const text = pieces[n % pieces.length]!;
        const logprob = { token: text, logprob: -0.5, bytes: [...Buffer.from(text)] };
        yield {
          text,
          tokens: 1,
          ...(request.logprobs ? { logprobs: [{ ...logprob, top: Array.from({ length: 20 }, () => logprob) }] } : {}),
        };
      }
      yield { text: '', tokens: 0, finish, counts: { prompt: 7, reused: 0, generated: pieces.length, thinking: 0 } };
    } finally {
      this.running -= 1;
    }
  }
}
