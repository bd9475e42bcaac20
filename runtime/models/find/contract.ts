import type { Pooling } from '../../engines/contracts/encoder.js';

/** What the alias table knows about a model that its repository may not say. */
export interface AliasFacts {
  readonly pooling?: Pooling;
  readonly maxLength?: number;
  readonly head?: 'embedding' | 'reranking' | 'classification' | 'ner';
}

/** A repository of a model on disk: a folder below `{data_dir}/models`, a snapshot of the hub cache, or an absolute folder. */
export interface FoundRepository {
  /** The name without quantisation, as the caller gave it. */
  readonly id: string;
  /** Upper case, null without a wish; for ONNX it picks among `model_int8.onnx`, `model_fp16.onnx`, `model_q4.onnx` and so on. */
  readonly quantisation: string | null;
  /** Absolute. */
  readonly folder: string;
  /** Non-empty files below it, relative, with '/', sorted. */
  readonly files: readonly string[];
  readonly source: 'folder' | 'hub';
  /** The repository that stands in for `id` where the alias table named one, else `id`. */
  readonly repository: string;
  readonly facts: AliasFacts;
  readonly notes: readonly string[];
}
