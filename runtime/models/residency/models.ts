import { join } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { realFile } from '../../base/files.js';
import type { Health } from '../../base/health.js';
import { log } from '../../base/log.js';
import type { AdapterUse, LanguageModel, LanguageOptions } from '../../engines/contracts/language.js';
import type { EngineStatus, LoadedEngine } from '../../engines/contracts/loaded.js';
import type { LanguageClient } from '../../engines/language/client.js';
import { CircuitBreaker } from '../../hosts/circuit-breaker.js';
import type { ModelPlaces } from '../find/contract.js';
import { findAdapters, findLanguage, type LanguageSettings } from '../find/language.js';
import { repositoriesOf, splitName, wholeId } from '../find/names.js';
import { knownModels, modelPlaces, namedModels } from '../find/places.js';
import { chatTemplateOf, TemplateMemory } from './chat-templates.js';
import { cacheKey, exportKey } from './key.js';
import { loadLanguage } from './language.js';
import { Residency, type ResidencyLimits, Room, residencyLimits } from './residency.js';

export type { LoadedEngine } from '../../engines/contracts/loaded.js';

/** Circuits kept by cache key; quiet ones go first. */
const CIRCUIT_LIMIT = 256;

/** A model in memory, for listings. */
export interface LoadedModel {
  /** In the format of `key.ts`. */
  readonly key: string;
  /** `language`, `encoder_embedding`, `ocr_tesseract` and so on (4-runtime-wire 1.2). */
  readonly type: string;
  readonly name: string;
  /** Requests that use it now. */
  readonly uses: number;
  /** How long it stays when nobody uses it any more; infinite for one that is kept. */
  readonly staysMs: number;
  readonly pid: number | undefined;
  readonly status: EngineStatus;
  /** What its scheduler counts, where it has one. */
  stats?(): Promise<Record<string, number>>;
}

/** How a language model is kept, and how it is run where it is an ONNX export. */
interface LanguageResidency {
  /** Never unloaded for being idle. */
  readonly keepLoaded?: boolean;
  /** As in `LoadRequest`. */
  readonly stayMs?: number | undefined;
  readonly transformers?: LanguageSettings;
}

/** A language model in use. */
export interface AcquiredModel {
  readonly model: LanguageModel;
  readonly key: string;
  /** Gives the model back; calls after the first do nothing. */
  release(): void;
}

/** A model of any kind, and how it is loaded when it is not in memory. */
interface HoldRequest<T extends LoadedEngine> {
  /** Requests of one key share one load. */
  readonly key: string;
  /** Where its weights lie; a copy that was loaded from elsewhere is let go. */
  readonly source?: string;
  readonly type: string;
  /** As the caller named it, for messages and listings. */
  readonly name: string;
  /** Memory that it will take, mostly the size of its weights. */
  readonly sizeBytes: number;
  /** Never unloaded for being idle. */
  readonly keepLoaded?: boolean;
  /** Unloaded when it is idle for so long, where that is less than the limit of all models. */
  readonly idleMs?: number;
  /** How long it stays after this use, whatever the limit of all models; 0 = no longer. */
  readonly stayMs?: number | undefined;
  /** The circuit counts the crashes of this key and is given to the supervisor of its host; `stop` is aborted when the load is given up. */
  readonly load: (circuit: CircuitBreaker, stop: AbortSignal) => Promise<T>;
}

/** A model of any kind in use. */
export interface Held<T> {
  readonly engine: T;
  readonly key: string;
  /** Gives the model back; calls after the first do nothing. */
  release(): void;
  /** Has whoever asks next load it anew, as its files turned out to be wrong; it is still to be given back. */
  discard(): void;
}

/** What `Models` is made with; all but the data directory has defaults. */
export interface ModelsParts {
  readonly dataDir: string;
  readonly places?: Partial<ModelPlaces>;
  readonly limits?: Partial<ResidencyLimits>;
  /** A language model whose chat template is not the one that it had first is refused. */
  readonly pinTemplates?: boolean;
  /** Free memory of the machine in bytes. */
  readonly availableMemory?: () => number;
}

/** An engine with what listings say of it. */
interface ListedEngine {
  readonly type: string;
  readonly name: string;
  readonly engine: LoadedEngine;
  close(): Promise<void>;
}

