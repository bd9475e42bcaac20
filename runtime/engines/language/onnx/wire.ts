import type { RecommendedSampling } from '../../../formats/recommended.js';
import type { ProviderFacts } from '../../onnx/contract.js';

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
