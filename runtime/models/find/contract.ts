import type { Pooling } from '../../engines/contracts/encoder.js';

/** Where models are looked for. */
export interface ModelPlaces {
  /** `{data_dir}/models`. */
  readonly folder: string;
  readonly builtIn: string;
  /** The hub cache of this user. */
  readonly hub: string;
}

/** What the alias table knows about a model that its repository may not say. */
export interface AliasFacts {
  readonly pooling?: Pooling;
  readonly maxLength?: number;
  /** Of the weights, as a download tells it. */
  readonly licence?: string;
  /** The format that is fetched unless another is named. */
  readonly format?: string;
  readonly head?: 'embedding' | 'reranking' | 'classification' | 'ner';
}

/** What a name means, whatever kind of model it is. */
interface Found {
  /** The name without quantisation, as the caller gave it; it goes into the cache key. */
  readonly id: string;
  /** As asked, upper case, such as `Q4_K_M` or `INT8`; null without a wish. */
  readonly quantisation: string | null;
  /** Absolute; settings and vocabularies lie there. */
  readonly folder: string;
  /** What the caller should know of the choice, such as another quantisation than the one asked for. */
  readonly notes: readonly string[];
}

/** A repository of a model on disk: a folder below `{data_dir}/models`, a snapshot of the hub cache, or an absolute folder. */
export interface FoundRepository extends Found {
  /** Non-empty files below the folder, relative, with '/', sorted. */
  readonly files: readonly string[];
  readonly source: 'folder' | 'hub';
  /** The repository that stands in for `id` where the alias table named one, else `id`. */
  readonly repository: string;
  readonly facts: AliasFacts;
}

/** In what files weights lie; `ggml` and `ctranslate2` are those of Whisper. */
type ModelFormat = 'gguf' | 'onnx' | 'ggml' | 'ctranslate2';

/** A model on disk whose files are chosen, whatever kind it is of. */
export interface FoundModel<Format extends ModelFormat = 'gguf' | 'onnx'> extends Found {
  readonly format: Format;
  /** The files with weights that are opened, absolute, the main one first. Of a split GGUF file the first part. */
  readonly weights: readonly [string, ...string[]];
  /** Bytes of the weights, with all parts and what a graph keeps in other files. */
  readonly sizeBytes: number;
  readonly source: 'file' | 'built-in' | 'folder' | 'hub';
  readonly facts: AliasFacts;
}
