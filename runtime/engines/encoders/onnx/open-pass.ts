import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadCore } from '../../../../native/core.js';
import { Failure } from '../../../../schemas/errors.js';
import { cpuFacts } from '../../onnx/providers.js';
import { hasRoom, openSession } from '../../onnx/session.js';
import type { Row } from './batcher.js';
import { EncoderGraph } from './graph-pass.js';
import type { Batch, EncoderPass, PassSettings } from './pass.js';

/** Of the bytes of the weights, what is in memory while they are arranged: as read, turned, and as they stay. */
const ARRANGED = 2;

/** How an encoder's pass is opened. */
export interface PassOptions {
  readonly threads: number;
  /** As `OnnxOptions` has it. */
  readonly provider: string;
  /** `auto`: the native pass where it is faster; `native`: wherever it is possible; `onnxruntime`: never. */
  readonly engine: 'auto' | 'native' | 'onnxruntime';
  /** Of the graph and its weights. */
  readonly sizeBytes: number;
  /** As `OnnxOptions` has it. */
  readonly folder: string;
}

/**
 * Opens the native pass of a graph in BERT's shape on the CPU, and ONNX Runtime for all others. Throws what `openSession` throws, and `bad_request`
 * (code `TaskNotSupported`) for a model of another task.
 */
export async function openPass(path: string, settings: PassSettings, options: PassOptions): Promise<EncoderPass> {
  const { threads, provider, engine, sizeBytes, folder } = options;
  const providers = cpuFacts(provider);
  let whyNot: string | null = null;
  if (engine === 'auto' && providers && loadCore().instructionSet() === 'portable')
    whyNot = 'this processor has no AVX2, without which it is not faster';
  else if (engine !== 'onnxruntime' && providers && !hasRoom(ARRANGED * sizeBytes))
    whyNot = 'there is not enough free memory to arrange its weights';
  else if (engine !== 'onnxruntime' && providers) {
    const { openNative } = await import('./bert/native-pass.js');
    const answer = openNative(path, settings, { threads, providers });
    forgetWeights();
    if ('pass' in answer) return answer.pass;
    ({ whyNot } = answer);
  }
  return new EncoderGraph(await openSession(path, { threads, provider, folder, shapesVary: true }), settings, whyNot);
}

/**
 * Gives back what was read of the weights: the native pass has its own copy, and nothing else in a host would make the garbage that the collector waits
 * for.
 */
function forgetWeights(): void {
  setFlagsFromString('--expose-gc');
  (runInNewContext('gc') as () => void)();
}

/** Numbers of a vector, or of a head's answer, at most. */
const WIDTH_LIMIT = 65_536;

/**
 * Runs a model once before anybody waits for it. A model that fails at its first word is at fault, not the word: throws `invalid` (code `InvalidModelFile`)
 * where it cannot be run, makes what is no number, or vectors that are too wide.
 */
export async function probed(pass: EncoderPass, row: Row<Batch>, name: string): Promise<Batch> {
  const fault = (what: string, cause?: unknown): Failure =>
    new Failure('invalid', `Model "${name}" ${what}; its ONNX file is damaged or no encoder. Get the files again from their source.`, {
      code: 'InvalidModelFile',
      ...(cause === undefined ? {} : { cause }),
    });
  const probe = await pass.run([row], row.ids.length).catch((error: unknown) => {
    throw error instanceof Failure && error.kind === 'model_failed'
      ? fault(`fails at its first word: ${error.message.replace(/\.$/, '')}`, error)
      : error;
  });
  if (probe.width > WIDTH_LIMIT) throw fault(`makes vectors of ${probe.width} numbers, and ${WIDTH_LIMIT} are the most that are read`);
  if (!probe.states(0, row.ids.length).values.every(Number.isFinite)) throw fault('makes what is no finite number');
  return probe;
}
