import { Failure } from '../../../../schemas/errors.js';
import type { Row } from './batcher.js';
import type { Batch, EncoderPass } from './pass.js';

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
