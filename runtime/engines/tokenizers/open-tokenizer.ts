import { Tokenizer } from '@huggingface/tokenizers';
import { Failure } from '../../../schemas/errors.js';
import type { Json } from '../../formats/model-files.js';
import { isTimeout, runWithTimeLimit } from '../../hosts/time-limit.js';

/** The contents of `tokenizer.json` as far as they are read here. */
interface Definition {
  readonly normalizer?: Json | null;
}

/** UTF-16 units of a word that are split at a time; a lattice takes about a kilobyte for each. */
const PART_UNITS = 8192;
/** Of those, the last ones only say how the ones before are split; the pieces of vocabularies are far shorter. */
const AHEAD_UNITS = 256;

/** What splits words into tokens, the texts of a word's tokens making up the word. */
interface WordSplitter {
  readonly tokens_to_ids: ReadonlyMap<string, number>;
  encode(words: string[]): string[];
}

/** What merges the letters of words into tokens, pair by pair. */
interface PairMerger {
  readonly merges: readonly (readonly string[])[];
  readonly end_of_word_suffix?: string | null;
  readonly continuing_subword_suffix?: string | null;
  encode(words: string[]): string[];
}

/** Where a word may begin in vocabularies that spell spaces, and a merge that reaches over such a place. */
const WORD_START = /(?<=[^\u2581])(?=\u2581)/;
/** UTF-16 units of a word that are merged at a time where it has no such place: an object is made for each. A cut costs a token or two. */
const MERGED_UNITS = 128 * 1024;

/** Time for a text, and for each of its characters: hundreds of times what usual patterns take, and enough for characters that are rewritten as eighteen. */
const TEXT_MS = 2000;
const CHARACTER_MS = 0.05;
/** Of the longest text: a host that is silent for 30 s is ended. */
const LONGEST_MS = 10_000;
/** For opening a tokenizer, by the tokens of its vocabulary. */
const TOKEN_MS = 0.05;
/** Characters of a text that a normalizer has changed. */
const NORMALISED_LIMIT = 16 * 1024 * 1024;

/** A step of a normalizer. */
interface NormalizerStep {
  readonly normalizers?: readonly (NormalizerStep | null)[];
  normalize?(text: string): string;
}

/**
 * The tokenizer of the contents of `tokenizer.json` and `tokenizer_config.json`, for texts of any length. Throws what the library throws. Where the file
 * brings patterns of its own, opening it and each of its calls are held to a time that grows with the text; beyond, and where its steps make a text of more than
 * 16 MiB, they throw `Failure('invalid')`.
 */
export function openTokenizer(definition: object, config: object): Tokenizer {
  const configured = configuredNormalizer(definition, config);
  const { model, normalizer, pre_tokenizer, decoder } = configured as Readonly<Record<string, { vocab?: unknown } | undefined>>;
  const hasPatterns = /"(?:Regex|Replace)"/.test(JSON.stringify([normalizer, pre_tokenizer, decoder]));
  const tokenizer = hasPatterns
    ? runBounded(msFor(Object.keys(model?.vocab ?? {}).length, TOKEN_MS), () => new Tokenizer(configured, config))
    : new Tokenizer(configured, config);
  // Only Unigram has a list of pieces.
  if (Array.isArray(model?.vocab) && tokenizer.model) splitInParts(tokenizer.model);
  else if (tokenizer.model && 'merges' in tokenizer.model) mergeInParts(tokenizer.model as unknown as PairMerger);
  if (hasPatterns) boundCalls(tokenizer);
  return tokenizer;
}

function runBounded<T>(limitMs: number, job: () => T): T {
  try {
    return runWithTimeLimit(job, limitMs, 'tokenise a text');
  } catch (cause) {
    if (!isTimeout(cause) && !(cause instanceof RangeError)) throw cause;
    const why = isTimeout(cause)
      ? `needs more than ${Math.round(limitMs)} ms for a text`
      : `makes too much of a text (${(cause as Error).message})`;
    throw new Failure('invalid', `A pattern of the model's tokenizer.json ${why}. Use a model with a sound tokenizer.`, {
      code: 'InvalidModelFile',
      cause,
    });
  }
}

const msFor = (count: number, eachMs = CHARACTER_MS): number => Math.min(TEXT_MS + count * eachMs, LONGEST_MS);

