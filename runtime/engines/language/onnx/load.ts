import { basename } from 'node:path';
import type { RecommendedSampling } from '../../../formats/recommended.js';
import type { CircuitBreaker } from '../../../hosts/circuit-breaker.js';
import { defaultThreads } from '../../../hosts/memory.js';
import type { LanguageInfo, LanguageOptions } from '../../contracts/language.js';
import type { ProviderFacts } from '../../onnx/contract.js';
import { LanguageClient } from '../client.js';
import { templateFacts } from '../templates/known-templates.js';

/** Asks a fresh host to open a text-generation graph. */
export interface OpenBody {
  readonly folder: string;
  readonly graph: string;
  readonly threads: number;
  readonly provider: string;
  /** Tokens of context at most; below what the model was made for. */
  readonly contextSize: number | null;
}

/** What an opened graph is. */
export interface OpenedExport {
  readonly architecture: string;
  readonly contextSize: number;
  readonly trainedContextSize: number;
  /** As in `LanguageInfo`. */
  readonly longestToken?: number;
  /** Of the files; empty without one. */
  readonly ownTemplate: string;
  /** Jinja text that conversations are written by: the files', or one in its place. */
  readonly template: string;
  readonly sampling: RecommendedSampling;
  readonly devices: ProviderFacts;
  readonly notes: readonly string[];
}

const ENGINE = new URL('./entry.js', import.meta.url);

/** What `loadExport` needs. */
interface ExportLoad {
  /** As the caller named it. */
  readonly name: string;
  /** With `config.json` and `tokenizer.json`. */
  readonly folder: string;
  /** The graph. */
  readonly graph: string;
  readonly sizeBytes: number;
  readonly options: LanguageOptions;
  /** `auto`, `cpu`, or an execution provider's name. */
  readonly device: string;
  readonly circuit: CircuitBreaker;
  readonly notes: readonly string[];
}

/** Loads an ONNX export for text generation into a host; to the daemon it is a language model like any other, but for saved KV states. */
export function loadExport(load: ExportLoad, stop: AbortSignal): Promise<LanguageClient> {
  const { name, folder, graph, options, device, circuit } = load;
  const provider = options.n_gpu_layers === 0 ? 'cpu' : device === 'mps' ? 'coreml' : device;
  const threads = options.n_threads ?? defaultThreads();
  const body: OpenBody = { folder, graph, threads, provider, contextSize: options.n_ctx ?? null };
  const describe = (opened: unknown): LanguageInfo => infoOf(load, opened as OpenedExport, threads);
  return LanguageClient.open({ name, engine: ENGINE, circuit, body, describe }, stop);
}

function infoOf({ name, graph, sizeBytes, notes, options }: ExportLoad, opened: OpenedExport, threads: number): LanguageInfo {
  const { architecture, contextSize, trainedContextSize, longestToken, ownTemplate, template, sampling, devices } = opened;
  const ignored = Object.keys(options).filter((option) => !['n_ctx', 'n_threads', 'n_gpu_layers'].includes(option));
  const note = `${ignored.join(', ')}: of GGUF models only; ${basename(graph)} is ONNX.`;
  return {
    path: graph,
    name,
    architecture,
    sizeBytes,
    contextSize,
    trainedContextSize,
    ...(longestToken === undefined ? {} : { longestToken }),
    options: { n_ctx: contextSize, n_slots: 1, n_gpu_layers: options.n_gpu_layers ?? -1, n_threads: threads },
    template: templateFacts(ownTemplate, template),
    sampling,
    devices: { ...devices, available: [...devices.available], used: [...devices.used] },
    notes: [...notes, ...opened.notes, ...(ignored.length > 0 ? [note] : [])],
  };
}
