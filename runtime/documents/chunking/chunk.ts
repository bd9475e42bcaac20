import { Failure } from '../../../schemas/errors.js';
import type { Block, ParsedDocument } from '../parsers/contract.js';
import { stopWordsOf } from '../text/stop-words.js';
import { wordsOf } from '../text/words.js';
import { CHUNK_STRATEGIES, type ChunkingOptions, type ChunkStrategy, type Unit } from './contract.js';
import { blockUnits, type ChunkSpan, lineUnits, packChunks, sentenceUnits, trimSpan, wordUnits } from './units.js';

/** Without a tokenizer at hand a token counts as four characters, the usual mean of English text. */
const TOKEN_UNITS = 4;

/**
 * The stretches of a document's text that become its chunks, in order. They cover everything but white space, none is empty, none cuts a
 * surrogate pair, and only `rows` and `full` may exceed the size.
 */
export function chunkSpans(document: ParsedDocument, options: ChunkingOptions): ChunkSpan[] {
  const { text, blocks } = document;
  const factor = options.strategy === 'tokens' ? TOKEN_UNITS : 1;
  const size = options.size * factor;
  if (options.strategy === 'full') return packChunks(text, [{ start: 0, end: text.length }], text.length, 0);
  if (options.strategy === 'rows' && blocks.length > 0) return rowSpans(document, options.size, options.overlap);
  const long = (unit: Unit): boolean => unit.end - unit.start > size;
  const coarse = refineUnits(unitsOf(document, options, size), (unit) => sentenceUnits(text, unit), long);
  const units = refineUnits(coarse, (unit) => wordUnits(text, unit, size), long);
  return packChunks(text, units, size, options.overlap * factor);
}

/** Rows stop filling a chunk here, whatever their number: more is neither embedded nor read well. */
const ROWS_UNITS = 8000;

/** Chunks of at most `size` rows, `overlap` of them repeated, and of at most 8,000 code units unless one row alone is longer. */
function rowSpans({ text, blocks }: ParsedDocument, size: number, overlap: number): ChunkSpan[] {
  const spans: ChunkSpan[] = [];
  let first = 0;
  let done = 0;
  while (done < blocks.length) {
    let last = Math.max(first, done);
    while (
      last + 1 < blocks.length &&
      last + 1 - first < size &&
      blocks[last + 1]!.apart !== true &&
      blocks[last + 1]!.end - blocks[first]!.start <= ROWS_UNITS
    )
      last += 1;
    spans.push({ start: blocks[first]!.start, core: blocks[done]!.start, end: blocks[last]!.end });
    done = last + 1;
    const repeats = blocks[done]?.apart === true ? 0 : overlap;
    first = Math.max(first + 1, done - repeats);
    while (first < done && (blocks[done] === undefined || blocks[done]!.end - blocks[first]!.start > ROWS_UNITS)) first += 1;
  }
  return spans.map((span) => trimSpan(text, span)).filter((span) => span.end > span.start);
}

type Cut = (unit: Unit) => Iterable<Unit>;

/** Cuts units by a finer measure where `when` says so; the first part keeps that it stands apart. One by one: a long text has millions of words. */
function* refineUnits(units: Iterable<Unit>, cut: Cut, when: (unit: Unit) => boolean): Generator<Unit> {
  for (const unit of units) {
    if (!when(unit)) yield unit;
    else for (const part of cut(unit)) yield unit.apart === true && part.start === unit.start ? { ...part, apart: true } : part;
  }
}

function unitsOf(document: ParsedDocument, options: ChunkingOptions, size: number): Iterable<Unit> {
  const { text, blocks } = document;
  const units = blockUnits(document);
  const sentences: Cut = (unit) => sentenceUnits(text, unit);
  const all = (): boolean => true;
  switch (options.strategy) {
    case 'characters':
    case 'tokens':
      return refineUnits(units, (unit) => wordUnits(text, unit, size), all);
    case 'sentences':
      return refineUnits(units, sentences, all);
    case 'semantic':
      return markBreaks(text, [...refineUnits(units, sentences, all)], options.bufferSize, options.breakpointPercentile);
    case 'sections':
    case 'headings':
      // A heading right below another one opens the same section.
      return markApart(units, blocks, (block, before) => block.kind === 'heading' && before.kind !== 'heading');
    case 'pages':
      return markApart(units, blocks, (block, before) => block.page !== before.page);
    case 'email_sections':
      return markApart(units, blocks, (block, before) => block.metadata?.section !== before.metadata?.section);
    case 'columns':
      return markApart(units, blocks, all);
    case 'code':
      return refineUnits(
        units,
        (unit) => lineUnits(text, unit),
        (unit) => unit.end - unit.start > size,
      );
    default:
      return units;
  }
}