function boundCalls(tokenizer: Tokenizer): void {
  const { normalizer } = tokenizer;
  const encode = tokenizer.encode.bind(tokenizer);
  const decode = tokenizer.decode.bind(tokenizer);
  tokenizer.encode = ((text: string, options: object) => runBounded(msFor(text.length), () => encode(text, options))) as typeof encode;
  tokenizer.decode = (...call: Parameters<typeof decode>) => runBounded(msFor(call[0].length), () => decode(...call));
  boundSteps(normalizer as NormalizerStep | null);
  if (normalizer) tokenizer.normalizer = ((text: string) => runBounded(msFor(text.length), () => normalizer(text))) as typeof normalizer;
}

/** Makes each step of a normalizer refuse to write more than the limit: several that double a text would fill the memory. */
function boundSteps(step: NormalizerStep | null): void {
  for (const one of step?.normalizers ?? []) boundSteps(one);
  const normalize = step?.normalize?.bind(step);
  if (!step || !normalize) return;
  step.normalize = (text) => {
    const made = normalize(text);
    if (made.length > NORMALISED_LIMIT) throw new RangeError(`${made.length} characters of ${text.length}`);
    return made;
  };
}

/**
 * Makes a Unigram model split long words part by part. Where a text has no white space, or the vocabulary's words may hold it, all of the text is one word:
 * the library would lay out all of it at once, and gives up at some 120,000 tokens.
 */
function splitInParts(model: WordSplitter): void {
  const split = model.encode.bind(model);
  model.encode = (words) => {
    const tokens = words.flatMap((word) => (word.length > PART_UNITS ? longWord(word, split) : split([word])));
    return joinUnknown(tokens, model.tokens_to_ids);
  };
}

/**
 * Makes a model of byte pairs merge long words part by part. Where there is no pre-tokenizer all of a text is one word, and is looked at as one though no merge reaches
 * over the beginning of the next.
 */
function mergeInParts(model: PairMerger): void {
  if (model.end_of_word_suffix || model.continuing_subword_suffix) return;
  const merge = model.encode.bind(model);
  const cutsAtSpaces = model.merges.every((pair) => !WORD_START.test(pair.join('')));
  model.encode = (words) => {
    const parts: string[] = [];
    for (const word of words)
      for (const part of cutsAtSpaces && word.length > AHEAD_UNITS ? word.split(WORD_START) : [word])
        for (let at = 0; at < part.length; ) {
          // Not between the halves of one letter.
          const end = at + MERGED_UNITS + (/[\uDC00-\uDFFF]/.test(part.charAt(at + MERGED_UNITS)) ? 1 : 0);
          parts.push(part.slice(at, end));
          at = end;
        }
    return merge(parts);
  };
}

/** Unknown tokens in a row become one. The library does so too, in time that grows with the square of their number. */
function joinUnknown(tokens: readonly string[], known: WordSplitter['tokens_to_ids']): string[] {
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

/** The classes whose tokenizers transformers makes anew with a `BertNormalizer`, by their own settings. */
const BERT_CLASS = /^(?:Bert|DistilBert|Electra|MPNet|MobileBert|SqueezeBert|ConvBert|Funnel|LayoutLM|Lxmert|Splinter)Tokenizer(?:Fast)?$/;

/**
 * A tokenizer of BERT's kind with what its `tokenizer_config.json` says of case, accents and Chinese characters, which goes before the same settings in
 * `tokenizer.json`, as in Python's `AutoTokenizer`; all others as they are.
 */
export function configuredNormalizer(definition: object, config: object): object {
  const { normalizer } = definition as Definition;
  const { tokenizer_class: kind, do_lower_case, strip_accents, tokenize_chinese_chars } = config as Json;
  if (normalizer?.type !== 'BertNormalizer' || (typeof kind === 'string' && !BERT_CLASS.test(kind))) return definition;
  const settings: Record<string, unknown> = { ...normalizer };
  if (typeof do_lower_case === 'boolean') settings.lowercase = do_lower_case;
  // Null means that accents go with the case.
  if (typeof strip_accents === 'boolean' || strip_accents === null) settings.strip_accents = strip_accents;
  if (typeof tokenize_chinese_chars === 'boolean') settings.handle_chinese_chars = tokenize_chinese_chars;
  return { ...definition, normalizer: settings };
}

/** A tokenizer that brings texts to lower case before it does anything else with them. */
export function lowerCasing(definition: object): object {
  const { normalizer } = definition as Definition;
  const normalizers = [{ type: 'Lowercase' }, ...(normalizer ? [normalizer] : [])];
  return { ...definition, normalizer: { type: 'Sequence', normalizers } };
}
