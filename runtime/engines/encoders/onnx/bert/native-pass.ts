import type { NativeEncoder } from '../../../../../native/contract.js';
import { loadCore } from '../../../../../native/core.js';
import { Failure } from '../../../../../schemas/errors.js';
import type { ProviderFacts } from '../../../onnx/contract.js';
import { readGraph } from '../../../onnx/graph.js';
import { RAGGED, type Row } from '../batcher.js';
import { type Batch, chosenOutput, type EncoderPass, type PassSettings, strangeToken, suits, wrongTask } from '../pass.js';
import type { RowStates } from '../pooling.js';
import { type HeadPlaces, type Recognised, recognise, Unrecognised } from './recognise.js';
import { readWeights } from './weights.js';

/**
 * Passes that take no longer run on the host's own thread. The way to the pool and back costs up to 0.3 ms where a core has to be woken for it; a host has
 * nothing else to do meanwhile but to take note of further calls.
 */
const SHORT_MS = 5;

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
    const head = pooledHead(recognised.head, settings);
    const native = loadCore().openEncoder(recognised.shape, readWeights(path, { ...recognised, head }), { threads });
    return { pass: new NativePass(native, { recognised, givesTokens: isPerToken(head), output, settings, providers }) };
  } catch (error) {
    // What the native pass cannot take, ONNX Runtime may; a file that is damaged fails there with its own words.
    const isWhyNot = error instanceof Unrecognised || error instanceof RangeError;
    if (isWhyNot || (error instanceof Failure && error.kind !== 'bad_request')) return { whyNot: error.message.replace(/\.$/, '') };
    throw error;
  }
}

const isPerToken = (head: readonly HeadPlaces[]): boolean => head.every((step) => !('take' in step));

/** The steps after the layers, with what pools the vectors of a text where the task asks for it and the pass has a step for it. */
function pooledHead(head: readonly HeadPlaces[], { task, pooling }: PassSettings): readonly HeadPlaces[] {
  if (task !== 'embedding' || !isPerToken(head) || (pooling !== 'cls' && pooling !== 'mean')) return head;
  return [...head, { take: pooling === 'cls' ? 'first' : 'mean' }];
}

interface Opened {
  readonly recognised: Recognised;
  /** Whether a vector comes for each token, and not for each text. */
  readonly givesTokens: boolean;
  readonly output: string;
  readonly settings: PassSettings;
  readonly providers: ProviderFacts;
}

/** The native forward pass: the rows of a batch lie one after the other, and none is padded. */
class NativePass implements EncoderPass {
  readonly engine: EncoderPass['engine'];
  readonly layout = RAGGED;
  readonly #native: NativeEncoder;
  readonly #settings: PassSettings;
  readonly #takesTypes: boolean;
  /** Whether the graph gives a vector for each token, and the native pass too. */
  readonly #isPerToken: boolean;
  readonly #givesTokens: boolean;

  constructor(native: NativeEncoder, { recognised, givesTokens, output, settings, providers }: Opened) {
    this.#native = native;
    this.#settings = settings;
    this.#takesTypes = recognised.shape.types > 0;
    this.#isPerToken = isPerToken(recognised.head);
    this.#givesTokens = givesTokens;
    this.engine = { name: 'native', whyNotNative: null, providers };
    if (suits(settings.task, this.#isPerToken)) return;
    native.close();
    throw wrongTask(settings, output, ['texts', ...(this.#isPerToken ? ['tokens'] : []), native.outputs]);
  }

  async run(rows: readonly Row<Batch>[], _length: number, expectedMs = Number.POSITIVE_INFINITY): Promise<Batch> {
    const lengths = Int32Array.from(rows, ({ ids }) => ids.length);
    const starts = new Int32Array(rows.length + 1);
    for (const [index, length] of lengths.entries()) starts[index + 1] = starts[index]! + length;
    const ids = new Int32Array(starts[rows.length]!);
    const types = this.#takesTypes ? new Int32Array(ids.length) : undefined;
    for (const [index, row] of rows.entries()) {
      ids.set(row.ids, starts[index]);
      types?.set(row.types, starts[index]);
    }
    const values = await this.#values(ids, lengths, types, expectedMs <= SHORT_MS);
    const width = this.#native.outputs;
    const part = (from: number, tokens: number): RowStates => ({
      values: values.subarray(from * width, (from + tokens) * width),
      tokens,
      dimensions: width,
    });
    const states: Batch['states'] = this.#givesTokens ? (index, tokens) => part(starts[index]!, tokens) : (index) => part(index, 1);
    return { width, isPerToken: this.#isPerToken, states };
  }

  async #values(ids: Int32Array, lengths: Int32Array, types: Int32Array | undefined, isShort: boolean): Promise<Float32Array> {
    try {
      // `Batcher` runs one batch at a time, so that no other call is under way.
      return isShort ? this.#native.runNow(ids, lengths, types) : await this.#native.run(ids, lengths, types);
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
