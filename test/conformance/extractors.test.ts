import assert from 'node:assert/strict';
import { describe, it, mock } from 'node:test';
import type { Extracted, Extractor } from '../../runtime/documents/extractors/contract.js';
import { extractorOf, extractors } from '../../runtime/documents/extractors/index.js';
import type { ExtractorType } from '../../schemas/generated/config/rag.js';
import { EVERYTHING, HOSTILE_TEXTS, OPTION_CASES } from './extractor-cases.js';

/** Output over any text, at most. */
const OUTPUT_BYTES = 512 * 1024;
const KEYS: Record<ExtractorType, string> = {
  ContentStatisticsExtractor: 'statistics',
  HeadingExtractor: 'headings',
  KeywordExtractor: 'rake_keywords',
  YAKEExtractor: 'yake_keywords',
  RAKEExtractor: 'rake_keywords',
  TFIDFExtractor: 'tfidf_keywords',
  EntityExtractor: 'entities',
  DateTimeExtractor: 'datetime',
  LinkExtractor: 'links',
  PathExtractor: 'path',
  PatternExtractor: 'patterns',
  SummaryExtractor: 'summary',
  TableExtractor: 'tables',
};

/** What an extractor makes of a text, or the failure that it ends in, as one comparable value. */
function outcome(extractor: Extractor, text: string, options: Record<string, unknown>): string {
  try {
    return JSON.stringify(extractor.extract(text, options));
  } catch (error) {
    return `failure: ${(error as Error).message}`;
  }
}

/** Every text with offsets in the output must be what they cut out, or its start where it was too long. */
function offsetsHold(text: string, value: unknown): void {
  if (typeof value !== 'object' || value === null) return;
  const item = value as { text?: unknown; start?: unknown; end?: unknown };
  if (typeof item.text === 'string' && typeof item.start === 'number' && typeof item.end === 'number') {
    assert.ok(text.slice(item.start, item.end).startsWith(item.text) && item.text !== '', item.text.slice(0, 100));
  }
  for (const inner of Object.values(value)) offsetsHold(text, inner);
}

describe('extractors', () => {
  it('are found by each configured name', () => {
    assert.deepEqual(extractors.map((one) => one.type).toSorted(), Object.keys(KEYS).toSorted());
    for (const extractor of extractors) assert.equal(extractorOf(extractor.type), extractor);
  });

  for (const extractor of extractors) {
    const cases = OPTION_CASES[extractor.type];
    describe(extractor.type, () => {
      it('writes under its own key', () => {
        assert.deepEqual(Object.keys(extractor.extract('A text of some words.', {}).output), [KEYS[extractor.type]]);
      });

      it('has defaults inside their ranges that are the same as no options', () => {
        const defaults = Object.fromEntries(Object.entries(extractor.options).map(([name, shape]) => [name, shape.default]));
        for (const [name, shape] of Object.entries(extractor.options)) {
          if ('minimum' in shape) assert.ok(shape.default! >= shape.minimum && shape.default! <= shape.maximum, name);
          assert.notEqual(shape.description, '', name);
        }
        for (const { text } of Object.values(cases)) {
          assert.equal(outcome(extractor, text, defaults), outcome(extractor, text, { unknown_option: 1 }));
        }
      });

      it('has a case for each option', () => assert.deepEqual(Object.keys(cases).toSorted(), Object.keys(extractor.options).toSorted()));

      for (const [name, { text, value, base = {} }] of Object.entries(cases)) {
        it(`acts on ${name}`, () => {
          // In the middle of a year, so that dates without a year lie before and after today.
          mock.timers.enable({ apis: ['Date'], now: Date.UTC(2026, 5, 15) });
          try {
            assert.notEqual(outcome(extractor, text, { ...base, [name]: value }), outcome(extractor, text, base));
          } finally {
            mock.timers.reset();
          }
        });
      }

      for (const [what, text] of Object.entries(HOSTILE_TEXTS)) {
        it(`gives the same bounded JSON twice for ${what}`, () => {
          const options = EVERYTHING[extractor.type] ?? {};
          const first: Extracted = extractor.extract(text, options);
          const json = JSON.stringify(first);
          assert.ok(json.length <= OUTPUT_BYTES, `${json.length} bytes`);
          assert.deepEqual(JSON.parse(json), first);
          assert.deepEqual(extractor.extract(text, options), first);
          offsetsHold(text, first);
        });
      }
    });
  }
});
