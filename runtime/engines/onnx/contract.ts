/** Element types that cross to ONNX Runtime, each with the array that carries it; float16 travels as its bits. */
export type TensorType = 'float32' | 'float16' | 'int64' | 'int32' | 'uint8' | 'int8' | 'bool';

/** A dense tensor, last dimension fastest. */
export interface Tensor {
  readonly type: TensorType;
  readonly dims: readonly number[];
  readonly data: Float32Array | Uint16Array | BigInt64Array | Int32Array | Uint8Array | Int8Array;
}

/** An input or output of a graph; a dimension that varies has a name or -1. */
export interface TensorSlot {
  readonly name: string;
  readonly type: string;
  readonly dims: readonly (number | string)[];
}

/** Where a session runs: what was asked for, what this machine's build offers, what is used, and why not what was asked for. */
export interface ProviderFacts {
  readonly requested: string;
  readonly available: readonly string[];
  readonly used: readonly string[];
  readonly why: string | null;
}

/** How a session is opened. */
export interface OnnxOptions {
  readonly threads: number;
  /** `auto` = the best that is offered and works, else an execution provider's name such as `cpu`, `cuda`, `coreml`, `dml`, `webgpu`. */
  readonly provider: string;
  /** True where runs differ in their shapes, so that memory does not grow with each new one; default false. */
  readonly shapesVary?: boolean;
  /** True where convolutions of bytes may be computed in floats, on processors where that is faster: weights then take four times their bytes; default false. */
  readonly floatConvolutions?: boolean;
  /** The model's folder: messages name the graph by its place below it; by its file alone where it is left out. */
  readonly folder?: string;
}

/** An open graph; lives in a host process only, where `run` blocks the thread. */
export interface OnnxSession {
  /** The graph as messages name it. */
  readonly file: string;
  readonly inputs: readonly TensorSlot[];
  readonly outputs: readonly TensorSlot[];
  readonly providers: ProviderFacts;
  /** The named outputs, all when left out. Throws `Failure('invalid')` for feeds that do not fit the inputs, `model_failed` when the run fails. */
  run(feeds: Readonly<Record<string, Tensor>>, outputs?: readonly string[]): Promise<Record<string, Tensor>>;
  close(): Promise<void>;
}
