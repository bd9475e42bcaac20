import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import type { InferenceSession, Tensor as OrtTensor } from 'onnxruntime-node';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { once } from '../../base/once.js';
import { fileName } from '../../formats/model-files.js';
import { graphFault, inspectGraph } from '../../formats/onnx/graph-file.js';
import { openBeside } from '../../formats/onnx/outside-weights.js';
import { availableMemory, withMemoryLimit } from '../../hosts/memory.js';
import type { OnnxOptions, OnnxSession, ProviderFacts, Tensor, TensorSlot, TensorType } from './contract.js';
import { withFloatConvolutions } from './float-convolutions.js';
import { chooseProviders } from './providers.js';

type Ort = typeof import('onnxruntime-node');

const THREAD_LIMIT = 256;
const SHOWN = 300;
/** Of the bytes of the weights, what is in memory while a graph is opened: as read, as numbers of 32 bits that were of 4, and arranged. */
const OPENING_FACTOR = 10;
/** And what its other numbers may take, which only its nodes tell the sizes of. */
const OPENING_BYTES = 1024 ** 3;
/** Of each thread, twice what Linux gives unless told otherwise. */
const STACK_BYTES = 16 * 1024 ** 2;
/** Arrays that carry each type; the runtime itself reads beyond one that is too short for its type. */
const ARRAYS: Readonly<Record<TensorType, readonly { readonly name: string }[]>> = {
  float32: [Float32Array],
  float16: [Uint16Array],
  int64: [BigInt64Array],
  int32: [Int32Array],
  uint8: [Uint8Array],
  int8: [Int8Array],
  bool: [Uint8Array],
};

/** ONNX Runtime, once; it sends no telemetry. */
const onnxRuntime = once((): Promise<Ort> => {
  process.env.ORT_DISABLE_TELEMETRY = '1';
  return import('onnxruntime-node').then(
    (found) => (found as { default?: Ort }).default ?? found,
    (error: unknown) => {
      throw new Failure('unavailable', 'ONNX Runtime cannot be loaded on this machine; install its package again (npm ci).', {
        code: 'EngineMissing',
        cause: error,
      });
    },
  );
});

/**
 * Opens a graph; for host processes only, since loading and running block the thread. Throws `not_found` for no file, `invalid` for a file
 * that cannot be right or that the runtime refuses, `unavailable` where memory is short, `bad_request` for a provider that nobody knows.
 */
export async function openSession(path: string, options: OnnxOptions): Promise<OnnxSession> {
  if (!Number.isInteger(options.threads) || options.threads < 1 || options.threads > THREAD_LIMIT)
    throw new Failure('bad_request', `threads is ${options.threads}; give a whole number from 1 to ${THREAD_LIMIT}.`);
  const file = fileName(path, options.folder);
  const { sizeBytes, external } = inspectGraph(path, options.folder);
  assertRoom(file, sizeBytes);
  const ort = await onnxRuntime();
  const isRewritten = options.floatConvolutions === true && external.length === 0 && loadCore().instructionSet() === 'avx512';
  const create = (place: string, executionProviders: string[]): Promise<InferenceSession> =>
    whileOpening({ sizeBytes, threads: options.threads, providers: executionProviders }, () => {
      const bytes = isRewritten ? withFloatConvolutions(place) : undefined;
      const session = { ...sessionOptions(options), executionProviders };
      return bytes ? ort.InferenceSession.create(bytes, session) : ort.InferenceSession.create(place, session);
    }).catch((error: unknown) => {
      throw new Error(reasonOf(error), { cause: error });
    });
  const open = (executionProviders: string[]): Promise<InferenceSession> =>
    openBeside({ path, file, external }, (place) => create(place, executionProviders));
  const { session, facts } = await chooseProviders(ort.listSupportedBackends(), options.provider, open).catch((error: Error) => {
    throw error instanceof Failure ? error : graphFault(file, error.message, error.cause);
  });
  if (isRewritten) collectGarbage();
  return new OpenedSession(ort, file, session, facts);
}

