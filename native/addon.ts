import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Failure } from '../schemas/errors.js';
import type {
  InferenceAddon,
  NativeEmbedder,
  NativeEmbedderOptions,
  NativeGenerateOptions,
  NativeModelInfo,
  NativeModelOptions,
  NativeScheduler,
  NativeSchedulerOptions,
  NativeSegment,
  NativeTranscribeOptions,
  NativeTranscriber,
  NativeTranscriberOptions,
  OnStep,
} from './contract.js';
import { asFailure, raised, settled } from './raised.js';

const ROOT = join(import.meta.dirname, '../..');
const BINARY = join(ROOT, 'build/native/Release/quern_inference.node');
/** Where the engine's packages lie: in a clone; those of a build from source in a package; beside us, where npm has installed us as a package. */
const PACKAGES = ['node_modules', 'build/kit/node_modules', '..'].map((home) => join(ROOT, home, '@node-llama-cpp'));
const REBUILD = 'run npm start, which builds it';

/** What each platform's packages are called, the one with the CPU libraries first. */
const PLATFORM_PACKAGES: Readonly<Record<string, readonly string[]>> = {
  'linux-x64': ['linux-x64', 'linux-x64-vulkan', 'linux-x64-cuda'],
  'linux-arm64': ['linux-arm64', 'linux-arm64-vulkan'],
  'linux-arm': ['linux-armv7l'],
  'darwin-arm64': ['mac-arm64-metal'],
  'darwin-x64': ['mac-x64'],
};

/** Where the libraries of one package are, or would be. */
function libraryFolder(name: string): string {
  const folders = PACKAGES.map((packages) => join(packages, name, 'bins', name));
  return folders.find((folder) => existsSync(folder)) ?? folders[0]!;
}

/** Folders for `loadBackends`: the installed engine packages of this platform, then the operator's own plug-ins (`QUERN_BACKENDS_DIR`). */
export function backendFolders(): string[] {
  const packages = PLATFORM_PACKAGES[`${process.platform}-${process.arch}`] ?? [];
  const own = process.env.QUERN_BACKENDS_DIR;
  return [...packages.map(libraryFolder), ...(own ? [own] : [])].filter((folder) => existsSync(folder));
}

/** The C++ object with our failures. */
class Scheduler implements NativeScheduler {
  readonly info: NativeModelInfo;
  readonly contextSize: number;
  readonly stateStreams: number;
  readonly #native: NativeScheduler;

  constructor(native: NativeScheduler) {
    this.#native = native;
    this.info = native.info;
    this.contextSize = native.contextSize;
    this.stateStreams = native.stateStreams;
  }

