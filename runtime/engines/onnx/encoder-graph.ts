import { Failure } from '../../../schemas/errors.js';
import type { EncoderTask } from '../encoder-contract.js';
import type { Row } from './batcher.js';
import type { OnnxSession, Tensor, TensorSlot } from './contract.js';

/** Outputs of exported encoders that hold vectors, the readier first. */
const VECTORS = ['sentence_embedding', 'last_hidden_state', 'token_embeddings', 'embeddings', 'text_embeds'];
const LOGITS = 'logits';
/** Values of each input that is known, at a token of a row; padding has 0, or the padding token's id. */
const INPUTS: Readonly<Record<string, (row: Row<Tensor>, at: number, firstPosition: number) => number>> = {
  input_ids: (row, at) => row.ids[at]!,
  attention_mask: () => 1,
  token_type_ids: (row, at) => row.types[at]!,
  position_ids: (_row, at, firstPosition) => firstPosition + at,
};

/** What an encoder's graph needs to know beside its rows. */
export interface GraphSettings {
  /** As the caller named the model, for messages. */
  readonly name: string;
  readonly task: EncoderTask;
  readonly paddingId: number;
  readonly firstPosition: number;
}

/** An encoder's graph: rows of tokens in, the one output that its task reads out. */
export class EncoderGraph {
  readonly #session: OnnxSession;
  readonly #settings: GraphSettings;
  readonly #output: string;

  /** Throws `Failure('invalid')` for inputs that cannot be filled, `bad_request` (code `TaskNotSupported`) for a model of another task. */
  constructor(session: OnnxSession, settings: GraphSettings) {
    this.#session = session;
    this.#settings = settings;
    const strange = session.inputs.find(({ name, type }) => !Object.hasOwn(INPUTS, name) || (type !== 'int64' && type !== 'int32'));
    if (strange || !session.inputs.some(({ name }) => name === 'input_ids')) {
      const what = strange ? `takes the input "${strange.name}" (${strange.type})` : 'takes no input_ids';
      const known = Object.keys(INPUTS).join(', ');
      throw new Failure('invalid', `Model "${settings.name}" ${what}; an encoder takes ${known} as integers.`, {
        code: 'InvalidModelFile',
      });
    }
    this.#output = chosenOutput(session.outputs, settings);
  }

  /** The output for rows padded to `length`: [rows, ...]. Throws `invalid` where its shape is not that of the task. */
  async run(rows: readonly Row<Tensor>[], length: number): Promise<Tensor> {
    const feeds = Object.fromEntries(this.#session.inputs.map((slot) => [slot.name, this.#feed(slot, rows, length)]));
    const output = (await this.#session.run(feeds, [this.#output]))[this.#output]!;
    const rank = output.dims.length;
    const { task, name } = this.#settings;
    const isRight =
      task === 'ner'
        ? rank === 3 && output.dims[1] === length
        : task === 'embedding'
          ? rank === 2 || (rank === 3 && output.dims[1] === length)
          : rank === 2;
    if (output.dims[0] !== rows.length || !isRight)
      throw new Failure(
        'bad_request',
        `Model "${name}" cannot be used for ${task}: its output ${this.#output} is [${output.dims.join(', ')}].`,
        {
          code: 'TaskNotSupported',
        },
      );
    return output;
  }

  #feed({ name, type }: TensorSlot, rows: readonly Row<Tensor>[], length: number): Tensor {
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

function chosenOutput(outputs: readonly TensorSlot[], { name, task }: GraphSettings): string {
  const names = outputs.map((output) => output.name);
  const found =
    task === 'embedding'
      ? (VECTORS.find((vectors) => names.includes(vectors)) ?? names.find((other) => other !== LOGITS))
      : (names.find((other) => other === LOGITS) ?? (VECTORS.includes(names[0]!) ? undefined : names[0]));
  if (found !== undefined) return found;
  throw new Failure('bad_request', `Model "${name}" cannot be used for ${task}: its outputs are ${names.join(', ')}.`, {
    code: 'TaskNotSupported',
  });
}