/** The models of this machine, of any kind: each is loaded once, shared by all who use it, and unloaded when idle or in the way of another. */
export class Models {
  /** Where models are looked for. */
  readonly places: ModelPlaces;
  readonly #residency: Residency<ListedEngine>;
  readonly #room: Room;
  readonly #templates: TemplateMemory;
  readonly #circuits = new CircuitsByKey();

  constructor(parts: ModelsParts) {
    this.places = { ...modelPlaces(parts.dataDir), ...parts.places };
    this.#templates = new TemplateMemory(join(parts.dataDir, 'chat-templates.json'), parts.pinTemplates);
    this.#residency = new Residency({ ...residencyLimits(), ...parts.limits });
    this.#room = new Room(() => this.#residency.evictOne(), parts.availableMemory);
  }

  /**
   * A language model ready to use: a file path, a built-in name or `org/repo[:QUANT]`, of GGUF or else of an ONNX export for text generation. Throws `not_found` (code `ModelNotFound`), `invalid`
   * for a file or options that cannot work, `unavailable` when its engine crashes or is held back after crashes.
   */
  async acquire(name: string, options: LanguageOptions, signal: AbortSignal, residency: LanguageResidency = {}): Promise<AcquiredModel> {
    const { keepLoaded = false, stayMs, transformers = {} } = residency;
    const found = await findLanguage(name, transformers, this.places);
    const source = await realFile(found.weights[0]);
    signal.throwIfAborted();
    const key = cacheKey(found.id, found.quantisation, options) + (found.format === 'onnx' ? exportKey(transformers) : '');
    const parts = { name, found, options, device: transformers.device ?? 'auto', room: this.#room, templates: this.#templates };
    const load = (circuit: CircuitBreaker, stop: AbortSignal): Promise<LanguageClient> => loadLanguage({ ...parts, circuit }, stop);
    const { engine, release } = await this.#take({ key, source, type: 'language', name, keepLoaded, stayMs, load }, signal);
    return { model: engine, key, release };
  }

  /**
   * A model of any kind, loaded where it is not. Room is made first: idle models go, least recently used first, whatever their kind. Throws
   * what loading throws, and `unavailable` while the circuit of its key is open.
   */
  hold<T extends LoadedEngine>(request: HoldRequest<T>, signal: AbortSignal): Promise<Held<T>> {
    const { sizeBytes } = request;
    const load = (circuit: CircuitBreaker, stop: AbortSignal): Promise<T> =>
      this.#room.promise(sizeBytes, () => request.load(circuit, stop));
    return this.#take({ ...request, load }, signal);
  }

  /** The LoRA adapters that a request names for a model; throws as `findAdapters` does, and `busy` where they do not fit into memory. */
  async adapters(
    name: string,
    wanted: readonly { readonly path: string; readonly scale?: number | null }[],
    transformers: LanguageSettings = {},
  ): Promise<AdapterUse[]> {
    const adapters = await findAdapters(await findLanguage(name, transformers, this.places), wanted, this.places);
    const sizeBytes = adapters.reduce((sum, one) => sum + one.sizeBytes, 0);
    if (sizeBytes > this.#room.freeBytes)
      throw new Failure(
        'busy',
        `The LoRA adapters have ${sizeBytes} bytes, and ${this.#room.freeBytes} of memory are free; try again later.`,
      );
    return adapters;
  }

  /** What a request's setting `chat_template` stands for; throws as `chatTemplateOf` does. Files are looked for in the models folder. */
  chatTemplate(setting: string): Promise<string> {
    return chatTemplateOf(setting, this.places.folder);
  }

  /** Resolves where a language model or encoder of this name is on this machine; throws as finding it does where none is, and `invalid` for an adapter. */
  async require(name: string): Promise<void> {
    const found = await findLanguage(name, {}, this.places).catch((error: unknown) => {
      if (!(error instanceof Failure) || error.code !== 'WrongModelType') throw error;
    });
    if (found?.format !== 'gguf') return;
    const { requireNoAdapter } = await import('../../formats/gguf/header.js');
    await requireNoAdapter(found.weights[0]);
  }

  /** Models in memory, first loaded first. */
  loaded(): LoadedModel[] {
    return this.#residency.loaded().map(({ key, resident: { type, name, engine }, uses, staysMs }) => {
      const stats = engine.stats ? { stats: () => engine.stats!() } : {};
      return { key, type, name, uses, staysMs, pid: engine.pid, status: engine.status, ...stats };
    });
  }

