import type { OnnxSession } from '../onnx/contract.js';
import { EncoderTokenizer } from '../tokenizers/tokenizer.js';
import { tokenizerFiles } from './clip-tokenizer.js';
import { fault, type PipelineFolder, whole } from './pipeline-folder.js';
import { tensorFor, valuesOf } from './tensors.js';

/** What CLIP was trained with. */
const LENGTH = 77;
const LENGTH_LIMIT = 4096;

/** A prompt as the network takes it: a row per token, and one vector for the whole where the encoder gives one. */
export interface Embedded {
  readonly length: number;
  readonly width: number;
  readonly rows: Float32Array;
  readonly pooled?: Float32Array;
}

/** A text encoder of a pipeline with its tokenizer. */
export class TextEncoder {
  readonly #session: OnnxSession;
  readonly #tokenizer: EncoderTokenizer;
  readonly #length: number;
  readonly #padding: number;
  /** The rows come from the last layer but one, as networks with two encoders want it. */
  readonly #early: boolean;

  /** `suffix` is `_2` for the second encoder of a pipeline. */
  constructor(folder: PipelineFolder, session: OnnxSession, suffix: '' | '_2', early: boolean) {
    const part = `tokenizer${suffix}`;
    const { definition, config, padding } = tokenizerFiles(folder, part);
    this.#session = session;
    this.#early = early;
    this.#tokenizer = new EncoderTokenizer(definition, config);
    this.#length = whole(`${part}/tokenizer_config.json`, config, 'model_max_length', LENGTH_LIMIT, LENGTH);
    const vocabulary = ((definition.model as { vocab?: Record<string, number> } | undefined)?.vocab ?? {}) as Record<string, number>;
    const added = (definition.added_tokens as { id: number; content: string }[] | undefined) ?? [];
    this.#padding = added.find(({ content }) => content === padding)?.id ?? vocabulary[padding] ?? this.#tokenizer.paddingId;
  }

  /** One prompt; tokens beyond the length are dropped. */
  async encode(prompt: string): Promise<Embedded> {
    const ids = [...this.#tokenizer.single(this.#tokenizer.body(prompt, this.#length), this.#length).ids];
    while (ids.length < this.#length) ids.push(this.#padding);
    const [input] = this.#session.inputs;
    const feeds = { [input!.name]: tensorFor(this.#session, input!.name, [1, ids.length], ids) };
    const names = this.#session.outputs.map(({ name }) => name);
    const rowsName = this.#rowsName(names);
    const pooledName = names.find((name) => name === 'text_embeds') ?? names.find((name) => name === 'pooler_output');
    const outputs = await this.#session.run(feeds, pooledName === undefined ? [rowsName] : [rowsName, pooledName]);
    const { dims, values } = valuesOf(outputs, rowsName, 'text encoder');
    const [batch, length, width] = dims;
    if (dims.length !== 3 || batch !== 1 || length !== ids.length)
      throw fault(this.#session.file, `answers in the shape [${dims.join(', ')}]`);
    const pooled = pooledName === undefined ? {} : { pooled: valuesOf(outputs, pooledName, 'text encoder').values };
    return { length, width: width!, rows: values, ...pooled };
  }

  #rowsName(names: readonly string[]): string {
    if (!this.#early) return names.find((name) => name === 'last_hidden_state') ?? names[0]!;
    const layers = names
      .filter((name) => /^hidden_states\.\d+$/.test(name))
      .sort((a, b) => Number(a.split('.')[1]) - Number(b.split('.')[1]));
    const found = layers.at(-2);
    if (found === undefined) throw fault(this.#session.file, 'gives no hidden states, which this pipeline needs');
    return found;
  }
}
