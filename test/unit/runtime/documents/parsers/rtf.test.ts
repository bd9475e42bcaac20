import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import iconv from 'iconv-lite';
import { blockTexts, parseWith } from '../../../../support/parse-with.js';

const hex = (text: string, encoding: string): string =>
  [...iconv.encode(text, encoding)].map((byte) => `\\'${byte.toString(16).padStart(2, '0')}`).join('');
const FONTS =
  '{\\fonttbl{\\f0\\fcharset0 Arial;}{\\f1\\fcharset204 Arial;}{\\f2\\fcharset128 MS Mincho;}{\\f3\\fcharset161{\\*\\falt x}Times;}}';

/** Sources, with the blocks that they hold. */
const SOURCES: readonly [label: string, source: string, blocks: readonly string[]][] = [
  [
    'Windows signs',
    `{\\rtf1\\ansi\\ansicpg1252\\deff0{\\fonttbl{\\f0 Times;}}\\f0 ${hex('It’s “quoted” — 5 €', 'windows-1252')}.\\par}`,
    ['paragraph It’s “quoted” — 5 €.'],
  ],
  [
    'a font of another code page',
    `{\\rtf1\\ansi\\ansicpg1252\\deff0${FONTS}\\f1 ${hex('Привет', 'windows-1251')}\\f0  h${hex('é', 'windows-1252')}llo\\par}`,
    ['paragraph Привет héllo'],
  ],
  [
    'a font that ends with its group',
    `{\\rtf1\\ansi\\ansicpg1253\\deff0${FONTS}{\\f1 ${hex('да', 'windows-1251')}} ${hex('é', 'windows-1252')} {\\f3 ${hex('ναι', 'windows-1253')}}}`,
    ['paragraph да é ναι'],
  ],
  ['the default font after \\plain', `{\\rtf1\\ansi\\deff1${FONTS}\\f0 a \\plain ${hex('да', 'windows-1251')}}`, ['paragraph a да']],
  [
    'a code page of the document alone',
    `{\\rtf1\\ansi\\ansicpg1251{\\fonttbl{\\f0\\fcharset0 Arial;}}\\f0 ${hex('да', 'windows-1251')}}`,
    ['paragraph да'],
  ],
  ['no code page at all', `{\\rtf1 ${hex('Отчёт о продажах за квартал', 'windows-1251')}}`, ['paragraph Отчёт о продажах за квартал']],
  ['the set of Mac OS', `{\\rtf1\\mac ${hex('é', 'macintosh')}}`, ['paragraph é']],
  [
    'trail bytes that are letters',
    "{\\rtf1\\ansi\\ansicpg932\\deff0{\\fonttbl{\\f0\\fcharset128 MS Mincho;}}\\f0 \\'83X\\'83C\\'83b\\'83`\\par}",
    ['paragraph スイッチ'],
  ],
  ['trail bytes that are signs of the format', "{\\rtf1\\ansi\\ansicpg932 \\'83\\\\\\'83\\{\\'83\\}}", ['paragraph ソボマ']],
  ['bytes that are not escaped', `{\\rtf1\\ansi\\ansicpg950 ${iconv.encode('收入', 'big5').toString('latin1')}}`, ['paragraph 收入']],
  ['stand-ins of two bytes', "{\\rtf1\\ansi\\ansicpg932\\uc2\\u12487\\'83\\'66\\uc1\\u12540?\\u12479\\'83end}", ['paragraph データend']],
  [
    'a star inside a group',
    '{\\rtf1\\ansi{\\fonttbl{\\f0 Arial;}}\\pard{\\f0\\b0\\*\\cs7\\f0 The harbour opens at nine.}\\par}',
    ['paragraph The harbour opens at nine.'],
  ],
  ['a star at the start of one', '{\\rtf1 a{\\*\\unknown gone}{\n\\*\\other gone} b}', ['paragraph a b']],
  [
    'a text box, once',
    '{\\rtf1 Before box.{\\shp{\\*\\shpinst{\\sp{\\sn x}{\\sv y}}{\\shptxt Inside the box.}}{\\shprslt{\\*\\do{\\dptxbxtext Inside the box.}}}}After box.\\par}',
    ['paragraph Before box.', 'paragraph Inside the box.', 'paragraph After box.'],
  ],
  [
    'a box of older writers',
    '{\\rtf1 a{\\*\\do\\dptxbx{\\dptxbxtext Old box.\\par}}b}',
    ['paragraph a', 'paragraph Old box.', 'paragraph b'],
  ],
  [
    'headers and footers',
    '{\\rtf1{\\header Top.\\par}{\\footerr Bottom.}Body.\\par}',
    ['header Top.', 'paragraph Body.', 'footer Bottom.'],
  ],
  [
    'the result of an object',
    '{\\rtf1 a {\\object\\objemb{\\*\\objclass X}{\\*\\objdata 0102}{\\result {Chart of sales}{\\pict 00}}} b}',
    ['paragraph a Chart of sales b'],
  ],
  ['binary content', '{\\rtf1 a{\\pict\\bin4 }}{{} b}', ['paragraph a b']],
  [
    'a field, a note and a bullet',
    "{\\rtf1{\\field{\\*\\fldinst HYPERLINK x}{\\fldrslt link}}{\\footnote note}{\\listtext\\'b7\\tab}item}",
    ['paragraph linknote·\titem'],
  ],
];

describe('rtf parser in any code page', () => {
  for (const [label, source, blocks] of SOURCES) {
    it(`reads ${label}`, async () => assert.deepEqual(blockTexts(await parseWith('RTFParser', Buffer.from(source, 'latin1'))), blocks));
  }

  it('warns where it guesses, and takes the set encoding instead', async () => {
    const source = `{\\rtf1 ${hex('жук', 'cp866')}}`;
    const set = await parseWith('RTFParser', source, { encoding: 'cp866' });
    assert.deepEqual([set.text, set.warnings], ['жук', []]);
  });

  it('says that groups are too deep', async () => {
    const source = `{\\rtf1 ${'{'.repeat(20_000)}deep${'}'.repeat(20_000)}}`;
    await assert.rejects(parseWith('RTFParser', source), { kind: 'invalid', code: 'too_deep', message: /groups are nested deeper/ });
  });
});
