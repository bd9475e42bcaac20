import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Example } from '../../../runtime/ml/classifiers/contract.js';

// The sets lie beside the sources, this file below build.
const FOLDER = join(import.meta.dirname, '../../../../test/support/classifiers');
/** Sentences of a label that are for training; the others are held out: 200 of a set. */
const FOR_TRAINING = 16;

/** The sets: five intents, two sentiments, four topics, five languages; written for these tests. */
export const TEXT_SETS = ['intents', 'sentiment', 'topics', 'languages'] as const;

/** Sentences with their labels. */
export interface TextSet {
  readonly train: Example[];
  readonly heldOut: Example[];
}

/** Reads a set with so many training sentences per label, 16 at most. */
export function textSet(name: (typeof TEXT_SETS)[number], perLabel: number = FOR_TRAINING): TextSet {
  const set: TextSet = { train: [], heldOut: [] };
  for (const section of readFileSync(join(FOLDER, `${name}.txt`), 'utf8')
    .split(/^# /m)
    .slice(1)) {
    const [label, ...texts] = section.trimEnd().split('\n');
    set.train.push(...texts.slice(0, perLabel).map((text) => ({ text, label: label! })));
    set.heldOut.push(...texts.slice(FOR_TRAINING).map((text) => ({ text, label: label! })));
  }
  return set;
}
