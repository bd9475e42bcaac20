import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import type { ParsedDocument } from '../../../../../runtime/documents/parsers/contract.js';
import { parserOf } from '../../../../../runtime/documents/parsers/index.js';
import { effectiveConfig } from '../../../../../runtime/documents/parsing/choose.js';
import { docx, drawn, eml, epub, odt, pdf, pptx, wordParagraph, wordPart } from '../../../../support/documents.js';
import { blockTexts, parseWith, SMALL_LIMITS } from '../../../../support/parse-with.js';

describe('office parsers', () => {
  const DOCUMENT = docx(
    `${wordParagraph('One', 'Heading1')}${wordParagraph('Text.')}<w:tbl><w:tr><w:tc>${wordParagraph('k')}</w:tc><w:tc>${wordParagraph('v')}</w:tc></w:tr></w:tbl>`,
    {
      'word/header1.xml': wordPart('hdr', 'Top'),
      'word/footer1.xml': wordPart('ftr', 'Bottom'),
      'word/comments.xml': wordPart('comments', 'Note'),
    },
  );
  const DOCX: [Record<string, unknown>, string[]][] = [
    [{}, ['header Top', 'heading1 One', 'paragraph Text.', 'table k | v']],
    [{ extract_headers: false, extract_tables: false }, ['heading1 One', 'paragraph Text.']],
    [
      { extract_footers: true, extract_comments: true },
      ['header Top', 'heading1 One', 'paragraph Text.', 'table k | v', 'footer Bottom', 'paragraph Note'],
    ],
    [
      { extract_headers: false, include_header_footer: true },
      ['header Top', 'heading1 One', 'paragraph Text.', 'table k | v', 'footer Bottom'],
    ],
  ];
  for (const [config, expected] of DOCX) {
    it(`reads Word with ${JSON.stringify(config)}`, async () =>
      assert.deepEqual(blockTexts(await parseWith('DocxParser', DOCUMENT, config)), expected));
  }

  it('tells what a Word document says of itself', async () => {
    const { metadata } = await parseWith('DocxParser', DOCUMENT);
    assert.equal(metadata.title, 'On engines');
    assert.equal(metadata.author, 'Ada');
    assert.deepEqual(metadata.headers, ['One']);
    assert.deepEqual((await parseWith('DocxParser', DOCUMENT, { extract_metadata: false })).metadata, {});
  });

  it('reads slides as pages', async () => {
    const document = await parseWith(
      'PowerPointParser',
      pptx([
        ['First', 'One.'],
        ['Second', 'Two.'],
      ]),
    );
    assert.deepEqual(blockTexts(document), [
      'heading1 First',
      'paragraph One.',
      'table k | v',
      'heading1 Second',
      'paragraph Two.',
      'table k | v',
    ]);
    assert.deepEqual(
      document.blocks.map((block) => block.page),
      [1, 1, 1, 2, 2, 2],
    );
    await assert.rejects(parseWith('PowerPointParser', pptx(Array.from({ length: 4 }, () => ['a', 'b'] as const))), {
      code: 'too_many_pages',
    });
  });

  it('reads the chapters of a book in its order', async () => {
    const document = await parseWith('EPUBParser', epub(['<h1>One</h1><p>Text.</p>', '<h1>Two</h1>']));
    assert.deepEqual(blockTexts(document), ['heading1 One', 'paragraph Text.', 'heading1 Two']);
    assert.equal(document.metadata.author, 'Ada');
  });

  it('reads OpenDocument and refuses an encrypted one', async () => {
    const content =
      '<text:h text:outline-level="2">One</text:h><text:p>A<text:s text:c="2"/>b<text:tab/>c</text:p><text:list><text:list-item><text:p>i</text:p></text:list-item></text:list><table:table><table:table-row><table:table-cell><text:p>k</text:p></table:table-cell><table:table-cell><text:p>v</text:p></table:table-cell></table:table-row></table:table>';
    assert.deepEqual(blockTexts(await parseWith('ODTParser', odt(content))), [
      'heading2 One',
      'paragraph A  b\tc',
      'list - i',
      'table k | v',
    ]);
    await assert.rejects(parseWith('ODTParser', odt(content, '<manifest:encryption-data/>')), { code: 'password_protected' });
  });

  it('refuses XML entities', async () => {
    const bomb = docx('', { 'word/document.xml': '<!DOCTYPE x [<!ENTITY a "aaaa">]><w:document/>' });
    await assert.rejects(parseWith('DocxParser', bomb), { code: 'xml_entities' });
  });
});