type Weights = Map<string, number>;

/**
 * Marks the sentences at which the subject changes. Without a model: the words of the `bufferSize` sentences before and after each gap are
 * compared (cosine), and gaps whose distance lies above the percentile of all distances are cut.
 */
function markBreaks(text: string, sentences: readonly Unit[], bufferSize: number, percentile: number): Unit[] {
  if (sentences.length < 3) return [...sentences];
  const counted = sentences.map((one) => countWords(text.slice(one.start, one.end)));
  const distances = counted.slice(1).map((_, gap) => {
    const before: Weights = new Map();
    const after: Weights = new Map();
    for (let step = 0; step < bufferSize; step += 1) {
      if (counted[gap - step]) addWeights(before, counted[gap - step]!);
      if (counted[gap + 1 + step]) addWeights(after, counted[gap + 1 + step]!);
    }
    return distance(before, after);
  });
  const sorted = [...distances].sort((a, b) => a - b);
  const place = ((sorted.length - 1) * percentile) / 100;
  const low = sorted[Math.floor(place)]!;
  const threshold = low + (sorted[Math.ceil(place)]! - low) * (place % 1);
  return sentences.map((one, index) => (index > 0 && distances[index - 1]! > threshold ? { ...one, apart: true } : one));
}

/** Word stems are cut to this length, so that forms of a word meet without a dictionary. */
const STEM_UNITS = 6;

const ignored = stopWordsOf('en');

function countWords(text: string): Weights {
  const counted: Weights = new Map();
  for (const word of wordsOf(text)) {
    const stem = word.text.toLowerCase().slice(0, STEM_UNITS);
    if (!ignored.has(word.text.toLowerCase())) counted.set(stem, (counted.get(stem) ?? 0) + 1);
  }
  return counted;
}

function addWeights(into: Weights, more: Weights): void {
  for (const [word, count] of more) into.set(word, (into.get(word) ?? 0) + count);
}

function distance(left: Weights, right: Weights): number {
  let product = 0;
  let leftLength = 0;
  let rightLength = 0;
  for (const [word, count] of left) {
    leftLength += count * count;
    product += count * (right.get(word) ?? 0);
  }
  for (const count of right.values()) rightLength += count * count;
  return leftLength === 0 || rightLength === 0 ? 0.5 : 1 - product / Math.sqrt(leftLength * rightLength);
}

/** Marks the blocks before which `apart` is true, given the block and the one before. */
function markApart(units: readonly Unit[], blocks: readonly Block[], apart: (block: Block, before: Block) => boolean): Unit[] {
  return units.map((unit, index) => {
    const block = blocks[index];
    const before = blocks[index - 1];
    return block && before && apart(block, before) ? { ...unit, apart: true } : unit;
  });
}

/** Spellings of other versions of the project file. */
const ALIASES: Readonly<Record<string, ChunkStrategy>> = {
  character: 'characters',
  sentence: 'sentences',
  paragraph: 'paragraphs',
  section: 'sections',
  heading: 'headings',
  page: 'pages',
  row: 'rows',
  'code-aware': 'code',
  token: 'tokens',
};

/** The strategy of a configured name. Throws `Failure('invalid')` that lists the known ones. */
export function strategyOf(name: unknown): ChunkStrategy {
  const known = CHUNK_STRATEGIES.find((one) => one === name) ?? ALIASES[String(name)];
  if (known) return known;
  throw new Failure('invalid', `chunk_strategy is ${JSON.stringify(name)}; it must be one of ${CHUNK_STRATEGIES.join(', ')}.`);
}
