import type { NativeEncoder } from '../../../../native/contract.js';
import { loadCore } from '../../../../native/core.js';
import { Failure } from '../../../../schemas/errors.js';
import { RAGGED, type Row } from '../batcher.js';
import type { ProviderFacts } from '../contract.js';
import { type Batch, chosenOutput, type EncoderPass, type PassSettings, strangeToken, suits, wrongTask } from '../encoder-pass.js';
import { pooled } from '../pooling.js';
import { readGraph } from './graph.js';
import { type Recognised, recognise, Unrecognised } from './recognise.js';
import { readWeights } from './weights.js';

/**
 * Multiplications of passes that run on the host's own thread: 3 to 6 ms on a core of 3.7 GHz with byte products of 512 bits, 6 to 10 with AVX2. The way to
 * the pool and back costs up to 0.3 ms where a core has to be woken for it; a host has nothing else to do meanwhile but to take note of further calls.
 */
const SHORT_MULTIPLICATIONS = 5e8;

/** A native pass, or why there is none, in words that follow "because". */
export type NativeAnswer = { readonly pass: EncoderPass } | { readonly whyNot: string };

/** How a native pass is opened. */
export interface NativeOptions {
  readonly threads: number;
  readonly providers: ProviderFacts;
}

/**
 * Opens the native pass of a graph that `inspectGraph` has found to be sound; sync work of about a second for 100 MB, for hosts. Throws `bad_request` (code
 * `TaskNotSupported`) for a model of another task.
 */
export function openNative(path: string, settings: PassSettings, { threads, providers }: NativeOptions): NativeAnswer {
  try {
    const graph = readGraph(path);
    const output = chosenOutput(
      graph.outputs.map(({ name }) => name),
      settings,
    );
    const recognised = recognise(graph, output, settings.firstPosition);
    const { positions, firstPosition } = recognised.shape;
    if (positions - firstPosition < settings.maxLength)
      return { whyNot: `its texts may have ${settings.maxLength} tokens, and its table has ${positions - firstPosition} positions` };
    const native = loadCore().openEncoder(recognised.shape, readWeights(path, recognised), { threads });
    return { pass: new NativePass(native, recognised, output, settings, providers) };
  } catch (error) {
    // What the native pass cannot take, ONNX Runtime may; a file that is damaged fails there with its own words.
    const isWhyNot = error instanceof Unrecognised || error instanceof RangeError;
    if (isWhyNot || (error instanceof Failure && error.kind !== 'bad_request')) return { whyNot: error.message.replace(/\.$/, '') };
    throw error;
  }
}

/** The native forward pass: the rows of a batch lie one after the other, and none is padded. */
class NativePass implements EncoderPass {
  readonly engine: EncoderPass['engine'];
  readonly layout = RAGGED;
  readonly #native: NativeEncoder;
  readonly #settings: PassSettings;
  /** Multiplications that a token needs in the layers' products. */
  readonly #perToken: number;
  /** And two tokens of a text for each other. */
  readonly #perPair: number;
  readonly #takesTypes: boolean;
  /** Whether the graph gives a vector for each token, and whether it pools them itself. */
  readonly #isPerToken: boolean;
  readonly #pools: boolean;

  constructor(native: NativeEncoder, { shape, head }: Recognised, output: string, settings: PassSettings, providers: ProviderFacts) {
    this.#native = native;
    this.#settings = settings;
    this.#perPair = 2 * shape.layers * shape.width;
    this.#perToken = shape.layers * shape.width * (4 * shape.width + 2 * shape.inner);
    this.#takesTypes = shape.types > 0;
    const takes = head.flatMap((step) => ('take' in step ? [step.take] : []));
    this.#pools = takes.includes('mean');
    this.#isPerToken = takes.length === 0;
    this.engine = { name: 'native', whyNotNative: null, providers };
    if (suits(settings.task, this.#isPerToken)) return;
    native.close();
    throw wrongTask(settings, output, ['texts', ...(this.#isPerToken ? ['tokens'] : []), native.outputs]);
  }

  async run(rows: readonly Row<Batch>[]): Promise<Batch> {
    const lengths = Int32Array.from(rows, ({ ids }) => ids.length);
    const starts = new Int32Array(rows.length + 1);
    for (const [index, length] of lengths.entries()) starts[index + 1] = starts[index]! + length;
    const ids = new Int32Array(starts[rows.length]!);
    const types = this.#takesTypes ? new Int32Array(ids.length) : undefined;
    for (const [index, row] of rows.entries()) {
      ids.set(row.ids, starts[index]);
      types?.set(row.types, starts[index]);
    }
    const values = await this.#values(ids, lengths, types);
    const width = this.#native.outputs;
    const part = (from: number, to: number): Float32Array => values.subarray(from * width, to * width);
    const tokenStates: Batch['states'] = (index, tokens) => ({
      values: part(starts[index]!, starts[index]! + tokens),
      tokens,
      dimensions: width,
    });
    const states: Batch['states'] = this.#pools
      ? (index, tokens) => ({ values: pooled(tokenStates(index, tokens), 'mean'), tokens: 1, dimensions: width })
      : this.#isPerToken
        ? tokenStates
        : (index) => ({ values: part(index, index + 1), tokens: 1, dimensions: width });
    return { width, isPerToken: this.#isPerToken, states };
  }

  async #values(ids: Int32Array, lengths: Int32Array, types: Int32Array | undefined): Promise<Float32Array> {
    try {
      // `Batcher` runs one batch at a time, so that no other call is under way.
      const mixing = this.#perPair * lengths.reduce((sum, length) => sum + length * length, 0);
      if (ids.length * this.#perToken + mixing <= SHORT_MULTIPLICATIONS) return this.#native.runNow(ids, lengths, types);
      return await this.#native.run(ids, lengths, types);
    } catch (error) {
      // The caller gave texts, not tokens: a tokenizer that knows more than the tables is the model's fault.
      throw error instanceof Failure && error.kind === 'invalid' && error.message.startsWith('ids ')
        ? strangeToken(this.#settings, error.message, error)
        : error;
    }
  }

  async close(): Promise<void> {
    this.#native.close();
  }
}
