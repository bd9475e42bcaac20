import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import type { Host } from '../../hosts/host.js';
import { fromWire } from '../../hosts/protocol.js';
import { type Life, Supervisor } from '../../hosts/supervisor.js';
import type {
  AdapterUse,
  GenerateEvent,
  GenerateRequest,
  LanguageInfo,
  LanguageModel,
  PreparedPrompt,
  PrepareRequest,
  PromptTexts,
  RestoredState,
  SavedState,
  SequenceStates,
} from '../contracts/language.js';
import type { EngineStatus, LoadedEngine } from '../contracts/loaded.js';
import { GenerationMetrics } from './metrics.js';
import { adaptedTag, type GenerateBody, type HostEvent, type RestoreBody, type SaveBody } from './wire.js';

/** As in the host: a prompt serves one generation within this time. */
const PROMPT_KEPT_MS = 60_000;
const ID_LIMIT = 2 ** 31 - 1;
/** A prompt whose first token came later is named in the log. */
const LONG_READ_MS = 2_000;

/** A language model of any engine whose host takes the calls and sends the events of `wire.ts`. */
interface LanguageParts {
  /** The model as the caller named it, for messages. */
  readonly name: string;
  /** Module that exports `openEngine`. */
  readonly engine: URL;
  readonly circuit: CircuitBreaker;
  /** Given to the engine's method `open` in each life. */
  readonly body: unknown;
  /** What the model is, by what opening it gave. */
  readonly describe: (opened: unknown) => LanguageInfo;
  /** `SequenceStates.tag`; absent where the engine cannot copy its KV memory. */
  readonly stateTag?: (opened: unknown) => string;
  readonly onProgress?: (fraction: number) => void;
}

interface Prepared {
  readonly host: Host;
  readonly promptId: number;
  readonly until: number;
}

interface Running {
  readonly host: Host;
  readonly stream: EventStream;
}

/** A language model in its host process, from the daemon's side. */
export class LanguageClient implements LanguageModel, LoadedEngine {
  readonly #supervisor: Supervisor<unknown>;
  readonly #running = new Map<number, Running>();
  readonly #prepared = new Map<number, Prepared>();
  #states: HeldStates | undefined;
  #info: LanguageInfo | undefined;
  #nextGeneration = 1;
  #nextPrompt = 1;

