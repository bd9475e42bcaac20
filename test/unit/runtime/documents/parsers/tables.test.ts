import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { strToU8, zipSync } from 'fflate';
import { readFile } from '../../../../../runtime/documents/parsing/read.js';
import type { ParserType } from '../../../../../schemas/generated/config/rag.js';
import { compound, odt, oldWorkbook, sheetRows, sheetXlsx, streamOf, workbook } from '../../../../support/documents.js';
import { blockTexts, parseWith, SMALL_LIMITS } from '../../../../support/parse-with.js';

interface Case {
  readonly name: string;
  readonly type: ParserType;
  readonly content: string | (() => Uint8Array);
  readonly config?: Record<string, unknown>;
  readonly blocks: readonly string[];
}

const sheet =
  (rows: readonly (readonly (string | number | null)[])[], merged: readonly string[] = []) =>
  (): Uint8Array =>
    sheetXlsx(sheetRows(rows), merged);
const odsRow = (...cells: string[]): string => `<table:table-row>${cells.join('')}</table:table-row>`;
const odsCell = (text: string, attributes = ''): string => `<table:table-cell ${attributes}><text:p>${text}</text:p></table:table-cell>`;

const DIGITS: readonly Case[] = [
  {
    name: 'a card number of 16 digits in a sheet, and what else a general format would shorten',
    type: 'ExcelParser',
    content: sheet([
      ['card', 'account', 'price', 'third'],
      [4111111111111111, 123456789012, 1234567890.25, 1 / 3],
    ]),
    blocks: ['row card: 4111111111111111, account: 123456789012, price: 1234567890.25, third: 0.333333333'],
  },
  {
    name: 'more digits than a double holds, as other programs write them into a sheet',
    type: 'ExcelParser',
    content: sheet([['order'], ['12345678901234567890n'], ['-98765432109876543210n']]),
    blocks: ['row order: 12345678901234567890', 'row order: -98765432109876543210'],
  },
  {
    name: 'a card number in a binary workbook',
    type: 'ExcelParser',
    content: () => oldWorkbook([['card'], [4111111111111111]], 'xlsb'),
    blocks: ['row card: 4111111111111111'],
  },
  {
    name: 'a card number in an old workbook',
    type: 'ExcelParser',
    content: () => oldWorkbook([['card'], [4111111111111111]], 'biff8'),
    blocks: ['row card: 4111111111111111'],
  },
  {
    name: 'a card number in an OpenDocument sheet that is shown in powers of ten',
    type: 'ODTParser',
    content: () =>
      odt(`<table:table>${odsRow(odsCell('4.11E+15', 'office:value-type="float" office:value="4111111111111111"'))}</table:table>`),
    blocks: ['table 4111111111111111'],
  },
  {
    name: 'long numbers of JSON, and zeros at the end of short ones',
    type: 'JSONParser',
    content: '{"id": 12345678901234567890, "price": 1.10, "said": "1.10 \\"12345678901234567890\\\\", "many": [9007199254740993, 1]}',
    blocks: [
      'paragraph id: 12345678901234567890',
      'paragraph price: 1.10',
      'paragraph said: 1.10 "12345678901234567890\\',
      'paragraph many: 9007199254740993, 1',
    ],
  },
  {
    name: 'long numbers in lines of JSON and below',
    type: 'JSONParser',
    content: '{"a": {"b": [{"id": 1844674407370955161612}]}}\n{"a": -0.12345678901234567890}\n',
    blocks: ['paragraph a.b[0].id: 1844674407370955161612', 'paragraph a: -0.12345678901234567890'],
  },
];

const NOTHING_LOST: readonly Case[] = [
  {
    name: 'a sheet of one row',
    type: 'ExcelParser',
    content: sheet([['Only one row', 'of words']]),
    blocks: ['row Only one row, of words'],
  },
  {
    name: 'a sheet of one row beside a table',
    type: 'ExcelParser',
    content: () => workbook({ One: [['A note']], Two: [['k'], ['v']] }),
    blocks: ['row A note', 'row k: v'],
  },
  {
    name: 'a sheet of one row, read by columns',
    type: 'ExcelParser',
    content: sheet([['Only one row']]),
    config: { chunk_strategy: 'columns' },
    blocks: ['row Only one row'],
  },
  { name: 'a table of text that is but its header', type: 'CSVParser', content: 'name,age\n', blocks: ['row name, age'] },
  {
    name: 'formulas without stored values',
    type: 'ExcelParser',
    content: sheet([
      ['item', 'price'],
      ['tea', 3],
      ['sum', '=SUM(B2:B2)'],
    ]),
    blocks: ['row item: tea, price: 3', 'row item: sum, price: =SUM(B2:B2)'],
  },
  {
    name: 'a row at the end of a sheet, with a million empty ones before',
    type: 'ExcelParser',
    content: () => sheetXlsx(`${sheetRows([['k'], ['v']])}<row r="1048576"><c r="A1048576"><v>7</v></c></row>`),
    blocks: ['row k: v', 'row k: 7'],
  },
  {
    name: 'equal neighbours of an OpenDocument sheet, which are stored once',
    type: 'ODTParser',
    content: () => odt(`<table:table>${odsRow(odsCell('5', 'table:number-columns-repeated="3"'), odsCell('6'))}</table:table>`),
    blocks: ['table 5 | 5 | 5 | 6'],
  },
];

