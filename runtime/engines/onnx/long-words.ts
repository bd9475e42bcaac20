import { Tokenizer } from '@huggingface/tokenizers';
import { configuredNormalizer } from './normalizers.js';

/** UTF-16 units of a word that are split at a time; a lattice takes about a kilobyte for each. */
const PART_UNITS = 8192;
/** Of those, the last ones only say how the ones before are split; the pieces of vocabularies are far shorter. */
const AHEAD_UNITS = 256;

/** What splits words into tokens, the texts of a word's tokens making up the word. */
interface WordSplitter {
  readonly tokens_to_ids: ReadonlyMap<string, number>;
  encode(words: string[]): string[];
}

/** The tokenizer of the contents of `tokenizer.json` and `tokenizer_config.json`, for texts of any length. Throws what the library throws. */
export function openTokenizer(definition: object, config: object): Tokenizer {
  const tokenizer = new Tokenizer(configuredNormalizer(definition, config), config);
  const { model } = definition as { model?: { vocab?: unknown } };
  // Only Unigram has a list of pieces.
  if (Array.isArray(model?.vocab) && tokenizer.model) splitInParts(tokenizer.model);
  return tokenizer;
}

/**
 * Makes a Unigram model split long words part by part. Where a text has no white space, or the vocabulary's words may hold it, all of the text is one word:
 * the library would lay out all of it at once, and gives up at some 120,000 tokens.
 */
function splitInParts(model: WordSplitter): void {
  const split = model.encode.bind(model);
  model.encode = (words) => {
    const tokens = words.flatMap((word) => (word.length > PART_UNITS ? longWord(word, split) : split([word])));
    return joined(tokens, model.tokens_to_ids);
  };
}

/** Unknown tokens in a row become one. The library does so too, in time that grows with the square of their number. */
function joined(tokens: readonly string[], known: WordSplitter['tokens_to_ids']): string[] {
  const joint: string[] = [];
  let follows = false;
  for (const token of tokens) {
    const isUnknown = !known.has(token);
    if (isUnknown && follows) joint[joint.length - 1] += token;
    else joint.push(token);
    follows = isUnknown;
  }
  return joint;
}

function longWord(word: string, split: WordSplitter['encode']): string[] {
  const tokens: string[] = [];
  let at = 0;
  while (word.length - at > PART_UNITS) {
    const known = at + PART_UNITS - AHEAD_UNITS;
    for (const token of split([word.slice(at, at + PART_UNITS)])) {
      if (at >= known) break;
      tokens.push(token);
      at += token.length;
    }
  }
  return tokens.concat(split([word.slice(at)]));
}