  private constructor(parts: LanguageParts) {
    this.#supervisor = new Supervisor<unknown>({
      name: `model ${parts.name}`,
      engine: parts.engine,
      circuit: parts.circuit,
      open: (host) => host.call('open', parts.body),
      onEvent: (host, value) => this.#receive(host, value as HostEvent, parts.onProgress),
      onExit: (host, reason) => this.#lost(host, reason),
    });
  }

  /** Starts a host and loads the model in it. Throws what loading throws, or 'unavailable' when the signal is aborted meanwhile; the process is gone then. */
  static async open(parts: LanguageParts, signal: AbortSignal): Promise<LanguageClient> {
    const client = new LanguageClient(parts);
    const opened = await client.#supervisor.first(signal);
    client.#info = parts.describe(opened);
    for (const note of client.#info.notes) log('warn', `${parts.name}: ${note}`);
    if (parts.stateTag) client.#states = new HeldStates(() => client.#supervisor.ready(), parts.stateTag(opened));
    return client;
  }

  get states(): SequenceStates | undefined {
    return this.#states;
  }

  get info(): LanguageInfo {
    return this.#info!;
  }

  get status(): EngineStatus {
    const { devices, options, template, notes } = this.info;
    return { devices, options: { ...options, template: template.hash || 'none' }, notes };
  }

  /** Process id of the present host, for tests and status. */
  get pid(): number | undefined {
    return this.#supervisor.pid;
  }

  async prepare(request: PrepareRequest, signal: AbortSignal): Promise<PreparedPrompt> {
    const { host } = await this.#supervisor.ready(signal);
    const prepared = await host.call<PreparedPrompt>('prepare', request, signal);
    this.#expire();
    const promptId = this.#nextPrompt++;
    // An id of the host means another prompt after a restart; ours stays bound to the life that made it.
    this.#prepared.set(promptId, { host, promptId: prepared.promptId, until: performance.now() + PROMPT_KEPT_MS });
    return { ...prepared, promptId };
  }

  async render(request: PrepareRequest, signal: AbortSignal): Promise<PromptTexts> {
    const { host } = await this.#supervisor.ready(signal);
    return host.call<PromptTexts>('render', request, signal);
  }

  async textsOf(lists: readonly Int32Array[]): Promise<string[]> {
    const { host } = await this.#supervisor.ready();
    return host.call<string[]>('textsOf', lists);
  }

  async countTokens(texts: string[]): Promise<number[]> {
    const { host } = await this.#supervisor.ready();
    return host.call<number[]>('countTokens', texts);
  }

  /** Counters of the engine's scheduler, for status and tests. */
  async stats(): Promise<Record<string, number>> {
    const { host } = await this.#supervisor.ready();
    return host.call<Record<string, number>>('stats', null);
  }

  async *generate(request: GenerateRequest, signal: AbortSignal): AsyncGenerator<GenerateEvent, void, undefined> {
    signal.throwIfAborted();
    const prepared = this.#prepared.get(request.promptId);
    this.#prepared.delete(request.promptId);
    if (!prepared) throw new Failure('conflict', 'The prompt is gone: it serves one generation within 60 s; prepare it again.');
    const { host } = prepared;
    const id = this.#nextGeneration;
    this.#nextGeneration = (id % ID_LIMIT) + 1;
    const stream = new EventStream();
    this.#running.set(id, { host, stream });
    const figures = new GenerationMetrics(this.info.name);
    try {
      await host.call('generate', { ...request, id, promptId: prepared.promptId } satisfies GenerateBody, signal);
      const reading = new PromptReading(this.info.name);
      while (true) {
        const event = await stream.next(signal);
        reading.take(event);
        figures.take(event);
        yield event;
        if (event.finish) return;
      }
    } finally {
      figures.end();
      this.#running.delete(id);
      if (!stream.ended) host.call('abort', id).catch(() => {});
    }
  }

  adapted(adapters: readonly AdapterUse[]): LanguageModel {
    return {
      info: this.info,
      states: this.#states?.adapted(adapters),
      prepare: (request, signal) => this.prepare(request, signal),
      render: (request, signal) => this.render(request, signal),
      textsOf: (lists) => this.textsOf(lists),
      countTokens: (texts) => this.countTokens(texts),
      generate: (request, signal) => this.generate({ ...request, adapters }, signal),
    };
  }

  /** Ends the host; resolves when its memory is back. */
  close(): Promise<void> {
    return this.#supervisor.close();
  }

  #receive(host: Host, event: HostEvent, onProgress: ((fraction: number) => void) | undefined): void {
    if ('progress' in event) {
      onProgress?.(event.progress);
      return;
    }
    const { ids, texts, tokens, extras } = event;
    let next = 0;
    for (let index = 0; index < ids.length; index += 1) {
      const extra = extras[next]?.[0] === index ? extras[next++]![1] : undefined;
      const running = this.#running.get(ids[index]!);
      if (running?.host !== host) continue;
      const { failure, ...more } = extra ?? {};
      if (failure === undefined) running.stream.push({ text: texts[index]!, tokens: tokens[index]!, ...more });
      else running.stream.fail(fromWire(failure));
    }
  }

  #lost(host: Host, reason: Failure): void {
    this.#states?.lost(host);
    for (const running of this.#running.values()) if (running.host === host) running.stream.fail(reason);
  }

  // Prompts are in the order of their age: the first that is fresh ends the walk.
  #expire(): void {
    const now = performance.now();
    for (const [id, prepared] of this.#prepared) {
      if (prepared.until > now) return;
      this.#prepared.delete(id);
    }
  }
}

/** Follows how a prompt is read, and says in the log how fast a long one was. */
class PromptReading {
  readonly #model: string;
  readonly #asked = performance.now();
  #first: { read: number; of: number; at: number } | undefined;

  constructor(model: string) {
    this.#model = model;
  }

