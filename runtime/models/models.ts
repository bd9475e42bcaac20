import { basename, join } from 'node:path';
import type { GgufInfo, GgufModel, GgufOptions } from '../engines/contract.js';
import type { GgufClient } from '../engines/gguf/client.js';
import { Circuit } from '../hosts/circuit.js';
import { availableMemory, defaultThreads } from '../hosts/memory.js';
import { log } from '../log.js';
import { cacheKey } from './key.js';
import { type ResidencyLimits, residencyLimits } from './limits.js';
import { Residency } from './residency.js';
import { type FoundModel, findModel, knownModels, type ModelPlaces, modelPlaces } from './resolve.js';
import { TemplateMemory } from './template-memory.js';

/** Weights may fill this much of the free memory before idle models make room. */
const ROOM_SHARE = 0.8;
/** Circuits kept by cache key; quiet ones go first. */
const CIRCUIT_LIMIT = 256;
const SURE = /^(1|true|yes)$/i;

/** A model in memory, for listings. */
export interface LoadedModel {
  readonly key: string;
  readonly type: 'language';
  readonly info: GgufInfo;
  /** Requests that use it now. */
  readonly uses: number;
  readonly pid: number | undefined;
}

/** A model in use. */
export interface AcquiredModel {
  readonly model: GgufModel;
  readonly key: string;
  /** Gives the model back; calls after the first do nothing. */
  release(): void;
}

/** What `Models` is made with; all but the data directory has defaults. */
export interface ModelsParts {
  readonly dataDir: string;
  readonly places?: Partial<ModelPlaces>;
  readonly limits?: Partial<ResidencyLimits>;
}

/** The language models of this machine: finds them by name, loads each once into its own host process, and unloads what is idle. */
export class Models {
  readonly #places: ModelPlaces;
  readonly #residency: Residency<GgufClient>;
  readonly #templates: TemplateMemory;
  readonly #circuits = new Map<string, Circuit>();
  /** Memory promised to loads that are under way, so that two at once do not both count on it. */
  #promisedBytes = 0;

  constructor(parts: ModelsParts) {
    this.#places = { ...modelPlaces(parts.dataDir), ...parts.places };
    this.#templates = new TemplateMemory(join(parts.dataDir, 'chat-templates.json'));
    this.#residency = new Residency({ ...residencyLimits(), ...parts.limits });
  }

  /**
   * A model ready to use: a file path, a built-in name or `org/repo[:QUANT]`. Throws `not_found` (code `ModelNotFound`), `invalid` for a
   * file or options that cannot work, `unavailable` when its engine crashes or is held back after crashes.
   */
  async acquire(name: string, options: GgufOptions, signal: AbortSignal, { keepLoaded = false } = {}): Promise<AcquiredModel> {
    const found = await findModel(name, this.#places);
    signal.throwIfAborted();
    const key = cacheKey(found.id, found.quantisation, options);
    const load = (stop: AbortSignal) => this.#load(name, found, key, options, stop);
    const { resident, release } = await this.#residency.acquire({ key, keep: keepLoaded, load }, signal);
    return { model: resident, key, release };
  }

  /** Models in memory, first loaded first. */
  loaded(): LoadedModel[] {
    return this.#residency
      .loaded()
      .map(({ key, resident, uses }) => ({ key, type: 'language', info: resident.info, uses, pid: resident.pid }));
  }

  /** Names of the models on this machine, the built-in ones first. */
  known(): Promise<string[]> {
    return knownModels(this.#places);
  }

  /** One line for `/health`: what is loaded or loading, else what could be, and whether that is only the built-in stand-in. */
  async health(): Promise<{ status: 'healthy' | 'degraded'; message: string }> {
    const loaded = this.loaded().map(({ info }) => `${info.name} (${info.devices.used.join(', ') || 'CPU'})`);
    const loading = this.#residency.loading();
    if (loaded.length > 0 || loading.length > 0) {
      const parts = [loaded.length > 0 ? `loaded: ${loaded.join(', ')}` : '', loading.length > 0 ? `loading: ${loading.join(', ')}` : ''];
      return { status: 'healthy', message: parts.filter((part) => part !== '').join('; ') };
    }
    const known = await this.known();
    if (known.length === 0) return { status: 'degraded', message: `no model is installed; put a .gguf file into ${this.#places.folder}` };
    return {
      status: 'healthy',
      message: `no model is loaded; ${known.length} known: ${known.slice(0, 5).join(', ')}${known.length > 5 ? ', ...' : ''}`,
    };
  }

  /** Ends every host; resolves when all processes are gone. */
  async close(): Promise<void> {
    await this.#residency.close();
  }

  async #load(name: string, found: FoundModel, key: string, options: GgufOptions, stop: AbortSignal): Promise<GgufClient> {
    const circuit = this.#circuit(key, name);
    circuit.check();
    const gguf = await import('../engines/gguf/index.js');
    const header = await gguf.ggufHeader(found.path);
    const model = found.quantisation === null ? found.id : `${found.id}:${found.quantisation}`;
    const changed = await this.#templates.note(model, gguf.templateHash(header.template));
    await this.#makeRoom(header.sizeBytes);
    const forceCpu = SURE.test(process.env.GGUF_FORCE_CPU ?? '');
    const plan = gguf.planLoad(header, options, { availableBytes: this.#freeBytes(), threads: defaultThreads(), forceCpu });
    this.#promisedBytes += plan.memoryBytes;
    const started = performance.now();
    try {
      const client = await gguf.GgufClient.load(
        { name, header, plan, circuit, notes: [...(changed === null ? [] : [changed]), ...found.notes] },
        stop,
      );
      const { contextSize, options: used, devices, template, notes } = client.info;
      const seconds = ((performance.now() - started) / 1000).toFixed(1);
      log('info', `loaded ${name} in ${seconds} s`, {
        file: basename(found.path),
        contextSize,
        slots: used.n_slots,
        devices: devices.used.join(','),
        template: template.hash,
      });
      for (const note of notes) log('warn', `${name}: ${note}`);
      return client;
    } finally {
      this.#promisedBytes -= plan.memoryBytes;
    }
  }

  #freeBytes(): number {
    return Math.max(0, availableMemory() - this.#promisedBytes);
  }

  /** Unloads idle models while the weights do not fit beside them; a model that fits nowhere is tried with a small context. */
  async #makeRoom(sizeBytes: number): Promise<void> {
    while (this.#freeBytes() * ROOM_SHARE < sizeBytes && (await this.#residency.evictOne())) {
      // Each round frees one model.
    }
  }

  #circuit(key: string, name: string): Circuit {
    const known = this.#circuits.get(key);
    if (known) return known;
    if (this.#circuits.size >= CIRCUIT_LIMIT) {
      for (const [other, circuit] of this.#circuits) if (circuit.isQuiet) this.#circuits.delete(other);
    }
    const circuit = new Circuit(`Model ${name}`);
    this.#circuits.set(key, circuit);
    return circuit;
  }
}
