import { Failure } from '../../../schemas/errors.js';
import type { Tensor } from '../onnx/contract.js';

/** How far a row of probabilities may be from 1. */
const ROUNDING = 0.02;

/** What a line says, and how sure that is: the mean probability of its characters. */
export interface Line {
  readonly text: string;
  readonly confidence: number;
}

/** The characters by class, the blank at 0. A space that the list of characters leaves out is the last class. */
export function classesOf(labels: readonly string[], count: number): readonly string[] {
  if (labels.length === count) return labels;
  if (labels.length === count - 1) return ['', ...labels];
  if (labels.length === count - 2) return ['', ...labels, ' '];
  throw new Failure(
    'invalid',
    `The recogniser tells ${count} classes apart and ${labels.length} characters are listed; they belong not together.`,
    {
      code: 'OcrModelInvalid',
    },
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

/** Reads one line from `[1, steps, classes]` or `[steps, 1, classes]`: the best class of each step, repetitions once, blanks left out. */
export function decodeLine({ dims, data }: Tensor, labels: readonly string[]): Line {
  const count = dims.at(-1) ?? 0;
  const values = data as Float32Array;
  if (dims.length !== 3 || (dims[0] !== 1 && dims[1] !== 1) || !(values instanceof Float32Array) || count < 2)
    throw new Failure('invalid', `The recogniser answers [${dims.join(', ')}]; [1, steps, classes] can be read.`, {
      code: 'OcrModelInvalid',
    });
  const classes = classesOf(labels, count);
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