  take({ progress, tokens }: GenerateEvent): void {
    const now = performance.now();
    // What comes with the first tokens was not seen on its way.
    if (progress && tokens === 0) this.#first ??= { ...progress, at: now };
    if (tokens === 0 || !this.#first) return;
    const { read, of, at } = this.#first;
    this.#first = undefined;
    if (now - this.#asked < LONG_READ_MS) return;
    const seconds = (ms: number): number => Number((ms / 1000).toFixed(1));
    // The wait for a place is none of the reading.
    const tokensPerSecond = Math.round((of - read) / ((now - at) / 1000));
    log('info', `${this.#model} read a prompt of ${of} tokens`, { firstTokenAfterS: seconds(now - this.#asked), tokensPerSecond });
  }
}

/** The events of one generation on their way to a reader; what a slow reader has not taken is merged, so memory is bounded by the answer. */
class EventStream {
  #event: GenerateEvent | undefined;
  #error: unknown;
  #failed = false;
  #wake: (() => void) | undefined;
  /** True once the last event or a failure has come. */
  ended = false;

  push(event: GenerateEvent): void {
    if (this.ended) return;
    this.ended = event.finish !== undefined;
    this.#event = this.#event ? merged(this.#event, event) : event;
    this.#wake?.();
  }

  fail(error: unknown): void {
    if (this.ended) return;
    this.ended = true;
    this.#failed = true;
    this.#error = error;
    this.#wake?.();
  }

  /** All that came since the last call, or the next that comes; rejects with the failure, or with the signal's reason. */
  async next(signal: AbortSignal): Promise<GenerateEvent> {
    const wake = (): void => this.#wake?.();
    while (true) {
      signal.throwIfAborted();
      const event = this.#event;
      this.#event = undefined;
      if (event) return event;
      if (this.#failed) throw this.#error;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
        signal.addEventListener('abort', wake, { once: true });
      });
      signal.removeEventListener('abort', wake);
      this.#wake = undefined;
    }
  }
}

function merged(first: GenerateEvent, second: GenerateEvent): GenerateEvent {
  const out: GenerateEvent = { ...first, ...second, text: first.text + second.text, tokens: first.tokens + second.tokens };
  if (first.logprobs) out.logprobs = [...first.logprobs, ...(second.logprobs ?? [])];
  return out;
}

/** The KV states of a model from the daemon's side; knows which copies the present host holds in memory. */
class HeldStates implements SequenceStates {
  readonly #ready: () => Promise<Life<unknown>>;
  /** Files of the copies in memory, by the host that holds them. */
  readonly #held = new Map<string, Host>();

  constructor(
    ready: () => Promise<Life<unknown>>,
    readonly tag: string,
  ) {
    this.#ready = ready;
  }

  async save(name: string, file: string, keep: boolean): Promise<SavedState | null> {
    const { host } = await this.#ready();
    const saved = await host.call<SavedState | null>('saveState', { name, file, keep } satisfies SaveBody);
    if (saved && keep) this.#held.set(file, host);
    return saved;
  }

  async restore(file: string, keep: boolean, adapters: readonly AdapterUse[] = []): Promise<RestoredState> {
    const { host } = await this.#ready();
    const restored = await host.call<RestoredState>('restoreState', { file, keep, adapters } satisfies RestoreBody);
    const isRead = restored.outcome === 'restored' || restored.outcome === 'present' || restored.outcome === 'unfit';
    if (isRead && keep) this.#held.set(file, host);
    return restored;
  }

  async drop(file: string): Promise<void> {
    const host = this.#held.get(file);
    this.#held.delete(file);
    if (host?.alive) await host.call('dropState', file);
  }

  holds(file: string): boolean {
    return this.#held.get(file)?.alive === true;
  }

  /** The states of texts that are made with these adapters. */
  adapted(adapters: readonly AdapterUse[]): SequenceStates {
    return {
      tag: adaptedTag(this.tag, adapters),
      save: (name, file, keep) => this.save(name, file, keep),
      restore: (file, keep) => this.restore(file, keep, adapters),
      drop: (file) => this.drop(file),
      holds: (file) => this.holds(file),
    };
  }

  /** Forgets what a host held that has ended. */
  lost(host: Host): void {
    for (const [file, holder] of this.#held) if (holder === host) this.#held.delete(file);
  }
}
