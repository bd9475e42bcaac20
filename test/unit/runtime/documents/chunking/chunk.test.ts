import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { chunkSpans, strategyOf } from '../../../../../runtime/documents/chunking/chunk.js';
import { CHUNK_STRATEGIES, type ChunkingOptions } from '../../../../../runtime/documents/chunking/contract.js';
import { placed } from '../../../../../runtime/documents/chunking/passages.js';
import type { Block, ParsedDocument } from '../../../../../runtime/documents/parsers/contract.js';
import { DocumentWriter } from '../../../../../runtime/documents/parsers/writer.js';

const LIMITS = { textBytes: 1e9, pages: 1e6, unpackedBytes: 1e9 };
const WORDS = [
  'engine',
  'weaves',
  'a',
  'algebra.',
  'patterns',
  '👩‍🚀',
  '𝒜𝓁𝑔𝑒𝒷𝓇𝒶',
  'flowers!',
  '数を織る。',
  'Supercalifragilisticexpialidocious',
  '\n',
  '\t',
];
const KINDS: Block['kind'][] = ['heading', 'paragraph', 'paragraph', 'list', 'code', 'table'];

/** A small generator of numbers below `limit` (mulberry32), so that a failing document can be made again. */
function numbers(seed: number): (limit: number) => number {
  let state = seed;
  return (limit) => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) % limit;
  };
}

function document(seed: number): ParsedDocument {
  const next = numbers(seed);
  const writer = new DocumentWriter('x', LIMITS);
  const blocks = 1 + next(12);
  for (let index = 0; index < blocks; index += 1) {
    const words = Array.from({ length: 1 + next(60) }, () => WORDS[next(WORDS.length)]!);
    const kind = KINDS[next(KINDS.length)]!;
    writer.add(kind, words.join(next(5) === 0 ? '' : ' '), {
      page: 1 + Math.floor(index / 3),
      apart: next(6) === 0,
      ...(kind === 'heading' ? { level: 1 + next(3) } : {}),
      metadata: { section: `s${next(2)}` },
    });
  }
  return writer.finish({});
}

const options = (strategy: ChunkingOptions['strategy'], size: number, overlap = 0): ChunkingOptions => ({
  strategy,
  size,
  overlap,
  bufferSize: 1,
  breakpointPercentile: 80,
});

function texts(source: ParsedDocument, chosen: ChunkingOptions): string[] {
  return chunkSpans(source, chosen).map((span) => source.text.slice(span.start, span.end));
}

function written(...blocks: [Block['kind'], string, Partial<Block>?][]): ParsedDocument {
  const writer = new DocumentWriter('x', LIMITS);
  for (const [kind, text, extras] of blocks) writer.add(kind, text, extras);
  return writer.finish({});
}