  /**
   * Unloads the models of a name or key, whatever they are loaded for and with, and without a quantisation in the name those of all; those in use go at the end of their use. Resolves to how many they are.
   */
  unload(nameOrKey: string): Promise<number> {
    return this.#residency.unload((one, key) => key === nameOrKey || isSameModel(nameOrKey, one.name));
  }

  /** Keys of the models on their way into memory. */
  loading(): string[] {
    return this.#residency.loading();
  }

  /** Keys of the models in memory and of those on their way into it. */
  keys(): string[] {
    return [...this.#residency.loaded().map(({ key }) => key), ...this.loading()];
  }

  /** Names of the models on this machine, the built-in ones first. */
  known(): Promise<string[]> {
    return knownModels(this.places);
  }

  /** One line for `/health`: what is loaded or loading, else what could be, and whether that is only the built-in stand-in. */
  async health(): Promise<Health> {
    const loaded = this.loaded().map(({ name, status }) => `${name} (${status.devices.used.join(', ') || 'cpu'})`);
    const loading = this.loading();
    if (loaded.length > 0 || loading.length > 0) {
      const parts = [loaded.length > 0 ? `loaded: ${loaded.join(', ')}` : '', loading.length > 0 ? `loading: ${loading.join(', ')}` : ''];
      return { status: 'healthy', message: parts.filter((part) => part !== '').join('; ') };
    }
    // Folders are looked through only where there is nothing else: this is asked often.
    const named = await namedModels(this.places);
    const known = named.length > 0 ? named : await this.known();
    if (known.length === 0) return { status: 'degraded', message: `no model is installed; put a .gguf file into ${this.places.folder}` };
    return {
      status: 'healthy',
      message: `no model is loaded; ${known.length} known: ${known.slice(0, 5).join(', ')}${known.length > 5 ? ', ...' : ''}`,
    };
  }

  /** Ends every host; resolves when all processes are gone. */
  async close(): Promise<void> {
    await this.#residency.close();
  }

  async #take<T extends LoadedEngine>(request: Omit<HoldRequest<T>, 'sizeBytes'>, signal: AbortSignal): Promise<Held<T>> {
    const { key, source, keepLoaded = false, idleMs, stayMs } = request;
    const load = (stop: AbortSignal): Promise<ListedEngine> => this.#load(request, stop);
    const { resident, release, discard } = await this.#residency.acquire({ key, source, keep: keepLoaded, idleMs, stayMs, load }, signal);
    // A key belongs to one kind of engine, so what lies under it is what its load makes.
    return { engine: resident.engine as T, key, release, discard };
  }

  async #load(request: Omit<HoldRequest<LoadedEngine>, 'sizeBytes'>, stop: AbortSignal): Promise<ListedEngine> {
    const { key, type, name } = request;
    const circuit = this.#circuits.of(key, name);
    circuit.check();
    const started = performance.now();
    const engine = await request.load(circuit, stop);
    const { devices, notes } = engine.status;
    log('info', `loaded ${name} in ${((performance.now() - started) / 1000).toFixed(1)} s`, { type, devices: devices.used.join(',') });
    for (const note of notes) log('warn', `${name}: ${note}`);
    return { type, name, engine, close: () => engine.close() };
  }
}

/** One circuit per model that was loaded or tried, which outlives the loads, so that crashes count together. */
class CircuitsByKey {
  readonly #circuits = new Map<string, CircuitBreaker>();

  /** The circuit of a cache key; `name` stands in its messages. */
  of(key: string, name: string): CircuitBreaker {
    const known = this.#circuits.get(key);
    if (known) return known;
    if (this.#circuits.size >= CIRCUIT_LIMIT) {
      for (const [other, circuit] of this.#circuits) if (circuit.isQuiet) this.#circuits.delete(other);
    }
    const circuit = new CircuitBreaker(`Model ${name}`);
    this.#circuits.set(key, circuit);
    return circuit;
  }
}

/** Whether a caller's name means a model in memory: case, aliases and what others write around a name make no difference, a quantisation only where it is given. */
function isSameModel(name: string, other: string): boolean {
  if (name === other) return true;
  const [wanted, loaded] = [splitName(name), splitName(other)];
  if (wanted.isPath || loaded.isPath) return false;
  const idsOf = ({ id }: { readonly id: string }): string[] => [wholeId(id), ...repositoriesOf(id)].map((one) => one.toLowerCase());
  const isSame = idsOf(wanted).some((id) => idsOf(loaded).includes(id));
  return isSame && (wanted.quantisation === null || wanted.quantisation === loaded.quantisation);
}
