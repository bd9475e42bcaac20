import type { EncoderTask, EncoderUrgency, Entity, HeadProblem, Pooling } from '../../contracts/encoder.js';
import type { ProviderFacts } from '../../onnx/contract.js';

/** Asks a fresh host to load an encoder. */
export interface OpenBody {
  /** As the caller named the model, for messages. */
  readonly name: string;
  readonly task: EncoderTask;
  readonly model: string;
  readonly folder: string;
  readonly fallback: { readonly pooling?: Pooling; readonly maxLength?: number };
  readonly threads: number;
  readonly provider: string;
  /** `onnxruntime`: never the native pass. */
  readonly engine: 'auto' | 'native' | 'onnxruntime';
}

/** What a loaded encoder is. */
export interface OpenedEncoder {
  readonly architecture: string;
  readonly sizeBytes: number;
  readonly dimensions: number | null;
  readonly maxLength: number;
  readonly pooling: Pooling | null;
  readonly labels: readonly string[];
  readonly problem?: HeadProblem;
  readonly providers: ProviderFacts;
  /** What runs it. */
  readonly engine: 'native' | 'onnxruntime';
  readonly notes: readonly string[];
}

/** One slice of a call. `query` makes pairs with each text, `pairs` with the text of the same index. */
export interface CallBody {
  readonly texts: readonly string[];
  readonly query?: string;
  readonly pairs?: readonly string[];
  readonly urgency: EncoderUrgency;
  readonly maxLength?: number;
  /** As in `EncoderCall`. */
  readonly whole: boolean;
}

/** Answers of a slice as one array, `width` values per text, and each text's tokens. */
export interface NumbersReply {
  readonly values: Float32Array;
  readonly width: number;
  readonly tokens: readonly number[];
}

/** Entities of a slice. */
export interface EntitiesReply {
  readonly entities: Entity[][];
  readonly tokens: readonly number[];
}