  tokenize(text: string, addSpecial: boolean, parseSpecial: boolean): Int32Array {
    return raised(() => this.#native.tokenize(text, addSpecial, parseSpecial));
  }

  tokenizeLong(text: string, addSpecial: boolean, parseSpecial: boolean): Promise<Int32Array> {
    return settled(() => this.#native.tokenizeLong(text, addSpecial, parseSpecial));
  }

  tokenBytes(token: number, special: boolean): Uint8Array {
    return raised(() => this.#native.tokenBytes(token, special));
  }

  isEndOfGeneration(token: number): boolean {
    return raised(() => this.#native.isEndOfGeneration(token));
  }

  submit(id: number, tokens: Int32Array, options: NativeGenerateOptions): void {
    raised(() => this.#native.submit(id, tokens, options));
  }

  abort(id: number): void {
    raised(() => this.#native.abort(id));
  }

  stats(): Record<string, number> {
    return raised(() => this.#native.stats());
  }

  saveState(...asked: Parameters<NativeScheduler['saveState']>): ReturnType<NativeScheduler['saveState']> {
    return settled(() => this.#native.saveState(...asked));
  }

  restoreState(...asked: Parameters<NativeScheduler['restoreState']>): ReturnType<NativeScheduler['restoreState']> {
    return settled(() => this.#native.restoreState(...asked));
  }

  dropState(file: string): boolean {
    return raised(() => this.#native.dropState(file));
  }

  loadAdapter(file: string): Promise<number> {
    return settled(() => this.#native.loadAdapter(file));
  }

  dropAdapter(id: number): Promise<void> {
    return settled(() => this.#native.dropAdapter(id));
  }

  async close(): Promise<void> {
    await this.#native.close();
  }
}

/** The C++ embedder with our failures. */
class Embedder implements NativeEmbedder {
  readonly info: NativeModelInfo;
  readonly contextSize: number;
  readonly dimensions: number;
  readonly pooling: NativeEmbedder['pooling'];
  readonly poolingKnown: boolean;
  readonly #native: NativeEmbedder;

  constructor(native: NativeEmbedder) {
    this.#native = native;
    this.info = native.info;
    this.contextSize = native.contextSize;
    this.dimensions = native.dimensions;
    this.pooling = native.pooling;
    this.poolingKnown = native.poolingKnown;
  }

  tokenize(text: string, kind?: 'plain' | 'template'): Int32Array {
    return raised(() => this.#native.tokenize(text, kind));
  }

  embed(tokens: Int32Array, lengths: Int32Array): Promise<Float32Array> {
    return settled(() => this.#native.embed(tokens, lengths));
  }

  async close(): Promise<void> {
    await this.#native.close();
  }
}

/** The C++ transcriber with our failures. */
class Transcriber implements NativeTranscriber {
  readonly multilingual: boolean;
  readonly audioLayers: number;
  readonly textLayers: number;
  readonly #native: NativeTranscriber;

  constructor(native: NativeTranscriber) {
    this.#native = native;
    this.multilingual = native.multilingual;
    this.audioLayers = native.audioLayers;
    this.textLayers = native.textLayers;
  }

  transcribe(samples: Float32Array, options: NativeTranscribeOptions, onSegment: (segment: NativeSegment) => void): Promise<string> {
    return settled(() => this.#native.transcribe(samples, options, onSegment));
  }

  stop(): void {
    this.#native.stop();
  }

  async close(): Promise<void> {
    await this.#native.close();
  }
}

/** The reason why the binary does not load, and what mends it. */
function loadFailure(error: unknown): Failure {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  if (!existsSync(BINARY)) return new Failure('unavailable', `The native addon is not built: ${REBUILD}.`, { cause: error });
  if (/libllama|libggml/.test(reason))
    return new Failure('unavailable', `The engine libraries of node-llama-cpp are missing or damaged (${reason}): run npm ci.`, {
      cause: error,
    });
  return new Failure('unavailable', `The native addon does not load (${reason}): delete build/native and ${REBUILD}.`, { cause: error });
}

/** Struct layouts follow one llama.cpp tag, so another one must not be called at all. */
function requireTag(compiled: string): void {
  const folder = PLATFORM_PACKAGES[`${process.platform}-${process.arch}`]?.map(libraryFolder)[0];
  const file = folder === undefined ? '' : join(folder, '_nlcBuildMetadata.json');
  if (!existsSync(file))
    throw new Failure(
      'unavailable',
      `The inference engine's package for ${process.platform}-${process.arch} is not installed: run npm ci.`,
    );
  const installed: unknown = JSON.parse(readFileSync(file, 'utf8'))?.buildOptions?.llamaCpp?.release;
  if (installed === compiled) return;
  throw new Failure(
    'unavailable',
    `The native addon was compiled for llama.cpp ${compiled}, but ${String(installed)} is installed: run npm ci, then ${REBUILD}.`,
  );
}

let loaded: InferenceAddon | undefined;

/**
 * Loads `quern_inference.node`, once per process. Only for an engine host: a damaged model can end the process.
 * Throws Failure('unavailable') with the remedy when it is not built, does not load, or does not fit the installed engine.
 */
export function loadInference(): InferenceAddon {
  if (loaded) return loaded;
  let native: InferenceAddon;
  try {
    native = createRequire(import.meta.url)(BINARY) as InferenceAddon;
  } catch (error) {
    throw loadFailure(error);
  }
  requireTag(native.llamaTag);
  loaded = {
    llamaTag: native.llamaTag,
    loadBackends: (folders) => raised(() => native.loadBackends(folders)),
    open: async (
      path: string,
      model: NativeModelOptions,
      scheduler: NativeSchedulerOptions,
      onProgress: (fraction: number) => void,
      onStep: OnStep,
    ) => {
      try {
        return new Scheduler(await native.open(path, model, scheduler, onProgress, onStep));
      } catch (error) {
        throw asFailure(error);
      }
    },
    openEmbedder: async (path: string, model: NativeModelOptions, embedder: NativeEmbedderOptions) =>
      new Embedder(await settled(() => native.openEmbedder(path, model, embedder))),
    openTranscriber: async (path: string, options: NativeTranscriberOptions) =>
      new Transcriber(await settled(() => native.openTranscriber(path, options))),
  };
  return loaded;
}
