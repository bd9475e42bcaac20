import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import { loadCore } from '../../../../native/loader.js';
import { Failure } from '../../../../schemas/errors.js';
import type { OnnxSession, Tensor, TensorSlot } from '../../onnx/contract.js';
import { cpuFacts } from '../../onnx/providers.js';
import { hasRoom, openSession } from '../../onnx/session.js';
import { padded, type Row } from './batcher.js';
import { type Batch, type EncoderPass, outputForTask, outputSuitsTask, type PassSettings, unknownToken, wrongTask } from './pass.js';
import { rowStates } from './pooling.js';

/** Of the bytes of the weights, what is in memory while they are arranged: as read, turned, and as they stay. */
const ARRANGED = 2;

/** How an encoder's pass is opened. */
interface PassOptions {
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
export async function probePass(pass: EncoderPass, row: Row<Batch>, name: string): Promise<Batch> {
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

/** Values of each input that is known, at a token of a row; padding has 0, or the padding token's id. */
const INPUTS: Readonly<Record<string, (row: Row<Batch>, at: number, firstPosition: number) => number>> = {
  input_ids: (row, at) => row.ids[at]!,
  attention_mask: () => 1,
  token_type_ids: (row, at) => row.types[at]!,
  position_ids: (_row, at, firstPosition) => firstPosition + at,
};

/** What the runtime says of an index that a table has no line for. */
const NO_LINE = /idx=(-?\d+) must be within the inclusive range \[-?\d+,-?\d+\]/;

/** An encoder's graph in ONNX Runtime: rows are padded to the longest of their batch. */
class EncoderGraph implements EncoderPass {
  readonly #session: OnnxSession;
  readonly #settings: PassSettings;
  readonly #output: string;
  readonly engine: EncoderPass['engine'];
  readonly layout: EncoderPass['layout'];

  /**
   * `whyNot`: why the native pass could not run the graph, where it was tried. Throws `Failure('invalid')` for inputs that cannot be filled, `bad_request` (code
   * `TaskNotSupported`) for a model of another task.
   */
  constructor(session: OnnxSession, settings: PassSettings, whyNot: string | null) {
    this.#session = session;
    this.#settings = settings;
    this.engine = { name: 'onnxruntime', whyNotNative: whyNot, providers: session.providers };
    this.layout = padded(settings.maxLength);
    const strange = session.inputs.find(({ name, type }) => !Object.hasOwn(INPUTS, name) || (type !== 'int64' && type !== 'int32'));
    if (strange || !session.inputs.some(({ name }) => name === 'input_ids')) {
      const what = strange ? `takes the input "${strange.name}" (${strange.type})` : 'takes no input_ids';
      const known = Object.keys(INPUTS).join(', ');
      throw new Failure('invalid', `Model "${settings.name}" ${what}; an encoder takes ${known} as integers.`, {
        code: 'InvalidModelFile',
      });
    }
    this.#output = outputForTask(
      session.outputs.map((output) => output.name),
      settings,
    );
  }

  async run(rows: readonly Row<Batch>[], length: number): Promise<Batch> {
    const feeds = Object.fromEntries(this.#session.inputs.map((slot) => [slot.name, this.#feed(slot, rows, length)]));
    const outputs = await this.#session.run(feeds, [this.#output]).catch((error: unknown) => {
      const [strange, id] = (error instanceof Failure ? NO_LINE.exec(error.message) : null) ?? [];
      // There are tables of positions and segments too.
      const isToken = id !== undefined && rows.some(({ ids }) => ids.includes(Number(id)));
      throw isToken ? unknownToken(this.#settings, strange!, error) : error;
    });
    const output = outputs[this.#output]!;
    const { dims } = output;
    const isPerToken = dims.length === 3;
    const isWhole = dims[0] === rows.length && (isPerToken ? dims[1] === length : dims.length === 2);
    if (!isWhole || !outputSuitsTask(this.#settings.task, isPerToken)) throw wrongTask(this.#settings, this.#output, dims);
    return { width: dims.at(-1)!, isPerToken, states: (index, tokens) => rowStates(output, index, tokens) };
  }

  close(): Promise<void> {
    return this.#session.close();
  }

  #feed({ name, type }: TensorSlot, rows: readonly Row<Batch>[], length: number): Tensor {
    const value = INPUTS[name]!;
    const { paddingId, firstPosition } = this.#settings;
    const count = rows.length * length;
    const data = type === 'int32' ? new Int32Array(count) : new BigInt64Array(count);
    // Values are never negative, so their lower halves are all that is written; every machine that ONNX Runtime is built for has those first.
    const values = new Int32Array(data.buffer);
    const step = type === 'int32' ? 1 : 2;
    const padding = name === 'input_ids' ? paddingId : 0;
    rows.forEach((row, index) => {
      for (let at = 0; at < length; at += 1)
        values[(index * length + at) * step] = at < row.ids.length ? value(row, at, firstPosition) : padding;
    });
    return { type: type === 'int32' ? 'int32' : 'int64', dims: [rows.length, length], data };
  }
}
