import { existsSync, readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { Failure } from '../schemas/errors.js';
import type { CoreAddon, InferenceAddon, NativeAddon } from './contract.js';

const ROOT = join(import.meta.dirname, '../..');
const CORE = join(ROOT, 'build/native/Release/quern_core.node');
const INFERENCE = join(ROOT, 'build/native/Release/quern_inference.node');
const REBUILD = 'run npm start, which builds it';

let core: CoreAddon | undefined;
let inference: InferenceAddon | undefined;

/** The exports of a binary in this thread, which raise our failures from now on. */
function withFailures<Addon extends NativeAddon>(native: Addon): Addon {
  native.install(Failure);
  return native;
}

/** Loads `quern_core.node`, once per thread. Throws Failure('unavailable') with the remedy when it is not built or does not load. */
export function loadCore(): CoreAddon {
  if (core) return core;
  try {
    core = withFailures(createRequire(import.meta.url)(CORE) as CoreAddon);
  } catch (error) {
    const reason = existsSync(CORE) ? 'does not load: delete build/native and' : 'is not built:';
    throw new Failure('unavailable', `The native core ${reason} ${REBUILD}.`, { cause: error });
  }
  return core;
}

/**
 * Loads `quern_inference.node`, once per thread. Only for an engine host: a damaged model can end the process.
 * Throws Failure('unavailable') with the remedy when it is not built, does not load, or does not fit the installed engine.
 */
export function loadInference(): InferenceAddon {
  if (inference) return inference;
  let native: InferenceAddon;
  try {
    native = createRequire(import.meta.url)(INFERENCE) as InferenceAddon;
  } catch (error) {
    throw inferenceFailure(error);
  }
  requireTag(native.llamaTag);
  inference = withFailures(native);
  return inference;
}

/** Why `quern_inference.node` does not load, and what mends it. */
function inferenceFailure(error: unknown): Failure {
  const reason = error instanceof Error ? (error.message.split('\n')[0] ?? '') : String(error);
  if (!existsSync(INFERENCE)) return new Failure('unavailable', `The native addon is not built: ${REBUILD}.`, { cause: error });
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

/** Where the engine's packages lie: in a clone; those of a build from source in a package; beside us, where npm has installed us as a package. */
const PACKAGES = ['node_modules', 'build/kit/node_modules', '..'].map((home) => join(ROOT, home, '@node-llama-cpp'));

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