const HEADERS: readonly Case[] = [
  {
    name: 'a merged title above the header',
    type: 'ExcelParser',
    content: sheet([['Title of report'], ['Name', 'Age'], ['Ada', 36]], ['A1:C1']),
    blocks: ['heading Title of report', 'row Name: Ada, Age: 36'],
  },
  {
    name: 'lines of words and an empty row above the header',
    type: 'ExcelParser',
    content: sheet([['Sales'], ['Printed', 'in May'], [], ['Name', 2023, 2024, 'Notes', 'Region'], ['Ada', 1, 2, 'n', 'North']]),
    blocks: ['heading Sales\nPrinted in May', 'row Name: Ada, 2023: 1, 2024: 2, Notes: n, Region: North'],
  },
  {
    name: 'a title above a table of text',
    type: 'CSVParser',
    content: 'Sales of May\n\nName,Age\nAda,36\n',
    blocks: ['heading Sales of May', 'row Name: Ada, Age: 36'],
  },
  {
    name: 'a title above a table of text with another delimiter than the usual',
    type: 'CSVParser',
    content: 'Sales of May, printed in June\n\nName;Age\nAda;36\nAlan;41\n',
    blocks: ['heading Sales of May, printed in June', 'row Name: Ada, Age: 36', 'row Name: Alan, Age: 41'],
  },
  {
    name: 'a header that names its first column only',
    type: 'ExcelParser',
    content: sheet([['Item'], ['tea', 3], ['milk', 4]]),
    blocks: ['row Item: tea, column_2: 3', 'row Item: milk, column_2: 4'],
  },
  {
    name: 'the row that is asked for',
    type: 'ExcelParser',
    content: sheet([['Title'], ['a', 'b'], ['c', 'd'], ['e', 'f']]),
    config: { header_row: 2 },
    blocks: ['row c: e, d: f'],
  },
  {
    name: 'cells merged downwards',
    type: 'ExcelParser',
    content: sheet(
      [
        ['Region', 'Q1'],
        ['North', 5],
        [null, 7],
      ],
      ['A2:A3'],
    ),
    blocks: ['row Region: North, Q1: 5', 'row Region: North, Q1: 7'],
  },
  {
    name: 'cells merged to the right',
    type: 'ExcelParser',
    content: sheet(
      [
        ['Region', 'Q1', 'Q2'],
        ['North', 'none', null],
        ['South', 1, 2],
      ],
      ['B2:C2'],
    ),
    blocks: ['row Region: North, Q1: none, Q2: none', 'row Region: South, Q1: 1, Q2: 2'],
  },
  {
    name: 'cells merged in both directions, beyond the table too',
    type: 'ExcelParser',
    content: sheet([['Region', 'Q1', 'Q2'], ['North', 'none'], ['South']], ['B2:C3', 'A3:A1000000']),
    blocks: ['row Region: North, Q1: none, Q2: none', 'row Region: South, Q1: none, Q2: none'],
  },
  {
    name: 'columns in groups',
    type: 'ExcelParser',
    content: sheet(
      [
        ['Region', '2023', null, '2024', null],
        [null, 'Q1', 'Q2', 'Q1', 'Q2'],
        ['North', 1, 2, 3, 4],
      ],
      ['A1:A2', 'B1:C1', 'D1:E1'],
    ),
    blocks: ['row Region: North, 2023 Q1: 1, 2023 Q2: 2, 2024 Q1: 3, 2024 Q2: 4'],
  },
  {
    name: 'a name over two columns above rows of words',
    type: 'ExcelParser',
    content: sheet(
      [
        ['Name', 'Contact', null],
        ['Ada', 'by post', 'London'],
      ],
      ['B1:C1'],
    ),
    blocks: ['row Name: Ada, Contact: by post, Contact_2: London'],
  },
  {
    name: 'cells of an OpenDocument sheet merged in both directions',
    type: 'ODTParser',
    content: () =>
      odt(
        `<table:table>${odsRow(odsCell('North', 'table:number-rows-spanned="2"'), odsCell('none', 'table:number-columns-spanned="2"'), '<table:covered-table-cell/>')}${odsRow('<table:covered-table-cell/>', odsCell('1'), odsCell('2'))}</table:table>`,
      ),
    blocks: ['table North | none | none\nNorth | 1 | 2'],
  },
];