describe('chunkSpans', () => {
  for (const strategy of CHUNK_STRATEGIES) {
    it(`covers every text in order with ${strategy}`, () => {
      for (let seed = 1; seed <= 150; seed += 1) {
        const source = document(seed);
        const next = numbers(seed * 7919);
        const size = 20 + next(200);
        const overlap = next(size);
        const spans = chunkSpans(source, options(strategy, size, overlap));
        const label = `seed ${seed}, size ${size}, overlap ${overlap}`;
        let covered = 0;
        for (const { start, core, end } of spans) {
          const text = source.text.slice(start, end);
          assert.ok(text.trim() === text && text !== '', `${label}: ${JSON.stringify(text)}`);
          assert.ok(!/\p{Surrogate}/u.test(text), `${label}: a surrogate pair is cut`);
          assert.ok(start <= core && core < end && end > covered, label);
          assert.equal(source.text.slice(covered, Math.max(covered, start)).trim(), '', `${label}: text is left out`);
          if (strategy !== 'rows' && strategy !== 'full')
            assert.ok(text.length <= size * (strategy === 'tokens' ? 4 : 1), `${label}: ${text.length}`);
          covered = end;
        }
        assert.equal(source.text.slice(covered).trim(), '', label);
      }
    });
  }

  const prose = written(['paragraph', 'One two three. Four five six.'], ['paragraph', 'Seven eight nine.']);
  const sections = written(
    ['paragraph', 'Before.'],
    ['heading', 'A', { level: 1 }],
    ['heading', 'A.1', { level: 2 }],
    ['paragraph', 'Text a1.'],
    ['heading', 'B', { level: 1 }],
    ['paragraph', 'Text b.', { page: 2 }],
  );
  const rows = written(
    ...Array.from({ length: 5 }, (_, at): [Block['kind'], string, Partial<Block>] => [
      'row',
      `r${at + 1}`,
      { metadata: { row_number: at + 1 } },
    ]),
  );
  const CASES: [string, ParsedDocument, ChunkingOptions, string[]][] = [
    ['words that fit', prose, options('characters', 14), ['One two three.', 'Four five six.', 'Seven eight', 'nine.']],
    ['sentences', prose, options('sentences', 20), ['One two three.', 'Four five six.', 'Seven eight nine.']],
    ['paragraphs', prose, options('paragraphs', 40), ['One two three. Four five six.', 'Seven eight nine.']],
    ['paragraphs together where they fit', prose, options('paragraphs', 100), [prose.text]],
    ['sections', sections, options('sections', 100), ['Before.', 'A\n\nA.1\n\nText a1.', 'B\n\nText b.']],
    ['pages', sections, options('pages', 100), ['Before.\n\nA\n\nA.1\n\nText a1.\n\nB', 'Text b.']],
    ['rows', rows, options('rows', 2), ['r1\nr2', 'r3\nr4', 'r5']],
    ['rows with overlap', rows, options('rows', 3, 1), ['r1\nr2\nr3', 'r3\nr4\nr5']],
    ['rows of one sheet', written(['row', 'r1'], ['row', 'r2', { apart: true }], ['row', 'r3']), options('rows', 3, 1), ['r1', 'r2\nr3']],
    ['columns', rows, options('columns', 100), ['r1', 'r2', 'r3', 'r4', 'r5']],
    ['the whole', prose, options('full', 1), [prose.text]],
    ['tokens of four characters', prose, options('tokens', 4), ['One two three.', 'Four five six.', 'Seven eight', 'nine.']],
    ['words that repeat', written(['paragraph', 'aa bb cc dd ee']), options('characters', 8, 3), ['aa bb cc', 'cc dd ee']],
  ];
  for (const [label, source, chosen, expected] of CASES) it(`cuts ${label}`, () => assert.deepEqual(texts(source, chosen), expected));

  it('cuts where the words change, without a model', () => {
    const cats = 'The cat likes milk. A cat drinks the milk. Milk makes the cat happy.';
    const rockets = 'The rocket burns fuel. Fuel lifts the rocket. A rocket needs much fuel.';
    const source = written(['paragraph', `${cats} ${rockets}`]);
    assert.deepEqual(texts(source, { ...options('semantic', 1000), breakpointPercentile: 80 }), [cats, rockets]);
  });

  it('keeps a definition together', () => {
    const source = written(['code', 'def a():\n  return 1'], ['code', 'def b():\n  return 2']);
    assert.deepEqual(texts(source, options('code', 25)), ['def a():\n  return 1', 'def b():\n  return 2']);
  });

  it('refuses more chunks than a document may have', () => {
    const source = written(['paragraph', 'a '.repeat(600_000)]);
    assert.throws(() => chunkSpans(source, options('characters', 1)), { kind: 'invalid', code: 'too_many_chunks' });
  });

  it('reads the spellings of configurations and lists the known', () => {
    assert.equal(strategyOf('code-aware'), 'code');
    assert.throws(() => strategyOf('by_mood'), /by_mood.*characters.*full/);
  });

  it('knows page and titles of each chunk', () => {
    const spans = placed(sections, chunkSpans(sections, options('sections', 100)));
    assert.deepEqual(
      spans.map(({ headings, metadata }) => [headings, metadata.section]),
      [
        [[], undefined],
        [['A', 'A.1'], 'A.1'],
        [['B'], 'B'],
      ],
    );
    const pages = placed(sections, chunkSpans(sections, options('pages', 100)));
    assert.deepEqual(
      pages.map((one) => one.page),
      [undefined, 2],
    );
  });

  it('counts the rows of each chunk', () => {
    const spans = placed(rows, chunkSpans(rows, options('rows', 2)));
    assert.deepEqual(
      spans.map(({ metadata }) => [metadata.row_number, metadata.row_end]),
      [
        [1, 2],
        [3, 4],
        [5, undefined],
      ],
    );
  });
});