/** Gives back the bytes that a graph was rewritten in: a host that only runs graphs makes too little garbage for that to happen by itself. */
function collectGarbage(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** A graph that is not known to be sound, and what runs it. */
interface Opening {
  /** Of its weights. */
  readonly sizeBytes: number;
  readonly threads: number;
  readonly providers: readonly string[];
}

/** Works on such a graph: nodes can make numbers without end of a few. What drivers of accelerators take nobody knows, so that they are not bounded. */
export function whileOpening<T>({ sizeBytes, threads, providers }: Opening, work: () => Promise<T>): Promise<T> {
  if (providers.some((name) => name !== 'cpu')) return work();
  return withMemoryLimit(OPENING_FACTOR * sizeBytes + OPENING_BYTES + threads * STACK_BYTES, work);
}

function sessionOptions({ threads, shapesVary = false }: OnnxOptions): InferenceSession.SessionOptions {
  return {
    intraOpNumThreads: threads,
    interOpNumThreads: 1,
    executionMode: 'sequential',
    graphOptimizationLevel: 'all',
    // A plan of memory is kept per shape.
    enableMemPattern: !shapesVary,
    logSeverityLevel: 3,
  };
}

/** Whether so many bytes of memory are free. */
export const hasRoom = (bytes: number): boolean => bytes <= availableMemory();

/** Throws `unavailable` where a graph's weights need more memory than is free. */
function assertRoom(file: string, sizeBytes: number): void {
  if (hasRoom(sizeBytes)) return;
  const free = availableMemory();
  throw new Failure('unavailable', `${file} needs ${mebibytes(sizeBytes)} of memory and ${mebibytes(free)} are free.`, {
    code: 'insufficient_memory',
    retryAfterS: 30,
  });
}

const mebibytes = (bytes: number): string => `${Math.ceil(bytes / 2 ** 20)} MiB`;

/** What the runtime says, without places in its own sources and paths of this machine. */
function reasonOf(error: unknown): string {
  const text = error instanceof Error ? error.message : String(error);
  return text
    .replace(/^Load model from .*? failed:\s*/s, '')
    .replace(/\/onnxruntime_src\/\S+ (?:.*\) )?/gs, '')
    .replace(/(?:\/[^\s/:]+)+\//g, '')
    .replace(/[.\s]+$/, '')
    .slice(0, SHOWN);
}

class OpenedSession implements OnnxSession {
  readonly file: string;
  readonly inputs: readonly TensorSlot[];
  readonly outputs: readonly TensorSlot[];
  readonly providers: ProviderFacts;
  readonly #ort: Ort;
  readonly #session: InferenceSession;
  readonly #inputs: ReadonlyMap<string, TensorSlot>;

  constructor(ort: Ort, file: string, session: InferenceSession, facts: ProviderFacts) {
    this.#ort = ort;
    this.file = file;
    this.#session = session;
    this.providers = facts;
    this.inputs = session.inputMetadata.map(slot);
    this.outputs = session.outputMetadata.map(slot);
    this.#inputs = new Map(this.inputs.map((input) => [input.name, input]));
  }

  async run(feeds: Readonly<Record<string, Tensor>>, outputs?: readonly string[]): Promise<Record<string, Tensor>> {
    const given: Record<string, OrtTensor> = {};
    for (const { name } of this.inputs) if (!Object.hasOwn(feeds, name)) throw this.#fault(`input "${name}" is missing`);
    for (const [name, tensor] of Object.entries(feeds)) {
      this.#check(name, tensor);
      given[name] = new this.#ort.Tensor(tensor.type, tensor.data as never, tensor.dims);
    }
    const unknown = outputs?.find((name) => !this.outputs.some((output) => output.name === name));
    if (unknown !== undefined) throw this.#fault(`there is no output "${unknown}"`);
    let results: InferenceSession.OnnxValueMapType;
    try {
      results = outputs ? await this.#session.run(given, [...outputs]) : await this.#session.run(given);
    } catch (error) {
      throw new Failure('model_failed', `${this.file} could not be run: ${reasonOf(error)}.`, { cause: error });
    }
    return Object.fromEntries(Object.entries(results).map(([name, value]) => [name, this.#result(name, value as OrtTensor)]));
  }

  async close(): Promise<void> {
    await this.#session.release();
  }

  #check(name: string, { type, dims, data }: Tensor): void {
    const input = this.#inputs.get(name);
    if (!input) throw this.#fault(`there is no input "${name}"; there are ${this.inputs.map((one) => one.name).join(', ')}`);
    const asked = `${input.type} [${input.dims.join(', ')}]`;
    const fits =
      input.type === type &&
      (input.dims.length === 0 || input.dims.length === dims.length) &&
      dims.every(
        (dim, axis) =>
          Number.isInteger(dim) &&
          dim >= 0 &&
          (typeof input.dims[axis] !== 'number' || input.dims[axis] === -1 || input.dims[axis] === dim),
      );
    if (!fits) throw this.#fault(`input "${name}" takes ${asked}, not ${type} [${dims.join(', ')}]`);
    const count = dims.reduce((product, dim) => product * dim, 1);
    if (!ARRAYS[type].some((array) => array.name === data.constructor.name) || data.length !== count)
      throw this.#fault(`input "${name}" is ${type} [${dims.join(', ')}], and its ${data.constructor.name} holds ${data.length} values`);
  }

  #result(name: string, tensor: OrtTensor): Tensor {
    if (!Object.hasOwn(ARRAYS, tensor.type))
      throw this.#fault(`output "${name}" is ${tensor.type}; the types that can be read are ${Object.keys(ARRAYS).join(', ')}`);
    const type = tensor.type as TensorType;
    const data = tensor.data as Tensor['data'];
    if (type !== 'float16' || data instanceof Uint16Array) return { type, dims: tensor.dims, data };
    // Newer versions of Node give these as numbers; everyone here reads their bits.
    const { buffer, byteOffset, length } = data as unknown as Uint16Array;
    return { type, dims: tensor.dims, data: new Uint16Array(buffer, byteOffset, length) };
  }

  #fault(what: string): Failure {
    return new Failure('invalid', `${this.file}: ${what}.`, { code: 'InvalidModelInput' });
  }
}

function slot(meta: InferenceSession.ValueMetadata): TensorSlot {
  return meta.isTensor
    ? { name: meta.name, type: meta.type, dims: meta.shape.map((dim) => (dim === '' ? -1 : dim)) }
    : { name: meta.name, type: 'none', dims: [] };
}
