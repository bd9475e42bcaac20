import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import { zipSync } from 'fflate';
import { type Parsed, Parsing, type ParsingRequest } from '../../../../../runtime/documents/parsing/parsing.js';
import { UNIVERSAL_STRATEGY } from '../../../../../runtime/library/ingest/ingest.js';
import { compound, docx, drawn, pdf, wordParagraph, workbook } from '../../../../support/documents.js';

const MEBIBYTE = 1024 * 1024;

describe('Parsing', () => {
  let folder: string;
  const parsing = new Parsing({ hosts: 2, unpackedBytes: 160 * MEBIBYTE });
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quern-parsing-'));
  });
  after(async () => {
    await parsing.close();
    await rm(folder, { recursive: true });
  });

  async function request(name: string, content: string | Uint8Array, more: Partial<ParsingRequest> = {}): Promise<ParsingRequest> {
    const path = join(folder, `${Math.random()}`);
    const bytes = Buffer.from(content);
    await writeFile(path, bytes);
    return { file: { path, name, mimeType: '', sizeBytes: bytes.length }, strategy: UNIVERSAL_STRATEGY, ...more };
  }

  async function parse(name: string, content: string | Uint8Array, more: Partial<ParsingRequest> = {}, by = parsing): Promise<Parsed> {
    return by.parse(await request(name, content, more), new AbortController().signal);
  }

  it('gives passages with place, metadata and what the extractors found', async () => {
    const { parser, text, passages, warnings, extractors } = await parse(
      'notes.md',
      '# One\n\nThe engine weaves.\n\n# Two\n\nPatterns of algebra.',
    );
    assert.equal(parser, 'MarkdownParser');
    assert.deepEqual(warnings, []);
    assert.deepEqual(extractors, ['ContentStatisticsExtractor', 'HeadingExtractor', 'KeywordExtractor']);
    assert.deepEqual(
      passages.map((one) => one.text),
      ['# One\n\nThe engine weaves.', '# Two\n\nPatterns of algebra.'],
    );
    const [first, second] = passages;
    assert.equal(text.slice(second!.start, second!.end), second!.text);
    assert.deepEqual(second!.headings, ['Two']);
    const { extractors: found, ...metadata } = first!.metadata as { extractors: Record<string, unknown> } & Record<string, unknown>;
    assert.deepEqual(Object.keys(found).sort(), ['headings', 'rake_keywords', 'statistics']);
    const expected = {
      source: 'notes.md',
      source_type: 'file',
      file_extension: '.md',
      parser_type: 'MarkdownParser',
      chunk_index: 0,
      chunk_number: 1,
      total_chunks: 2,
      chunk_length: 25,
      section: 'One',
    };
    assert.deepEqual(Object.fromEntries(Object.keys(expected).map((key) => [key, metadata[key]])), expected);
  });

  const LYING: [label: string, name: string, content: () => string | Uint8Array, parser: string][] = [
    ['a PDF called text', 'a.txt', () => pdf([drawn([[10, 0, 'Words.']])]), 'PDFParser'],
    ['a Word document called PDF', 'a.pdf', () => docx(wordParagraph('Words.')), 'DocxParser'],
    ['text called PDF', 'a.pdf', () => 'Words.', 'TextParser'],
    ['a page called PDF', 'a.pdf', () => '<!DOCTYPE html><html><p>Words.', 'HTMLParser'],
  ];
  for (const [label, name, content, parser] of LYING) {
    it(`reads ${label} as what it is and says so`, async () => {
      const parsed = await parse(name, content());
      assert.equal(parsed.parser, parser);
      assert.equal(parsed.text, 'Words.');
      assert.match(parsed.warnings[0]!, /not what its name says/);
    });
  }

  it('cuts a file whose name lies as auto is told', async () => {
    const strategy = { name: 's', parsers: [{ type: 'auto' as const, config: { chunk_size: 12, chunk_overlap: 0 } }] };
    const { parser, options } = await parse('a.pdf', 'One two. Three four.', { strategy });
    assert.deepEqual([parser, options.chunk_size, options.chunk_overlap], ['TextParser', 12, 0]);
  });

  const REFUSED: [name: string, content: () => string | Uint8Array, code: string][] = [
    ['nothing.txt', () => '', 'empty_file'],
    ['blank.txt', () => ' \n\t', 'empty_file'],
    ['bad.pdf', () => '%PDF-1.7 nonsense', 'damaged'],
    ['cut.docx', () => docx(wordParagraph('x')).slice(0, 400), 'damaged'],
    ['bomb.docx', () => docx('', { 'word/document.xml': 'a'.repeat(100 * MEBIBYTE) }), 'archive_bomb'],
    ['nested.zip', () => zipSync({ 'a.zip': zipSync({ 'b.txt': Buffer.from('b') }) }), 'unread_format'],
    ['locked.xlsx', () => compound({ EncryptionInfo: Buffer.alloc(300), EncryptedPackage: Buffer.alloc(8192) }), 'password_protected'],
    ['picture.txt', () => Buffer.from('89504e470d0a1a0a00000000', 'hex'), 'unread_format'],
    ['random.csv', () => Buffer.from(Array.from({ length: 300 }, (_, at) => (at * 37) % 256)), 'unread_format'],
    ['long.txt', () => 'a b '.repeat(25 * MEBIBYTE), 'too_much_text'],
    ['deep.html', () => '<b>'.repeat(5000), 'too_deep'],
    ['scanned.pdf', () => pdf(['0 0 10 10 re f']), 'no_text'],
  ];
  for (const [name, content, code] of REFUSED) {
    it(`refuses ${name} as ${code} and reads on in the same process`, async () => {
      await parse('before.txt', 'before');
      const pids = parsing.pids;
      await assert.rejects(parse(name, content()), (error: { kind: string; code: string; message: string }) => {
        assert.deepEqual([error.kind, error.code], ['invalid', code], error.message);
        assert.ok(error.message.includes(name), error.message);
        return true;
      });
      assert.equal((await parse('good.txt', 'good')).text, 'good');
      assert.ok(pids.every((pid) => parsing.pids.includes(pid)));
    });
  }

  it('tries the fallback where the parser fails', async () => {
    const strategy = { name: 's', parsers: [{ type: 'JSONParser' as const, fallback_parser: 'TextParser' }] };
    const { parser, text } = await parse('a.json', 'no { json', { strategy });
    assert.deepEqual([parser, text], ['TextParser', 'no { json']);
  });

  it('cuts a preview as it is told', async () => {
    const { passages, options } = await parse('a.txt', 'One two. Three four.', {
      preview: { chunk_size: 10, chunk_overlap: 0, chunk_strategy: 'sentences' },
    });
    assert.deepEqual(
      passages.map((one) => one.text),
      ['One two.', 'Three', 'four.'],
    );
    assert.deepEqual([options.chunk_size, options.chunk_strategy], [10, 'sentences']);
  });

  it('keeps a file whose extractor fails', async () => {
    const extractors = [{ type: 'SummaryExtractor' as const, config: { algorithm: 'by_mood' } }, { type: 'LinkExtractor' as const }];
    const { passages, extractors: applied } = await parse('a.txt', 'See https://example.org now.', {
      strategy: { name: 's', parsers: [{ type: 'auto' }], extractors },
    });
    assert.deepEqual(applied, ['LinkExtractor']);
    assert.deepEqual(passages[0]!.metadata.links, ['https://example.org']);
  });

  it('runs extractors for the files they are for', async () => {
    const extractors = [{ type: 'LinkExtractor' as const, file_include_patterns: ['*.md'] }];
    const strategy = { name: 's', parsers: [{ type: 'auto' as const }], extractors };
    assert.deepEqual((await parse('a.txt', 'x', { strategy })).extractors, []);
    assert.deepEqual((await parse('a.md', 'x', { strategy })).extractors, ['LinkExtractor']);
  });

  it('names its outcome by content, options and name', async () => {
    const base = await request('a.txt', 'x');
    const key = parsing.key(base, 'h1');
    assert.match(key, /^[0-9a-f]{64}$/);
    assert.equal(parsing.key({ ...base, file: { ...base.file, path: 'elsewhere' } }, 'h1'), key);
    const others = [
      parsing.key(base, 'h2'),
      parsing.key({ ...base, file: { ...base.file, name: 'a.md' } }, 'h1'),
      parsing.key({ ...base, overrides: { '*': { chunk_size: 5 } } }, 'h1'),
      parsing.key({ ...base, strategy: { name: 's', parsers: [{ type: 'auto', config: { chunk_size: 5 } }] } }, 'h1'),
    ];
    assert.equal(new Set([key, ...others]).size, 5);
  });

  const LONG: [string, () => Uint8Array, RegExp][] = [
    [
      'a PDF of 300 pages',
      () =>
        pdf(
          Array.from({ length: 300 }, (_, page) =>
            drawn(Array.from({ length: 25 }, (_, line) => [10, 14, `Line ${line} of page ${page}.`])),
          ),
        ),
      /Line 24 of page 299\./,
    ],
    [
      'a workbook, in one go',
      () => workbook({ One: Array.from({ length: 60_000 }, (_, row) => [`word ${row}`, row, 'and more']) }),
      /word 59999/,
    ],
  ];
  for (const [name, content, expected] of LONG)
    it(`waits for a process that works, however long it is silent: ${name}`, async () => {
      // Silence of 0.2 s would be the end of one that stands still.
      const impatient = new Parsing({ hosts: 1, pingIntervalMs: 30 });
      try {
        assert.match((await parse(name, content(), {}, impatient)).text, expected);
      } finally {
        await impatient.close();
      }
    });

  it('ends a process that stands still, and says so', async () => {
    const slow = await request('slow.txt', 'word '.repeat(8 * MEBIBYTE));
    const impatient = new Parsing({ hosts: 1, pingIntervalMs: 50 });
    try {
      await parse('first.txt', 'first', {}, impatient);
      const stopped = assert.rejects(impatient.parse(slow, new AbortController().signal), {
        kind: 'unavailable',
        code: 'parser_stuck',
        message: /slow\.txt was not read: .* gave no sign of life.*try again/,
      });
      setImmediate(() => process.kill(impatient.pids[0]!, 'SIGSTOP'));
      await stopped;
      assert.equal((await parse('next.txt', 'next', {}, impatient)).text, 'next');
    } finally {
      await impatient.close();
    }
  });

  it('says of a process how it ended', async () => {
    const slow = await request('slow.txt', 'word '.repeat(8 * MEBIBYTE));
    for (const [signal, message] of [
      ['SIGKILL', /ended from outside/],
      ['SIGABRT', /crashed \(SIGABRT\)/],
    ] as const) {
      const one = new Parsing({ hosts: 1 });
      try {
        await parse('first.txt', 'first', {}, one);
        const failed = assert.rejects(one.parse(slow, new AbortController().signal), { code: 'parser_crashed', message });
        setImmediate(() => process.kill(one.pids[0]!, signal));
        await failed;
      } finally {
        await one.close();
      }
    }
  });

  it('names memory where the heap of the process is full', async () => {
    const narrow = new Parsing({ hosts: 1, memoryBytes: 64 * MEBIBYTE });
    try {
      await assert.rejects(parse('fat.txt', 'word '.repeat(8 * MEBIBYTE), {}, narrow), {
        code: 'parse_memory',
        message: /fat\.txt .*memory/,
      });
    } finally {
      await narrow.close();
    }
  });

  it('fails only the file whose process is killed', async () => {
    const slow = await request('slow.txt', 'word '.repeat(8 * MEBIBYTE));
    const one = new Parsing({ hosts: 1 });
    try {
      await parse('first.txt', 'first', {}, one);
      const failed = assert.rejects(one.parse(slow, new AbortController().signal), { code: 'parser_crashed', message: /slow\.txt/ });
      const next = parse('next.txt', 'next', {}, one);
      setImmediate(() => process.kill(one.pids[0]!, 'SIGKILL'));
      await failed;
      assert.equal((await next).text, 'next');
    } finally {
      await one.close();
    }
  });

  it('ends a file that takes too long or too much memory, and reads the next', async () => {
    const hurried = new Parsing({ hosts: 1, timeoutMs: 300 });
    const cramped = new Parsing({ hosts: 1, memoryBytes: 130 * MEBIBYTE });
    try {
      const big = 'word '.repeat(8 * MEBIBYTE);
      await assert.rejects(parse('slow.txt', big, {}, hurried), {
        kind: 'invalid',
        code: 'parse_timed_out',
        message: /slow\.txt was not read within 0\.3 s/,
      });
      await assert.rejects(parse('fat.txt', big, {}, cramped), (error: { code: string; message: string }) => {
        assert.ok(['parse_memory', 'parser_crashed'].includes(error.code) && error.message.includes('fat.txt'), error.message);
        return true;
      });
      assert.equal((await parse('next.txt', 'next', {}, cramped)).text, 'next');
    } finally {
      await Promise.all([hurried.close(), cramped.close()]);
    }
  });

  it('stops when the caller goes, also while the file waits', async () => {
    const one = new Parsing({ hosts: 1 });
    try {
      const control = new AbortController();
      const running = one.parse(await request('slow.txt', 'word '.repeat(8 * MEBIBYTE)), control.signal);
      const waiting = one.parse(await request('waiting.txt', 'x'), control.signal);
      const both = Promise.all([assert.rejects(running, /gone/), assert.rejects(waiting, /gone/)]);
      control.abort(new Error('gone'));
      await both;
      assert.equal((await parse('next.txt', 'next', {}, one)).text, 'next');
    } finally {
      await one.close();
    }
  });
});
