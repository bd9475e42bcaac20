import { Failure } from '../../../../schemas/errors.js';
import type { EncoderTask, Pooling } from '../../contracts/encoder.js';
import type { ProviderFacts } from '../../onnx/contract.js';
import type { Layout, Row } from './batcher.js';
import type { RowStates } from './pooling.js';

/** Outputs of exported encoders that hold vectors, the readier first. */
const VECTORS = ['sentence_embedding', 'last_hidden_state', 'token_embeddings', 'embeddings', 'text_embeds'];
const LOGITS = 'logits';

/** Who runs an encoder. */
interface EncoderEngine {
  readonly name: 'native' | 'onnxruntime';
  /** Why the native pass could not, in words that follow "because"; null where it does, or was not to. */
  readonly whyNotNative: string | null;
  readonly providers: ProviderFacts;
}

/** What came of one batch of rows. */
export interface Batch {
  /** Numbers of one vector. */
  readonly width: number;
  /** Whether there is a vector for each token, or one for each row. */
  readonly isPerToken: boolean;
  /** The vectors of a row of so many tokens; one where there is one for each row. */
  states(index: number, tokens: number): RowStates;
}

/** The forward pass of an encoder: rows of tokens in, the one output that its task reads out. */
export interface EncoderPass {
  readonly engine: EncoderEngine;
  readonly layout: Layout;
  /**
   * `length`: tokens of the longest row; `expectedMs`: what the run will take, where that is known. Throws `bad_request` (code `TaskNotSupported`) where the
   * output has a shape that no encoder's has.
   */
  run(rows: readonly Row<Batch>[], length: number, expectedMs?: number): Promise<Batch>;
  close(): Promise<void>;
}

/** What a pass needs to know beside its rows. */
export interface PassSettings {
  /** As the caller named the model, for messages. */
  readonly name: string;
  readonly task: EncoderTask;
  readonly paddingId: number;
  /** Number of the first position, for graphs that take positions. */
  readonly firstPosition: number;
  /** Tokens of a row at most. */
  readonly maxLength: number;
  /** How the task pools a text's vectors, where the graph does not. */
  readonly pooling: Pooling;
}

/** Whether a task reads a vector for each token, or one for each text. */
export const outputSuitsTask = (task: EncoderTask, isPerToken: boolean): boolean => task === 'embedding' || (task === 'ner') === isPerToken;

/** The 400 of an output that a task cannot read. */
export function wrongTask({ name, task }: PassSettings, output: string, dims: readonly (number | string)[]): Failure {
  return new Failure('bad_request', `Model "${name}" cannot be used for ${task}: its output ${output} is [${dims.join(', ')}].`, {
    code: 'TaskNotSupported',
  });
}

/** The output that holds vectors, of all that a graph has. */
export const vectorOutput = (names: readonly string[]): string | undefined =>
  VECTORS.find((vectors) => names.includes(vectors)) ?? names.find((other) => other !== LOGITS);

/** The output that a task reads. Throws `bad_request` (code `TaskNotSupported`) where there is none. */
export function outputForTask(names: readonly string[], { name, task }: PassSettings): string {
  const found =
    task === 'embedding'
      ? vectorOutput(names)
      : (names.find((other) => other === LOGITS) ?? (VECTORS.includes(names[0]!) ? undefined : names[0]));
  if (found !== undefined) return found;
  throw new Failure('bad_request', `Model "${name}" cannot be used for ${task}: its outputs are ${names.join(', ')}.`, {
    code: 'TaskNotSupported',
  });
}

/** The 422 of a token that a graph's table has no line for; `what` says which, in the engine's words. */
export function unknownToken({ name }: PassSettings, what: string, cause: unknown): Failure {
  const msg = `it gives tokens that the graph does not know (${what.replace(/\.$/, '')})`;
  return new Failure(
    'invalid',
    `The tokenizer.json of model "${name}" does not belong to its graph: ${msg}. Get both files again from one repository.`,
    {
      code: 'InvalidModelFile',
      errors: [{ type: 'onnx', loc: ['file', 'tokenizer.json'], msg }],
      cause,
    },
  );
}