for (const [title, cases] of [
  ['tables and JSON keep every digit', DIGITS],
  ['tables lose nothing', NOTHING_LOST],
  ['headers of tables', HEADERS],
] as const)
  describe(title, () => {
    for (const { name, type, content, config = {}, blocks } of cases)
      it(name, async () => {
        assert.deepEqual(blockTexts(await parseWith(type, typeof content === 'string' ? content : content(), config)), blocks);
      });
  });

describe('workbooks by their content', () => {
  const TABLE = [
    ['k', 'v'],
    ['words', 4111111111111111],
  ];
  const biff8 = streamOf(oldWorkbook(TABLE, 'biff8'), 'Workbook');
  const read = (name: string, bytes: Uint8Array): Promise<{ text: string }> =>
    readFile({
      file: { path: '', name, mimeType: '', sizeBytes: bytes.length, bytes },
      strategy: { name: 's', parsers: [{ type: 'auto' }] },
      limits: SMALL_LIMITS,
    });
  const FILES: Record<string, () => Uint8Array> = {
    'a stream in capitals': () => compound({ WORKBOOK: biff8 }),
    'a stream in small letters': () => compound({ workbook: biff8 }),
    'the stream of Excel 5': () => oldWorkbook(TABLE, 'biff5'),
    'Excel 2, without a container': () => oldWorkbook(TABLE, 'biff2'),
    'Excel 2003 as XML': () => oldWorkbook(TABLE, 'xlml'),
    'the exchange format of Multiplan': () => oldWorkbook(TABLE, 'sylk'),
    'a document of Word inside it': () => compound({ Workbook: biff8, 'MBD0001/WordDocument': Buffer.from('inner') }),
  };
  for (const [label, bytes] of Object.entries(FILES))
    it(label, async () => {
      assert.equal((await read('a.xls', bytes())).text, 'k: words, v: 4111111111111111');
    });
});

describe('formats that are not read say what to do', () => {
  const zip = (...paths: string[]): Uint8Array => zipSync(Object.fromEntries(paths.map((path) => [path, strToU8('x')])));
  const REFUSED: [string, Uint8Array, RegExp][] = [
    ['a.pages', zip('Index/Document.iwa', 'preview.jpg'), /Pages document.*PDF or DOCX/],
    ['a.key', zip('Index/Document.iwa', 'Index/Slide.iwa'), /Keynote.*PDF or PPTX/],
    ['a.numbers', zip('Index/Document.iwa', 'Index/Tables/DataList.iwa'), /Numbers.*XLSX or CSV/],
    ['renamed.zip', zip('Index/Document.iwa'), /Pages, Numbers or Keynote.*PDF or DOCX/],
    ['a.hwp', compound({ FileHeader: Buffer.from('HWP Document File'), 'BodyText/Section0': Buffer.from('x') }), /Hangul.*PDF or DOCX/],
    ['a.hwpx', zip('mimetype', 'Contents/section0.xml', 'META-INF/container.xml'), /Hangul.*PDF or DOCX/],
    ['a.chm', Buffer.concat([Buffer.from('ITSF'), Buffer.alloc(200)]), /help file.*HTML/],
    ['a.xps', zip('FixedDocumentSequence.fdseq'), /XPS.*PDF/],
    ['a.zip', zip('a.txt'), /ZIP archive.*unpack/],
  ];
  for (const [name, bytes, message] of REFUSED)
    it(name, async () => {
      // Also where the strategy has a parser for other files only.
      for (const type of ['auto', 'TextParser'] as const)
        await assert.rejects(
          readFile({
            file: { path: '', name, mimeType: '', sizeBytes: bytes.length, bytes },
            strategy: { name: 's', parsers: [{ type }] },
            limits: SMALL_LIMITS,
          }),
          { kind: 'invalid', code: 'unread_format', message },
        );
    });
});
