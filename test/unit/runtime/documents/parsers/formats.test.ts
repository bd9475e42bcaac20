import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ParserType } from '../../../../../schemas/generated/config/rag.js';
import { workbook } from '../../../../support/documents.js';
import { blockTexts, parseWith } from '../../../../support/parse-with.js';

describe('text parser', () => {
  const ENCODINGS: [string, Uint8Array, string, string][] = [
    ['UTF-8 with a mark', Buffer.from('\ufeffcafé'), 'utf-8', 'utf-8'],
    ['UTF-16 with a mark', Buffer.from('\ufeffcafé', 'utf16le'), 'utf-8', 'utf-16le'],
    ['UTF-16 without a mark', Buffer.from('plain words', 'utf16le'), 'utf-8', 'utf-16le'],
    ['big-endian UTF-16', Buffer.from('plain words', 'utf16le').swap16(), 'utf-8', 'utf-16be'],
    ['Latin-1 where UTF-8 is configured', Buffer.from('café', 'latin1'), 'utf-8', 'windows-1252'],
    ['the configured encoding', Buffer.from([0x83, 0x65]), 'shift_jis', 'shift_jis'],
  ];
  for (const [label, bytes, configured, encoding] of ENCODINGS) {
    it(`reads ${label}`, async () => {
      const document = await parseWith('TextParser', bytes, { encoding: configured });
      assert.equal(document.metadata.encoding, encoding);
      assert.ok(['café', 'plain words', 'テ'].includes(document.text), document.text);
      assert.equal(document.warnings.length, encoding === 'windows-1252' ? 1 : 0);
    });
  }

  it('cleans, detects the language and says less when told', async () => {
    const source = 'The cat and the dog are in the house.  \r\n\r\n\r\n\r\nIt is not the one that we know.\u0007';
    const document = await parseWith('TextParser_LlamaIndex', source);
    assert.deepEqual(blockTexts(document), [
      'paragraph The cat and the dog are in the house.',
      'paragraph It is not the one that we know.',
    ]);
    assert.equal(document.metadata.language, 'en');
    assert.deepEqual((await parseWith('TextParser_LlamaIndex', source, { extract_metadata: false, detect_language: false })).metadata, {});
    assert.ok((await parseWith('TextParser', source, { clean_text: false })).text.includes('\u0007'));
  });
});

describe('markdown parser', () => {
  const SOURCE =
    '---\ntitle: On engines\n---\n# One #\n\n**Text** [l](http://x.y).\n\n```js\nlet a\n```\n\n| a | b |\n|---|---|\n| 1 | 2 |\n';

  it('keeps the structure, or the words alone', async () => {
    const kept = await parseWith('MarkdownParser', SOURCE);
    assert.deepEqual(
      blockTexts(kept).map((one) => one.split('\n')[0]),
      ['heading1 # One #', 'paragraph **Text** [l](http://x.y).', 'code ```js', 'table | a | b |'],
    );
    const plain = await parseWith('MarkdownParser', SOURCE, { preserve_structure: false });
    assert.deepEqual(blockTexts(plain), ['heading1 One', 'paragraph Text l.', 'code let a', 'table a | b\n1 | 2']);
  });

  it('tells title, headers, links and code', async () => {
    const { metadata } = await parseWith('MarkdownParser', SOURCE);
    const expected = {
      title: 'On engines',
      type: 'markdown_section',
      headers: ['One'],
      links: ['http://x.y'],
      code_blocks: 1,
      code_languages: ['js'],
    };
    assert.deepEqual(metadata, { ...expected, table_count: 1 });
    const less = await parseWith('MarkdownParser', SOURCE, { extract_links: false, extract_code_blocks: false, extract_tables: false });
    assert.deepEqual(Object.keys(less.metadata), ['title', 'type', 'headers']);
  });
});

describe('html parser', () => {
  it('reads damaged pages and leaves scripts and navigation out', async () => {
    const document = await parseWith(
      'HTMLParser',
      '<title>T</title><meta name=author content=Ada><nav>no</nav><script>no</script><h2>Head</h2>Loose <b>bold</b><p>Para<br>two<ul><li>one<li>two<ul><li>deep</ul></ul><pre>  a\n  b</pre><blockquote>q</blockquote><table><tr><th>k<th>v<tr><td>1<td>2</table>tail',
    );
    assert.deepEqual(blockTexts(document), [
      'heading2 Head',
      'paragraph Loose bold',
      'paragraph Para\ntwo',
      'list - one\n- two\n  - deep',
      'code   a\n  b',
      'quote q',
      'table k | v\n1 | 2',
      'paragraph tail',
    ]);
    assert.equal(document.metadata.title, 'T');
    assert.equal(document.metadata.author, 'Ada');
  });

  it('believes the charset that the page names', async () => {
    const page = Buffer.concat([Buffer.from('<meta charset="iso-8859-1"><p>caf'), Buffer.from([0xe9])]);
    assert.equal((await parseWith('HTMLParser', page)).text, 'café');
  });

  it('reads deep pages and refuses bottomless ones', async () => {
    assert.equal((await parseWith('HTMLParser', `${'<div>'.repeat(900)}deep`)).text, 'deep');
    await assert.rejects(parseWith('HTMLParser', '<div>'.repeat(50_000)), { code: 'too_deep' });
  });
});

