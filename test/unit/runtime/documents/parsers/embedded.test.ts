import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ParserType } from '../../../../../schemas/generated/config/rag.js';
import { blockTexts, parseWith } from '../../../../support/parse-with.js';

const IMAGE = Buffer.from(Array.from({ length: 1500 }, (_, at) => (at * 37) % 251)).toString('base64');
const NOTEBOOK = {
  nbformat: 4,
  metadata: { language_info: { name: 'python' }, kernelspec: { language: 'x' } },
  cells: [
    {
      cell_type: 'markdown',
      source: ['# Sales\n', `Text ![c](data:image/png;base64,${IMAGE}) after.`],
      attachments: { 'a.png': { 'image/png': IMAGE } },
    },
    {
      cell_type: 'code',
      source: ['df.plot()\n', 'df'],
      outputs: [
        { output_type: 'stream', text: ['\u001b[31mloaded\u001b[0m\n', 'two rows\n'] },
        { output_type: 'display_data', data: { 'image/png': IMAGE, 'text/plain': ['<Figure size 640x480 with 1 Axes>'] } },
        {
          output_type: 'execute_result',
          data: { 'text/html': '<table><tr><th>k<th>v<tr><td>a<td>1</table>', 'text/plain': '   k  v\n0  a  1' },
        },
        { output_type: 'error', ename: 'KeyError', evalue: "'x'", traceback: ['\u001b[0;31mlong'] },
      ],
    },
    { cell_type: 'raw', source: 'raw text' },
  ],
};

describe('files in files of text', () => {
  it('are left out of notebooks, whose cells and outputs are read', async () => {
    const document = await parseWith('NotebookParser', JSON.stringify(NOTEBOOK));
    assert.deepEqual(blockTexts(document), [
      'heading1 # Sales',
      'paragraph Text ![c](data:image/png) after.',
      'code df.plot()\ndf',
      'code loaded\ntwo rows',
      'table k | v\na | 1',
      "paragraph KeyError: 'x'",
      'paragraph raw text',
    ]);
    assert.deepEqual(document.blocks[2]!.metadata, { cell_number: 2, code_language: 'python' });
    assert.deepEqual(document.metadata, { type: 'notebook', code_language: 'python', cell_count: 3 });
    const bare = await parseWith('NotebookParser', JSON.stringify(NOTEBOOK), { extract_outputs: false });
    assert.equal(bare.blocks.length, 4);
  });

  it('are left out of notebooks of format 3', async () => {
    const older = {
      nbformat: 3,
      worksheets: [
        {
          cells: [
            { cell_type: 'heading', level: 2, source: 'Old' },
            {
              cell_type: 'code',
              input: ['1+1'],
              outputs: [
                { output_type: 'pyout', png: IMAGE, text: '<Figure>' },
                { output_type: 'pyout', text: ['2'] },
              ],
            },
          ],
        },
      ],
    };
    assert.deepEqual(blockTexts(await parseWith('NotebookParser', JSON.stringify(older))), ['heading2 Old', 'code 1+1', 'code 2']);
  });

  const OTHERS: readonly [ParserType, string, readonly string[]][] = [
    [
      'MarkdownParser',
      `a ![x](data:image/svg+xml;charset=utf-8;base64,${IMAGE})\n\nb`,
      ['paragraph a ![x](data:image/svg+xml)', 'paragraph b'],
    ],
    [
      'JSONParser',
      JSON.stringify({ name: 'n', picture: IMAGE, icon: `data:image/png;base64,${IMAGE}`, key: 'aB3'.repeat(20) }),
      ['paragraph name: n', 'paragraph icon: data:image/png', `paragraph key: ${'aB3'.repeat(20)}`],
    ],
    [
      'JSONParser',
      JSON.stringify({ pictures: [IMAGE, 'kept', `data:image/png;base64,${IMAGE}`, 7], only: [IMAGE] }),
      ['paragraph pictures: kept, data:image/png, 7'],
    ],
    ['HTMLParser', `<p>a<img src="data:image/png;base64,${IMAGE}" alt="chart"></p>`, ['paragraph a [chart]']],
  ];
  for (const [type, source, blocks] of OTHERS) {
    it(`are left out by ${type}: ${blocks[0]}`, async () => {
      const document = await parseWith(type, source);
      assert.deepEqual(blockTexts(document), blocks);
      assert.ok(!JSON.stringify(document).includes(IMAGE.slice(0, 100)));
    });
  }

  it('do not make any JSON a notebook', async () => {
    await assert.rejects(parseWith('NotebookParser', '{"cells": []}', {}, 'a.ipynb'), { code: 'damaged', message: /a\.ipynb.*nbformat/ });
  });
});

describe('the line that names the delimiter of a table', () => {
  const CASES: readonly [string, string, Record<string, unknown>][] = [
    ['a semicolon', 'sep=;\nname;age\nBob;3\n', {}],
    ['a tab, with other line ends', 'SEP=\t\r\nname\tage\r\nBob\t3\r\n', {}],
    ['in quotation marks, against the setting', '"sep=|"\nname|age\nBob|3\n', { delimiter: ',' }],
    ['among the rows that are skipped', 'sep=;\nname;age\nBob;3\n', { skiprows: 1 }],
    ['a sign that is no usual one', 'sep=^\nname^age\nBob^3\n', {}],
  ];
  for (const [label, source, config] of CASES)
    it(`is obeyed: ${label}`, async () =>
      assert.deepEqual(blockTexts(await parseWith('CSVParser', source, config)), ['row name: Bob, age: 3']));

  it('is one only at the start and as a whole', async () => {
    const document = await parseWith('CSVParser', 'sep=x,b\n1,2\n');
    assert.deepEqual(blockTexts(document), ['row sep=x: 1, b: 2']);
  });
});