describe('pdf parser', () => {
  const PAGE = drawn([
    [24, 0, 'Big title'],
    [10, 40, 'First line'],
    [10, 12, 'second line.'],
    [10, 40, 'Apart.'],
  ]);

  it('finds headings, paragraphs and pages, and names pages without text', async () => {
    const document = await parseWith(
      'PDFParser',
      pdf([PAGE, '0 0 10 10 re f', drawn([[10, 0, 'Third page.']])], '/Title(On engines)/CreationDate(D:20240131120000Z)'),
    );
    assert.deepEqual(blockTexts(document), [
      'heading1 Big title',
      'paragraph First line\nsecond line.',
      'paragraph Apart.',
      'paragraph Third page.',
    ]);
    assert.deepEqual(
      document.blocks.map((block) => block.page),
      [1, 1, 1, 3],
    );
    assert.deepEqual(
      document.blocks.map((block) => block.apart),
      [true, false, false, true],
    );
    assert.deepEqual(document.warnings, ['page 2 has no text layer']);
    assert.equal(document.metadata.title, 'On engines');
    assert.equal(document.metadata.created, '2024-01-31T12:00:00Z');
    assert.equal(document.metadata.page_count, 3);
  });

  it('joins lines and pages when told', async () => {
    const document = await parseWith('PDFParser', pdf([PAGE]), { preserve_layout: false, combine_pages: true, extract_page_info: false });
    assert.equal(blockTexts(document)[1], 'paragraph First line second line.');
    assert.notEqual(document.blocks[0]!.apart, true);
    assert.equal(document.metadata.page_count, undefined);
  });

  it('refuses more pages than the limit, and what is no PDF', async () => {
    await assert.rejects(parseWith('PDFParser', pdf([PAGE, PAGE, PAGE, PAGE]), {}, 'long.pdf'), {
      code: 'too_many_pages',
      message: /long\.pdf has 4 pages.*3/,
    });
    await assert.rejects(parseWith('PDFParser', '%PDF-1.4 nonsense', {}, 'bad.pdf'), { code: 'damaged', message: /bad\.pdf/ });
  });
});

describe('mail parsers', () => {
  it('reads headers, body and attachments as sections', async () => {
    const document = await parseWith('EMLParser', eml());
    assert.deepEqual(
      document.blocks.map((block) => block.metadata?.section),
      ['headers', 'body', 'attachment'],
    );
    assert.deepEqual(blockTexts(document).slice(1), ['paragraph The body.', 'row k: 1, v: 2']);
    assert.equal(document.metadata.title, 'On engines');
  });

  it('leaves out what it is told to', async () => {
    const document = await parseWith('EMLParser', eml(), { extract_headers: false, include_attachment_content: false });
    assert.deepEqual(blockTexts(document), ['paragraph The body.', 'paragraph Attachment: t.csv (8 bytes)']);
    assert.deepEqual(blockTexts(await parseWith('EMLParser', eml(), { extract_headers: false, extract_attachments: false })), [
      'paragraph The body.',
    ]);
  });

  it('warns of an attachment that cannot be read', async () => {
    const document = await parseWith('EMLParser', eml('%PDF-1.4 nonsense', 'bad.pdf'));
    assert.match(document.warnings[0]!, /bad\.pdf/);
  });
});

describe('rtf parser', () => {
  it('reads letters of every kind and skips what is no text', async () => {
    const source =
      "{\\rtf1\\ansi\\ansicpg1252{\\fonttbl{\\f0 Arial;}}{\\info{\\title T}}{\\*\\generator x}caf\\'e9 \\u8364?\\u-10179?\\u-8704? \\{x\\}\\par Next\\tab end}";
    const document = await parseWith('RTFParser', source);
    assert.deepEqual(blockTexts(document), ['paragraph café €😀 {x}', 'paragraph Next\tend']);
    assert.equal(document.metadata.title, 'T');
  });
});

describe('code parser', () => {
  it('cuts at definitions, with the comments above them', async () => {
    const document = await parseWith(
      'CodeParser',
      'import os\n\n# doc\n@cached\ndef f(x):\n    return x\n\nclass A:\n    def m(self):\n        pass\n',
      {},
      'a.py',
    );
    assert.deepEqual(
      blockTexts(document).map((one) => one.split('\n')[0]),
      ['code import os', 'code # doc', 'code class A:'],
    );
    assert.deepEqual(document.metadata, { type: 'source_code', code_language: 'python', symbols: ['f', 'A'] });
  });
});

describe('folder parser', () => {
  it('stays inside, and obeys patterns, depth and links', async () => {
    const outside = await mkdtemp(join(tmpdir(), 'quern-outside-'));
    const root = await mkdtemp(join(tmpdir(), 'quern-folder-'));
    await mkdir(join(root, 'a/b'), { recursive: true });
    await Promise.all([
      writeFile(join(outside, 'secret.txt'), 'secret'),
      writeFile(join(root, 'one.txt'), 'one'),
      writeFile(join(root, 'a/two.md'), '# two'),
      writeFile(join(root, 'a/b/three.txt'), 'three'),
      writeFile(join(root, 'a/bad.pdf'), '%PDF-1.4'),
      symlink(join(outside, 'secret.txt'), join(root, 'link.txt')),
      symlink(root, join(root, 'a/loop')),
    ]);
    const read = async (config: Record<string, unknown>): Promise<ParsedDocument> =>
      parserOf('DirectoryParser')!.parse(
        { path: root, name: 'folder', mimeType: '', sizeBytes: 0 },
        effectiveConfig({ type: 'DirectoryParser', config }),
        SMALL_LIMITS,
      );
    const all = await read({ follow_symlinks: true });
    assert.deepEqual(
      all.blocks.map((block) => block.metadata?.file_path),
      ['a/b/three.txt', 'a/two.md', 'one.txt'],
    );
    assert.ok(
      all.warnings.some((warning) => warning.includes('bad.pdf')) &&
        all.warnings.some((warning) => warning.startsWith('link.txt leads out')),
    );
    assert.equal((await read({ recursive: false })).text, 'one');
    assert.equal((await read({ max_depth: 2, exclude_patterns: ['*.pdf', '*.md'] })).text, 'one');
    assert.equal((await read({ exclude_patterns: ['a'] })).text, 'one');
    await Promise.all([rm(root, { recursive: true }), rm(outside, { recursive: true })]);
  });
});
