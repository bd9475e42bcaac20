import { Failure } from '../../schemas/errors.js';
import type { HeadProblem } from '../engines/contracts/encoder.js';
import type { Scores } from './contract.js';

/** Probabilities of logits that exclude each other. */
export function softmax(logits: ArrayLike<number>): number[] {
  const values = Array.from(logits);
  const most = Math.max(...values);
  const weights = values.map((value) => Math.exp(value - most));
  const sum = weights.reduce((total, weight) => total + weight, 0);
  return weights.map((weight) => weight / sum);
}

/** The probability of one logit alone. */
export const sigmoid = (logit: number): number => 1 / (1 + Math.exp(-logit));

/** The relevance that a reranking head tells: its one logit, or the last, which stands for "relevant". */
export function relevance(logits: ArrayLike<number>): number {
  return logits[logits.length - 1] ?? Number.NaN;
}

/**
 * Probabilities by the names of a head's outputs; a head with more outputs than names counts the rest. Outputs exclude each other unless `problem`
 * says otherwise or there is one alone, as in Python's pipeline of transformers; of a regression they are what they are.
 */
export function scoresByLabel(labels: readonly string[], logits: ArrayLike<number>, problem?: HeadProblem): Scores {
  const alone = problem === 'multi_label' || logits.length === 1;
  const values = problem === 'regression' ? Array.from(logits) : alone ? Array.from(logits, sigmoid) : softmax(logits);
  return Object.fromEntries(values.map((value, at) => [labels[at] ?? String(at), value]));
}

/** The outputs of an NLI head that zero-shot classification needs. */
interface Entailment {
  readonly entails: number;
  /** Undefined where the head has no such output. */
  readonly contradicts: number | undefined;
}

/** Finds the outputs of an NLI head by their names. Throws `bad_request` for a head without an entailment. */
export function entailmentOf(name: string, labels: readonly string[]): Entailment {
  const find = (pattern: RegExp): number | undefined => {
    const at = labels.findIndex((label) => pattern.test(label));
    return at < 0 ? undefined : at;
  };
  const entails = find(/^entail/i);
  if (entails !== undefined) return { entails, contradicts: find(/^contra|^not.?entail/i) };
  const msg = `Labels of your own need an NLI model, with an output called entailment; "${name}" has ${labels.join(', ') || 'none'}`;
  throw new Failure('bad_request', `${msg}. Leave labels out to get the model's own, or name another model.`, {
    code: 'TaskNotSupported',
    errors: [{ type: 'value_error', loc: ['body', 'labels'], msg }],
  });
}

/** Probabilities of the labels of one text by the logits of (text, hypothesis) pairs, one per label. */
export function zeroShotScores(
  labels: readonly string[],
  logits: readonly ArrayLike<number>[],
  { entails, contradicts }: Entailment,
  multiLabel: boolean,
): Scores {
  const entailed = logits.map((row) => row[entails]!);
  // One label has no other to be compared with.
  if (!multiLabel && labels.length > 1) return scoresByLabel(labels, entailed);
  const alone = logits.map((row, at) =>
    contradicts === undefined ? sigmoid(entailed[at]!) : softmax([row[contradicts]!, entailed[at]!])[1]!,
  );
  return Object.fromEntries(labels.map((label, at) => [label, alone[at]!]));
}
