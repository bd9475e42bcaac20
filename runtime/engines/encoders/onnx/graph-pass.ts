import { Failure } from '../../../../schemas/errors.js';
import type { OnnxSession, Tensor, TensorSlot } from '../../onnx/contract.js';
import { padded, type Row } from './batcher.js';
import { type Batch, chosenOutput, type EncoderPass, type PassSettings, strangeToken, suits, wrongTask } from './pass.js';
import { rowStates } from './pooling.js';

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
export class EncoderGraph implements EncoderPass {
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
    this.#output = chosenOutput(
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
      throw isToken ? strangeToken(this.#settings, strange!, error) : error;
    });
    const output = outputs[this.#output]!;
    const { dims } = output;
    const isPerToken = dims.length === 3;
    const isWhole = dims[0] === rows.length && (isPerToken ? dims[1] === length : dims.length === 2);
    if (!isWhole || !suits(this.#settings.task, isPerToken)) throw wrongTask(this.#settings, this.#output, dims);
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
