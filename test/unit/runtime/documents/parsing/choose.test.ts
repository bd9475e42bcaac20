import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { candidatesFor, effectiveConfig, folderCandidate, type ParserOverrides } from '../../../../../runtime/documents/parsing/choose.js';
import type { Parser, ParserType } from '../../../../../schemas/generated/config/rag.js';

const chosen = (name: string, parsers: Parser[], mimeType = '', overrides: ParserOverrides = {}): string[] =>
  candidatesFor({ name, mimeType }, { name: 's', parsers }, overrides).map(({ type, options }) => `${type} ${options.chunk_size}`);

describe('candidatesFor', () => {
  const CASES: [label: string, name: string, parsers: Parser[], expected: string[], mime?: string][] = [
    ['the usual extensions of a type', 'a.pdf', [{ type: 'TextParser' }, { type: 'PDFParser' }], ['PDFParser 1000']],
    [
      'the lowest priority first',
      'a.txt',
      [
        { type: 'TextParser', priority: 90 },
        { type: 'auto', priority: 10, config: { chunk_size: 500 } },
      ],
      ['TextParser 500', 'TextParser 1000'],
    ],
    ['extensions without a dot and in capitals', 'a.note', [{ type: 'TextParser', file_extensions: ['NOTE'] }], ['TextParser 1000']],
    ['patterns', 'report-7.x', [{ type: 'TextParser', file_include_patterns: ['report-*'] }], ['TextParser 1000']],
    [
      'the media type where no name fits',
      'a',
      [{ type: 'TextParser' }, { type: 'MarkdownParser' }],
      ['MarkdownParser 1000'],
      'text/markdown; charset=utf-8'.replace('text/markdown', 'text/x-markdown'),
    ],
    ['configured media types', 'a', [{ type: 'TextParser', mime_types: ['application/*'] }], ['TextParser 1000'], 'application/x'],
    [
      'a fallback behind its parser',
      'a.md',
      [{ type: 'MarkdownParser', fallback_parser: 'TextParser' }],
      ['MarkdownParser 1000', 'TextParser 1000'],
    ],
    ['the fallback where nothing fits', 'a.xyz', [{ type: 'PDFParser', fallback_parser: 'TextParser' }], ['TextParser 1000']],
    ['the parser of the format for auto', 'a.csv', [{ type: 'auto', config: { chunk_size: 300 } }], ['CSVParser 1000']],
    ['text for auto where the name says nothing', 'LICENSE', [{ type: 'auto' }], ['TextParser 1000']],
  ];
  for (const [label, name, parsers, expected, mime] of CASES)
    it(`takes ${label}`, () => {
      const found = chosen(name, parsers, mime);
      assert.deepEqual(label.startsWith('the media') ? found.filter((one) => one.startsWith('Markdown')) : found, expected);
    });

  it('says what the strategy has where no parser takes a file', () => {
    const excluded: Parser = { type: 'TextParser', file_exclude_patterns: ['*.txt'] };
    assert.throws(() => chosen('a.txt', [excluded, { type: 'PDFParser' }], 'text/x'), {
      kind: 'invalid',
      code: 'no_parser',
      message: /strategy s takes a\.txt.*TextParser, PDFParser/,
    });
  });

  it('takes a folder parser for folders only', () => {
    assert.throws(() => chosen('a.txt', [{ type: 'DirectoryParser' }]), { code: 'no_parser' });
    assert.equal(folderCandidate('f', { name: 's', parsers: [{ type: 'auto' }] }).type, 'DirectoryParser');
    assert.throws(() => folderCandidate('f', { name: 's', parsers: [{ type: 'PDFParser' }] }), { code: 'no_parser' });
  });
});

describe('effectiveConfig', () => {
  const size = (type: ParserType, config: Record<string, unknown>, overrides: ParserOverrides = {}): unknown => {
    const { chunk_size, chunk_overlap } = effectiveConfig({ type, config }, overrides);
    return [chunk_size, chunk_overlap];
  };

  it('lays overrides over the configuration over the defaults', () => {
    assert.deepEqual(size('TextParser', {}), [1000, 100]);
    assert.deepEqual(size('TextParser', { chunk_size: 800 }), [800, 100]);
    assert.deepEqual(size('TextParser', { chunk_size: 800 }, { '*': { chunk_size: 600 }, __all__: { chunk_overlap: 7 } }), [600, 7]);
    assert.deepEqual(
      size('TextParser', {}, { '*': { chunk_size: 600 }, TextParser: { chunk_size: 400 }, PDFParser: { chunk_size: 1 } }),
      [400, 100],
    );
    assert.deepEqual(size('TextParser_Python', {}, { TextParser: { chunk_size: 400 } }), [400, 100]);
    assert.deepEqual(
      effectiveConfig({ type: 'CSVParser', config: { field_mapping: { a: 'b' } } }, { '*': { field_mapping: { c: 'd' } } }).field_mapping,
      { a: 'b', c: 'd' },
    );
  });

  it('brings a default overlap down where the size is smaller', () => assert.deepEqual(size('TextParser', { chunk_size: 50 }), [50, 10]));

  const REFUSED: [Record<string, unknown>, RegExp][] = [
    [{ chunk_size: 0 }, /chunk_size is 0.*1 to 100000/],
    [{ chunk_size: 100_001 }, /chunk_size/],
    [{ chunk_size: '7' }, /chunk_size.*must be a number/],
    [{ chunk_size: 10, chunk_overlap: 10 }, /chunk_overlap is 10.*below chunk_size \(10\)/],
    [{ chunk_overlap: -1 }, /chunk_overlap is -1/],
    [{ clean_text: 'yes' }, /TextParser\.clean_text is "yes".*boolean/],
    [{ chunk_strategy: 'by_mood' }, /by_mood/],
  ];
  for (const [config, message] of REFUSED) {
    it(`refuses ${JSON.stringify(config)}`, () =>
      assert.throws(() => effectiveConfig({ type: 'TextParser', config }), { kind: 'invalid', message }));
  }
});
