import { seededRandom } from '../../../../models/writers/random.js';
import type { BertShape, BertWeights } from '../writers/onnx-bert.js';
import { wordOfToken } from '../writers/tokenizer-writer.js';
import { type Meaning, meaningOf } from './words.js';

/** Size of the vectors of the tiny encoders. */
export const HIDDEN = 64;
/** Dimensions of a vector by what they tell: the token's own random signs, its segment, its kind, whether it is common, what was found. */
const SIGNS = 32;
const SEGMENT = 32;
const KINDS: Readonly<Record<Meaning, number>> = { person: 33, surname: 34, place: 35, good: 36, bad: 37 };
const SHARED = 40;
const COMMON = 41;
const FOUND = 42;
const MEAN_FOUND = 43;
/** Sharp enough that a token attends to its like alone: the score of equal signs less that of others. */
const SHARPNESS = 3;
/** The head of `ner`, in the order of its outputs. */
export const NER_LABELS = ['O', 'B-PER', 'I-PER', 'B-LOC'];
/** The head of `sentiment`. */
export const SENTIMENT_LABELS = ['NEGATIVE', 'POSITIVE'];
/** The head of `nli`, which weighs a pair by the tokens that both texts share. */
export const NLI_LABELS = ['contradiction', 'neutral', 'entailment'];

/** What the weights make a tiny encoder do. */
export type Behaviour = 'bag' | 'ner' | 'sentiment' | 'shared';

type Fill = (out: Float32Array, columns: number) => void;

const identity: Fill = (out, columns) => {
  for (let at = 0; at < columns; at += 1) out[at * columns + at] = 1;
};

function embeddings(tokens: readonly string[]): Fill {
  return (out, columns) => {
    const random = seededRandom(7);
    tokens.forEach((token, row) => {
      for (let at = 0; at < SIGNS; at += 1) out[row * columns + at] = random.next() < 0.5 ? -1 : 1;
      const meaning = meaningOf(wordOfToken(token) ?? '');
      if (meaning) out[row * columns + KINDS[meaning]] = 6;
      out[row * columns + COMMON] = 1;
    });
  };
}

/**
 * Layer 0 gives each token the mean segment of its likes: its own where they all stand in its text, the middle where some stand in the other.
 * What differs, in the second text alone, passes the layer's middle. Layer 1 gives every token the mean of that.
 */
const sharedLayers: Readonly<Record<string, Fill>> = {
  'encoder.layer.0.attention.self.query.weight': (out, columns) => {
    for (let at = 0; at < SIGNS; at += 1) out[at * columns + at] = SHARPNESS;
  },
  'encoder.layer.0.attention.self.key.weight': (out, columns) => {
    for (let at = 0; at < SIGNS; at += 1) out[at * columns + at] = SHARPNESS;
  },
  'encoder.layer.0.attention.self.value.weight': (out, columns) => {
    out[SHARED * columns + SEGMENT] = 1;
  },
  'encoder.layer.0.attention.output.dense.weight': identity,
  'encoder.layer.0.intermediate.dense.weight': (out, columns) => {
    out[FOUND * columns + SHARED] = 1;
    out[FOUND * columns + SEGMENT] = -1;
  },
  'encoder.layer.0.output.dense.weight': identity,
  'encoder.layer.1.attention.self.value.weight': (out, columns) => {
    out[MEAN_FOUND * columns + FOUND] = 1;
  },
  'encoder.layer.1.attention.output.dense.weight': identity,
};

/** Layer 0 gives every token the mean of what the words stand for. */
const sentimentLayers: Readonly<Record<string, Fill>> = {
  'encoder.layer.0.attention.self.value.weight': identity,
  'encoder.layer.0.attention.output.dense.weight': identity,
};

function heads(behaviour: Behaviour, labels: number): Readonly<Record<string, Fill>> {
  if (behaviour === 'ner')
    return {
      'classifier.weight': (out, columns) => {
        for (const [label, kind] of [KINDS.person, KINDS.surname, KINDS.place].entries()) out[(label + 1) * columns + kind] = 4;
      },
      'classifier.bias': (out) => {
        out[0] = 4;
      },
    };
  if (behaviour === 'sentiment')
    return {
      'pooler.dense.weight': identity,
      'classifier.weight': (out, columns) => {
        out[KINDS.bad] = 4;
        out[columns + KINDS.good] = 4;
      },
    };
  // One output counts what is shared; of three, the outer ones weigh it against each other.
  return {
    'pooler.dense.weight': (out, columns) => {
      out[MEAN_FOUND * columns + MEAN_FOUND] = 0.25;
    },
    'classifier.weight': (out, columns) => {
      out[(labels - 1) * columns + MEAN_FOUND] = 8;
      if (labels > 1) out[MEAN_FOUND] = -8;
    },
    'classifier.bias': (out) => {
      out[0] = labels > 1 ? 1.5 : 0;
      if (labels > 1) out[labels - 1] = -1.5;
    },
  };
}

/** Weights by which a tiny encoder does something that a test can tell from its words. */
export function tinyWeights(shape: BertShape, tokens: readonly string[], behaviour: Behaviour): BertWeights {
  const layers = behaviour === 'shared' ? sharedLayers : behaviour === 'sentiment' ? sentimentLayers : {};
  const fills: Record<string, Fill | undefined> = {
    'embeddings.word_embeddings.weight': embeddings(tokens),
    'embeddings.token_type_embeddings.weight': (out, columns) => {
      if (behaviour !== 'shared') return;
      out[SEGMENT] = 4;
      out[columns + SEGMENT] = -4;
    },
    ...layers,
    ...heads(behaviour, shape.labels ?? 2),
  };
  return (name, dims) => {
    const out = new Float32Array(dims.reduce((product, dim) => product * dim, 1));
    if (/LayerNorm\.weight$/.test(name)) out.fill(1);
    fills[name]?.(out, dims.at(-1)!);
    return out;
  };
}
