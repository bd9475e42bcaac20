import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { GgufHeader } from '../../formats/gguf/header.js';
import type { Circuit } from '../../hosts/circuit.js';
import type { Host } from '../../hosts/host.js';
import { fromWire } from '../../hosts/protocol.js';
import { Supervisor } from '../../hosts/supervisor.js';
import type { GenerateEvent, GenerateRequest, GgufInfo, GgufModel, PreparedPrompt, PrepareRequest } from '../contracts/language.js';
import type { EngineStatus, LoadedEngine } from '../contracts/loaded.js';
import { ClientStates } from './client-states.js';
import { type LoadPlan, optionsOf } from './gguf/plan.js';
import { EventStream } from './stream.js';
import { templateFacts } from './templates/template-facts.js';
import type { GenerateBody, HostEvent, OpenBody, OpenedModel } from './wire.js';

const ENGINE = new URL('./gguf/entry.js', import.meta.url);
/** As in the host: a prompt serves one generation within this time. */
const PROMPT_KEPT_MS = 60_000;
const ID_LIMIT = 2 ** 31 - 1;
/** A prompt whose first token came later is named in the log. */
const LONG_READ_MS = 2_000;

/** What `GgufClient.load` needs. */
export interface GgufLoad {
  /** The model as the caller named it, for messages. */
  readonly name: string;
  readonly header: GgufHeader;
  readonly plan: LoadPlan;
  readonly circuit: Circuit;
  /** Notes from before, such as of another quantisation, listed first. */
  readonly notes: readonly string[];
  readonly onProgress?: (fraction: number) => void;
}

/** A language model of any engine whose host takes the calls and sends the events of `wire.ts`. */
export interface LanguageParts {
  /** The model as the caller named it, for messages. */
  readonly name: string;
  /** Module that exports `openEngine`. */
  readonly engine: URL;
  readonly circuit: Circuit;
  /** Given to the engine's method `open` in each life. */
  readonly body: unknown;
  /** What the model is, by what opening it gave. */
  readonly describe: (opened: unknown) => GgufInfo;
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

/** A GGUF model in its host process, from the daemon's side. */
export class GgufClient implements GgufModel, LoadedEngine {
  readonly #supervisor: Supervisor<unknown>;
  readonly #running = new Map<number, Running>();
  readonly #prepared = new Map<number, Prepared>();
  #states: ClientStates | undefined;
  #info: GgufInfo | undefined;
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
  static async load(load: GgufLoad, signal: AbortSignal): Promise<GgufClient> {
    const { header, plan } = load;
    const { controlTexts, bosText, eosText } = header.vocabulary;
    const { isLongRope } = header;
    const body: OpenBody = { path: header.path, plan, isLongRope, template: header.template, controlTexts, bosText, eosText };
    const describeOpened = (opened: unknown): GgufInfo => describe(load, opened as OpenedModel);
    const tag = (opened: unknown): string => (opened as OpenedModel).stateTag;
    return GgufClient.open({ ...load, engine: ENGINE, body, describe: describeOpened, stateTag: tag }, signal);
  }

  /** The same for any engine that answers these calls. */
  static async open(parts: LanguageParts, signal: AbortSignal): Promise<GgufClient> {
    const client = new GgufClient(parts);
    const opened = await client.#supervisor.first(signal);
    client.#info = parts.describe(opened);
    for (const note of client.#info.notes) log('warn', `${parts.name}: ${note}`);
    if (parts.stateTag) client.#states = new ClientStates(() => client.#supervisor.ready(), parts.stateTag(opened));
    return client;
  }

  get states(): ClientStates | undefined {
    return this.#states;
  }

  get info(): GgufInfo {
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
    try {
      await host.call('generate', { ...request, id, promptId: prepared.promptId } satisfies GenerateBody, signal);
      const reading = new PromptReading(this.info.name);
      while (true) {
        const event = await stream.next(signal);
        reading.take(event);
        yield event;
        if (event.finish) return;
      }
    } finally {
      this.#running.delete(id);
      if (!stream.ended) host.call('abort', id).catch(() => {});
    }
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
    if (progress) this.#first ??= { ...progress, at: now };
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

function describe(load: GgufLoad, opened: OpenedModel): GgufInfo {
  const { header, plan } = load;
  const wanted = plan.gpuLayers !== 0;
  const others = opened.devices.filter((device) => device.kind !== 'cpu').map((device) => device.name);
  const used = opened.native.devices;
  const onOther = used.some((name) => others.includes(name));
  const why = !wanted
    ? 'GPU layers are set to 0'
    : others.length === 0
      ? 'no GPU or accelerator was found'
      : 'the engine placed no layer there';
  return {
    path: header.path,
    name: header.name,
    architecture: header.architecture,
    sizeBytes: header.sizeBytes,
    contextSize: Math.min(plan.contextSize, opened.contextSize),
    trainedContextSize: header.contextLength || opened.native.trainedContextSize,
    ...(header.vocabulary.longestToken === undefined ? {} : { longestToken: header.vocabulary.longestToken }),
    options: optionsOf(plan),
    template: templateFacts(header.template, opened.template),
    sampling: header.sampling,
    devices: {
      requested: wanted ? 'auto' : 'cpu',
      available: opened.devices.map((device) => device.name),
      used,
      why: onOther ? null : why,
    },
    notes: [...load.notes, ...header.notes, ...plan.notes, ...opened.notes],
  };
}
