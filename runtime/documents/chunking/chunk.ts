import { Failure } from '../../../schemas/errors.js';
import type { Block, ParsedDocument } from '../parsers/contract.js';
import { CHUNK_STRATEGIES, type ChunkingOptions, type ChunkStrategy, type Unit } from './contract.js';
import { type ChunkSpan, packed, trimmed } from './pack.js';
import { markBreaks } from './semantic.js';
import { blockUnits, lineUnits, sentenceUnits, wordUnits } from './units.js';

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
  return spans.map((span) => trimmed(text, span)).filter((span) => span.end > span.start);
}

/** Without a tokenizer at hand a token counts as four characters, the usual mean of English text. */
const TOKEN_UNITS = 4;

type Cut = (unit: Unit) => Iterable<Unit>;

/** Cuts units by a finer measure where `when` says so; the first part keeps that it stands apart. One by one: a long text has millions of words. */
function* refined(units: Iterable<Unit>, cut: Cut, when: (unit: Unit) => boolean): Generator<Unit> {
  for (const unit of units) {
    if (!when(unit)) yield unit;
    else for (const part of cut(unit)) yield unit.apart === true && part.start === unit.start ? { ...part, apart: true } : part;
  }
}

/** Marks the blocks before which `apart` is true, given the block and the one before. */
function marked(units: readonly Unit[], blocks: readonly Block[], apart: (block: Block, before: Block) => boolean): Unit[] {
  return units.map((unit, index) => {
    const block = blocks[index];
    const before = blocks[index - 1];
    return block && before && apart(block, before) ? { ...unit, apart: true } : unit;
  });
}

function unitsOf(document: ParsedDocument, options: ChunkingOptions, size: number): Iterable<Unit> {
  const { text, blocks } = document;
  const units = blockUnits(document);
  const sentences: Cut = (unit) => sentenceUnits(text, unit);
  const all = (): boolean => true;
  switch (options.strategy) {
    case 'characters':
    case 'tokens':
      return refined(units, (unit) => wordUnits(text, unit, size), all);
    case 'sentences':
      return refined(units, sentences, all);
    case 'semantic':
      return markBreaks(text, [...refined(units, sentences, all)], options.bufferSize, options.breakpointPercentile);
    case 'sections':
    case 'headings':
      // A heading right below another one opens the same section.
      return marked(units, blocks, (block, before) => block.kind === 'heading' && before.kind !== 'heading');
    case 'pages':
      return marked(units, blocks, (block, before) => block.page !== before.page);
    case 'email_sections':
      return marked(units, blocks, (block, before) => block.metadata?.section !== before.metadata?.section);
    case 'columns':
      return marked(units, blocks, all);
    case 'code':
      return refined(
        units,
        (unit) => lineUnits(text, unit),
        (unit) => unit.end - unit.start > size,
      );
    default:
      return units;
  }
}

/**
 * The stretches of a document's text that become its chunks, in order. They cover everything but white space, none is empty, none cuts a
 * surrogate pair, and only `rows` and `full` may exceed the size.
 */
export function chunkSpans(document: ParsedDocument, options: ChunkingOptions): ChunkSpan[] {
  const { text, blocks } = document;
  const factor = options.strategy === 'tokens' ? TOKEN_UNITS : 1;
  const size = options.size * factor;
  if (options.strategy === 'full') return packed(text, [{ start: 0, end: text.length }], text.length, 0);
  if (options.strategy === 'rows' && blocks.length > 0) return rowSpans(document, options.size, options.overlap);
  const long = (unit: Unit): boolean => unit.end - unit.start > size;
  const coarse = refined(unitsOf(document, options, size), (unit) => sentenceUnits(text, unit), long);
  const units = refined(coarse, (unit) => wordUnits(text, unit, size), long);
  return packed(text, units, size, options.overlap * factor);
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