describe('table parsers', () => {
  const TABLE = 'name;age;age\nAda;36;x\nAlan;NA;"a ""b"", c"\n';

  it('names the values of each row, finds the delimiter and drops what is missing', async () => {
    const document = await parseWith('CSVParser_Pandas', TABLE);
    assert.deepEqual(blockTexts(document), ['row name: Ada, age: 36, age_2: x', 'row name: Alan, age_2: a "b", c']);
    assert.deepEqual(document.blocks[1]!.metadata, { row_number: 2 });
  });

  const CASES: [string, Record<string, unknown>, string[]][] = [
    ['keeps NA where it is a value', { na_values: [''] }, ['row name: Ada, age: 36, age_2: x', 'row name: Alan, age: NA, age_2: a "b", c']],
    [
      'renames fields',
      { field_mapping: { name: 'who' }, na_values: ['', 'NA', 'x'] },
      ['row who: Ada, age: 36', 'row who: Alan, age_2: a "b", c'],
    ],
    ['puts fields on lines', { combine_fields: false }, ['row name: Ada\nage: 36\nage_2: x', 'row name: Alan\nage_2: a "b", c']],
    ['reads columns', { chunk_strategy: 'columns' }, ['paragraph name: Ada, Alan', 'paragraph age: 36', 'paragraph age_2: x, a "b", c']],
    [
      'skips rows',
      { skiprows: 1, has_header: false },
      ['row column_1: Ada, column_2: 36, column_3: x', 'row column_1: Alan, column_3: a "b", c'],
    ],
  ];
  for (const [label, config, expected] of CASES) {
    it(label, async () => assert.deepEqual(blockTexts(await parseWith('CSVParser_LlamaIndex', TABLE, config)), expected));
  }

  it('gives the values as metadata where each row is a chunk', async () => {
    const [first] = (await parseWith('CSVParser', 'name,age\nAda,36\n', { chunk_size: 1 })).blocks;
    assert.deepEqual(first!.metadata, { name: 'Ada', age: 36, row_number: 1 });
  });

  const BOOK = workbook({
    One: [
      ['k', 'v'],
      ['a', 1],
      ['b', '=B2*42'],
    ],
    Two: [['only'], ['here']],
  });
  const SHEETS: [string, ParserType, Record<string, unknown>, string[]][] = [
    ['reads every sheet', 'ExcelParser_OpenPyXL', {}, ['row k: a, v: 1', 'row k: b, v: 42', 'row only: here']],
    ['reads the sheets it is told', 'ExcelParser', { sheets: ['Two', 'Three'] }, ['row only: here']],
    [
      'shows formulas beside values',
      'ExcelParser',
      { extract_formulas: true, sheets: ['One'] },
      ['row k: a, v: 1', 'row k: b, v: 42 (=B2*42)'],
    ],
    ['shows formulas instead of values', 'ExcelParser', { data_only: false, sheets: ['One'] }, ['row k: a, v: 1', 'row k: b, v: =B2*42']],
    ['takes another header row', 'ExcelParser_LlamaIndex', { header_row: 1, sheets: ['One'] }, ['row a: b, 1: 42']],
  ];
  for (const [label, type, config, expected] of SHEETS) {
    it(label, async () => {
      const document = await parseWith(type, BOOK, config);
      assert.deepEqual(blockTexts(document), expected);
      assert.equal(document.warnings.length, Array.isArray(config.sheets) && config.sheets.includes('Three') ? 1 : 0);
    });
  }

  it('keeps sheets apart unless they are combined', async () => {
    const apart = async (config: Record<string, unknown>): Promise<boolean[]> =>
      (await parseWith('ExcelParser', BOOK, config)).blocks.map((block) => block.apart === true);
    assert.deepEqual(await apart({}), [true, false, true]);
    assert.deepEqual(await apart({ combine_sheets: true }), [false, false, false]);
  });
});

describe('json parser', () => {
  it('reads lists, objects and lines', async () => {
    assert.deepEqual(blockTexts(await parseWith('JSONParser', '[{"a":{"b":[1,2]},"c":[{"d":3}]},{"a":null}]')), [
      'paragraph a.b: 1, 2\nc[0].d: 3',
    ]);
    assert.deepEqual(blockTexts(await parseWith('JSONParser', '{"a":1,"b":"x"}')), ['paragraph a: 1', 'paragraph b: x']);
    assert.deepEqual(blockTexts(await parseWith('JSONParser', '{"a":1}\n{"a":2}\n')), ['paragraph a: 1', 'paragraph a: 2']);
  });

  it('says where it is not JSON, and refuses endless nesting', async () => {
    await assert.rejects(parseWith('JSONParser', '{"a":', {}, 'bad.json'), { code: 'damaged', message: /bad\.json.*not JSON/ });
    await assert.rejects(parseWith('JSONParser', `${'['.repeat(500)}{}${']'.repeat(500)}`), { code: 'too_deep' });
  });
});
