import { Failure } from '../../../schemas/errors.js';
import { breathe } from '../../base/loop.js';
import type { Example } from './contract.js';

/** Most labels of a classifier. */
const MAX_LABELS = 1000;
/** Most examples times labels of a fit, and texts times labels of a prediction. */
export const MAX_CELLS = 1_000_000;

/** Examples as a fit takes them. */
export interface Learnable {
  readonly texts: readonly string[];
  /** Sorted by code units. */
  readonly labels: readonly string[];
  /** The place in `labels` of each text's label. */
  readonly targets: Uint32Array;
}

function refusal(index: number, member: string, msg: string, input: string): Failure {
  const loc = ['body', 'training_data', index, member];
  return new Failure('invalid', `training_data[${index}].${member} ${msg}.`, { errors: [{ type: 'value_error', loc, msg, input }] });
}

/** Throws `invalid` for a blank text. `name` is what the request calls the texts. */
export function checkText(text: string, name: string, loc: readonly (string | number)[]): void {
  if (text.trim() !== '') return;
  const msg = 'is empty, and an empty text has nothing to tell it by';
  throw new Failure('invalid', `${name} ${msg}.`, { errors: [{ type: 'value_error', loc: ['body', ...loc], msg, input: text }] });
}

/** Sorts the labels out. Throws `bad_request` for fewer than two examples or labels, `invalid` naming an example that cannot be learned. */
export async function sortExamples(examples: readonly Example[]): Promise<Learnable> {
  if (examples.length < 2)
    throw new Failure('bad_request', `training_data has ${examples.length} examples; a fit needs at least 2, of two labels.`);
  /** Labels in the order of their first examples, with their places in it. */
  const known = new Map<string, number>();
  const texts: string[] = [];
  const targets = new Uint32Array(examples.length);
  for (const [index, { text, label }] of examples.entries()) {
    checkText(text, `training_data[${index}].text`, ['training_data', index, 'text']);
    if (label.trim() === '') throw refusal(index, 'label', 'is empty; a label needs a name', label);
    // biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is looked for
    if (/[\u0000-\u001f\u007f]/.test(label))
      throw refusal(index, 'label', `is ${JSON.stringify(label)}; line breaks and other control characters cannot be in a label`, label);
    if (!known.has(label)) known.set(label, known.size);
    texts.push(text);
    targets[index] = known.get(label)!;
    if (known.size > MAX_LABELS) throw refusal(index, 'label', `is label ${known.size}; at most ${MAX_LABELS} are allowed`, label);
    await breathe();
  }
  const labels = [...known.keys()].sort();
  if (labels.length < 2)
    throw new Failure(
      'bad_request',
      `All ${examples.length} examples have the label ${JSON.stringify(labels[0])}; a fit needs two labels.`,
    );
  if (examples.length * labels.length > MAX_CELLS)
    throw new Failure(
      'invalid',
      `${examples.length} examples with ${labels.length} labels are too many together: their product is at most ${MAX_CELLS}.`,
    );
  const sorted = Uint32Array.from(known.keys(), (label) => labels.indexOf(label));
  for (const [index, place] of targets.entries()) targets[index] = sorted[place]!;
  return { texts, labels, targets };
}
