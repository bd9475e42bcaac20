import type { GgufModel, GgufOptions } from '../engines/contract.js';
import type { Completion, CompletionRequest } from './contract.js';

/** What is done with a history that does not fit. */
export const TRUNCATION_STRATEGIES = ['sliding_window', 'keep_system', 'middle_out', 'summarize'] as const;

/** One of `TRUNCATION_STRATEGIES`. */
export type TruncationStrategy = (typeof TRUNCATION_STRATEGIES)[number];

/** One completion asked of the runtime, with its model and how to load it. */
export interface UniversalRequest extends CompletionRequest {
  /** As the client named it: file path, built-in name, or `org/repo[:QUANT]`. */
  model: string;
  options: GgufOptions;
  /** Shorten a history that does not fit (true), or fail with `context_length_exceeded` (false). */
  autoTruncate: boolean;
  /** Any text; unknown names mean `summarize`, as does absence. */
  truncationStrategy?: string | undefined;
  /** True = tools go into the prompt as text even where the template could render them. */
  injectTools?: boolean;
  /** True = the model stays in memory when it is idle. */
  keepLoaded?: boolean;
}

/** A model in use; `release` is called exactly once. */
export interface AcquiredModel {
  readonly model: GgufModel;
  readonly key: string;
  release(): void;
}

/** Where models come from; the `Models` class is one. */
export interface ModelSource {
  /** `keepLoaded` exempts the model from idle unloading. */
  acquire(id: string, options: GgufOptions, signal: AbortSignal, residency?: { keepLoaded?: boolean }): Promise<AcquiredModel>;
}

/** What opens completions; `Completions` is one. */
export interface CompletionSource {
  open(request: UniversalRequest, signal: AbortSignal): Promise<Completion>;
}
