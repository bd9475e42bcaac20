import { Failure } from '../../../../schemas/errors.js';
import type { Tensor } from '../../onnx/contract.js';
import type { Labels } from './labels.js';

/** How far a row of probabilities may be from 1. */
const ROUNDING = 0.02;

/** What a line says, and how sure that is: the mean probability of its characters. */
export interface Line {
  readonly text: string;
  readonly confidence: number;
}

/**
 * The characters by class, the blank at 0. A space that the list of characters leaves out is the last class. Throws `invalid` that names both files where the
 * list is not that of the recogniser; `graph` as `OnnxSession.file`.
 */
export function classesOf({ characters, file }: Labels, count: number, graph: string): readonly string[] {
  if (characters.length === count) return characters;
  if (characters.length === count - 1) return ['', ...characters];
  if (characters.length === count - 2) return ['', ...characters, ' '];
  const tells = `${file === graph ? '' : `${graph} `}tells ${count} classes apart`;
  throw new Failure(
    'invalid',
    `${file} lists ${characters.length} characters, and ${tells}: they do not belong together. Put in the list that came with the recogniser.`,
    { code: 'OcrModelInvalid' },
  );
}

/** The best class of a row and its probability. */
function best(row: Float32Array): { index: number; probability: number } {
  let index = 0;
  let sum = 0;
  for (let at = 0; at < row.length; at += 1) {
    if (row[at]! > row[index]!) index = at;
    sum += row[at]!;
  }
  if (Math.abs(sum - 1) <= ROUNDING && row.every((value) => value >= 0)) return { index, probability: row[index]! };
  const highest = row[index]!;
  return { index, probability: 1 / row.reduce((total, value) => total + Math.exp(value - highest), 0) };
}

/**
 * Reads one line from `[1, steps, classes]` or `[steps, 1, classes]`: the best class of each step, repetitions once, blanks left out. `graph` as in `classesOf`.
 */
export function decodeLine({ dims, data }: Tensor, labels: Labels, graph: string): Line {
  const count = dims.at(-1) ?? 0;
  const values = data as Float32Array;
  if (dims.length !== 3 || (dims[0] !== 1 && dims[1] !== 1) || !(values instanceof Float32Array) || count < 2)
    throw new Failure('invalid', `${graph} answers [${dims.join(', ')}]; [1, steps, classes] can be read.`, {
      code: 'OcrModelInvalid',
    });
  const classes = classesOf(labels, count, graph);
  let text = '';
  let sum = 0;
  let kept = 0;
  let before = 0;
  for (let at = 0; at < values.length; at += count) {
    const { index, probability } = best(values.subarray(at, at + count));
    if (index !== 0 && index !== before) {
      text += classes[index]!;
      sum += probability;
      kept += 1;
    }
    before = index;
  }
  return { text, confidence: kept === 0 ? 0 : sum / kept };
}
