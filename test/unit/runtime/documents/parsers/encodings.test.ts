import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import iconv from 'iconv-lite';
import { decodeText } from '../../../../../runtime/documents/parsers/bytes.js';
import { encodingOf, encodingOfCodePage } from '../../../../../runtime/documents/parsers/encodings/names.js';
import { signatureOf } from '../../../../../runtime/documents/parsers/signature.js';
import type { ParserType } from '../../../../../schemas/generated/config/rag.js';
import { epub, excel95Workbook, odt } from '../../../../support/documents.js';
import { parseWith } from '../../../../support/parse-with.js';

const RUSSIAN = 'Отчёт о продажах за третий квартал показывает рост выручки.';
const JAPANESE = '第三四半期の売上報告書によると、収益は十二パーセント増加しました。';
const CHINESE = '第三季度销售报告显示，收入增长了百分之十二。';
const KOREAN = '3분기 매출 보고서에 따르면 수익이 12퍼센트 증가했습니다.';
const QUOTES = 'It’s “quoted” — costs 5 € at Zoë’s…';
const bytes = (text: string, encoding: string): Buffer => iconv.encode(text, encoding);
const latin1 = (text: string): Buffer => Buffer.from(text, 'latin1');
/** A text between the marks of an encoding of seven bits: its bytes in one of eight bits, the top bits off. */
const sevenBits = (text: string, encoding: string, before: string, after: string): Buffer =>
  Buffer.concat([latin1(before), bytes(text, encoding).map((byte) => byte & 0x7f) as Buffer, latin1(after)]);

/** Texts that name no encoding: what they are in, and what is found. */
const UNNAMED: readonly [text: string, encoding: string, found?: string][] = [
  [QUOTES, 'windows-1252'],
  [RUSSIAN, 'windows-1251'],
  [RUSSIAN, 'koi8-r', 'koi8-u'],
  [RUSSIAN, 'cp866', 'ibm866'],
  [RUSSIAN, 'iso-8859-5'],
  ['Příliš žluťoučký kůň úpěl ďábelské ódy. Zpráva o prodeji ukazuje růst tržeb.', 'windows-1250'],
  ['Η έκθεση πωλήσεων για το τρίτο τρίμηνο δείχνει αύξηση των εσόδων.', 'windows-1253'],
  ['Üçüncü çeyrek satış raporu gelirlerin yüzde on iki arttığını gösteriyor.', 'windows-1254'],
  ['דוח המכירות לרבעון השלישי מראה עלייה בהכנסות של שנים עשר אחוזים.', 'windows-1255'],
  ['يظهر تقرير المبيعات للربع الثالث زيادة في الإيرادات بنسبة اثني عشر في المائة.', 'windows-1256'],
  ['Trečiojo ketvirčio pardavimų ataskaita rodo, kad pajamos išaugo dvylika procentų.', 'windows-1257'],
  ['รายงานการขายประจำไตรมาสที่สามแสดงให้เห็นว่ารายได้เพิ่มขึ้นร้อยละสิบสอง', 'tis-620', 'windows-874'],
  [JAPANESE, 'shift_jis'],
  [JAPANESE, 'euc-jp'],
  [CHINESE, 'gb18030'],
  [CHINESE, 'gbk', 'gb18030'],
  ['第三季度銷售報告顯示，收入增長了百分之十二。', 'big5'],
  [KOREAN, 'euc-kr'],
];

describe('text whose encoding is not named', () => {
  for (const [text, encoding, found = encoding] of UNNAMED) {
    it(`is read in ${encoding}`, async () => {
      const document = await parseWith('TextParser', bytes(text, encoding));
      assert.equal(document.text, text);
      assert.equal(document.metadata.encoding, found);
      const confidence = document.metadata.encoding_confidence as number;
      assert.ok(confidence > 0 && confidence <= 1, String(confidence));
      assert.equal(document.warnings.length, confidence < 0.9 ? 1 : 0, document.warnings.join());
    });
  }

  const ESCAPED: readonly [string, Buffer, string, string][] = [
    ['iso-2022-jp', sevenBits(JAPANESE, 'euc-jp', 'a \x1b$B', '\x1b(B b'), `a ${JAPANESE} b`, 'iso-2022-jp'],
    ['iso-2022-jp with katakana of half width', latin1('\x1b(I\x36\x40\x36\x45\x1b(B'), 'ｶﾀｶﾅ', 'iso-2022-jp'],
    ['iso-2022-kr', sevenBits('매출', 'euc-kr', '\x1b$)C\n\x0e', '\x0f ok'), '매출 ok', 'iso-2022-kr'],
    ['iso-2022-cn', sevenBits('销售', 'gbk', '\x1b$)A\x0e', '\x0f ok'), '销售 ok', 'iso-2022-cn'],
    ['hz', sevenBits(CHINESE, 'gbk', 'a ~~ ~{', '~} b'), `a ~ ${CHINESE} b`, 'hz-gb-2312'],
  ];
  for (const [label, content, text, encoding] of ESCAPED) {
    it(`is read in ${label}`, async () => {
      const document = await parseWith('TextParser', content);
      assert.deepEqual([document.text.trim(), document.metadata.encoding, document.warnings], [text, encoding, []]);
    });
  }

  it('is not taken for Chinese because of its tildes', async () => {
    for (const text of ['(format t "~{~a~}" list)', 'a ~{ b ~} c', '\x1b[31mred\x1b(B end'])
      assert.equal(decodeText(latin1(text)).text, text);
  });

  const WIDE = ['Привет, мир!\nОтчёт о продажах.', `${CHINESE}\n${CHINESE}\n`, 'plain words', 'Ελληνικά, κείμενο.\n', '日本語 のテキスト'];
  for (const text of WIDE) {
    for (const encoding of ['utf-16le', 'utf-16be'] as const) {
      it(`is read in ${encoding} without a mark: ${text.slice(0, 8)}`, async () => {
        const content = bytes(text, encoding);
        assert.deepEqual([decodeText(content).text, decodeText(content).encoding], [text, encoding]);
        const file = { path: '', name: 'a.txt', mimeType: '', sizeBytes: content.length };
        assert.equal((await signatureOf(file, content)).kind, 'text');
      });
    }
  }

  it('is no UTF-16 where it is a program', async () => {
    const content = Buffer.from(Array.from({ length: 4096 }, (_, at) => (at * 7919 + (at >> 3)) % 251));
    const file = { path: '', name: 'a.bin', mimeType: '', sizeBytes: content.length };
    assert.equal((await signatureOf(file, content)).kind, 'unread');
  });

  it('is UTF-8 with damage where a few bytes are broken', async () => {
    const document = await parseWith('TextParser', Buffer.concat([Buffer.from(RUSSIAN), Buffer.from([0xff]), Buffer.from(' конец')]));
    assert.equal(document.text, `${RUSSIAN}\ufffd конец`);
    assert.match(document.warnings[0]!, /1 stretch of bytes means nothing in utf-8/);
  });

  it('is found however far into the file its letters begin', () => {
    const content = Buffer.concat([Buffer.from('plain words\n'.repeat(50_000)), bytes(RUSSIAN, 'windows-1251')]);
    assert.equal(decodeText(content).text.slice(-RUSSIAN.length), RUSSIAN);
  });
});

const html = (head: string): string => `<html><head>${head}</head><body><p>${RUSSIAN}</p></body></html>`;
const META = '<meta http-equiv="Content-Type" content="text/html; charset=windows-1251">';

/** Files that say what they are in. */
const DECLARED: readonly [label: string, type: ParserType, content: Buffer, text: string][] = [
  ['a page', 'HTMLParser', bytes(`<meta charset="windows-1252"><p>${QUOTES}</p>`, 'windows-1252'), QUOTES],
  ['a page that calls it Latin-1', 'HTMLParser', bytes(`<meta charset=ISO-8859-1><p>${QUOTES}</p>`, 'windows-1252'), QUOTES],
  ['a page, late', 'HTMLParser', bytes(html(`<!--${'x'.repeat(60_000)}-->${META}`), 'windows-1251'), RUSSIAN],
  ['an XHTML page', 'HTMLParser', bytes(`<?xml version="1.0" encoding="koi8-r"?>${html('')}`, 'koi8-r'), RUSSIAN],
  ['an XML file', 'CodeParser', bytes(`<?xml version="1.0" encoding="windows-1251"?><p>${RUSSIAN}</p>`, 'windows-1251'), RUSSIAN],
  ['a Python source', 'CodeParser', bytes(`#!/bin/python\n# -*- coding: cp866 -*-\n# Ц${RUSSIAN}`, 'cp866'), RUSSIAN],
  ['a style sheet', 'CodeParser', bytes(`@charset "euc-jp";\n/* ${JAPANESE} */`, 'euc-jp'), JAPANESE],
  ['a LaTeX source', 'TextParser', bytes(`\\documentclass{a}\n\\usepackage[cp1250]{inputenc}\nžluťoučký`, 'windows-1250'), 'žluťoučký'],
  ['UTF-16 with a mark', 'CSVParser', Buffer.concat([Buffer.from([0xff, 0xfe]), bytes('k\nЖук\n', 'utf-16le')]), 'k: Жук'],
  ['UTF-32 with a mark', 'TextParser', Buffer.concat([Buffer.from([0xff, 0xfe, 0, 0]), bytes(RUSSIAN, 'utf-32le')]), RUSSIAN],
];

describe('text whose encoding is named', () => {
  for (const [label, type, content, text] of DECLARED) {
    it(`is read as ${label} says`, async () => {
      const document = await parseWith(type, content);
      assert.ok(document.text.includes(text), document.text.slice(0, 300));
      assert.deepEqual(document.warnings, []);
    });
  }

  it('is UTF-8 where a source was saved so, whatever its mode line says', async () => {
    const document = await parseWith('CodeParser', `# -*- coding: latin-1 -*-\n# ${RUSSIAN}`);
    assert.ok(document.text.includes(RUSSIAN), document.text);
  });

  it('is read as the setting says, before the declaration', async () => {
    const page = bytes(`<meta charset="windows-1252"><p>${RUSSIAN}</p>`, 'koi8-r');
    assert.equal((await parseWith('HTMLParser', page, { encoding: 'KOI8-R' })).text, RUSSIAN);
    const short = await parseWith('TextParser', bytes('жук', 'cp866'), { encoding: 'cp866' });
    assert.deepEqual([short.text, short.metadata.encoding, short.warnings], ['жук', 'ibm866', []]);
  });

  it('is guessed, with a warning, where the name cannot be right', async () => {
    const document = await parseWith('TextParser', bytes(RUSSIAN, 'windows-1251'), { encoding: 'euc-jp' });
    assert.equal(document.text, RUSSIAN);
    assert.match(document.warnings[0]!, /not in euc-jp.*windows-1251.*option encoding/);
  });

  it('refuses a setting that names no encoding', async () => {
    await assert.rejects(parseWith('TextParser', 'a', { encoding: 'klingon' }), {
      kind: 'invalid',
      message: /TextParser\.encoding is "klingon"/,
    });
  });

  it('is read inside archives too', async () => {
    const chapter = new Uint8Array(bytes(`<?xml version="1.0" encoding="windows-1251"?><p>${RUSSIAN}</p>`, 'windows-1251'));
    assert.ok((await parseWith('EPUBParser', epub(['<p>x</p>'], { 'OEBPS/text/c0.xhtml': chapter }))).text.includes(RUSSIAN));
    const content = `<?xml version="1.0" encoding="UTF-16"?><office:text><text:p>${RUSSIAN}</text:p></office:text>`;
    const wide = new Uint8Array(Buffer.concat([Buffer.from([0xff, 0xfe]), bytes(content, 'utf-16le')]));
    assert.equal((await parseWith('ODTParser', odt('', '', { 'content.xml': wide }))).text, RUSSIAN);
  });
});

describe('workbooks of before 1997', () => {
  const CASES: readonly [number, string, string][] = [
    [1251, 'windows-1251', 'Жук'],
    [932, 'shift_jis', '佐藤'],
    [1252, 'windows-1252', '5 €'],
    [10007, 'maccyrillic', 'Жук'],
  ];
  for (const [codePage, encoding, text] of CASES) {
    it(`are read in code page ${codePage}`, async () => {
      const document = await parseWith(
        'ExcelParser',
        excel95Workbook([['k'], [text]], codePage, (value) => bytes(value, encoding)),
      );
      assert.equal(document.text, `k: ${text}`);
    });
  }
});

describe('names of encodings', () => {
  const NAMES: readonly [string, string | undefined][] = [
    ['UTF8', 'utf-8'],
    ['x-sjis', 'shift_jis'],
    ['Windows-31J', 'shift_jis'],
    ['cp932', 'shift_jis'],
    ['csShiftJIS', 'shift_jis'],
    ['GB2312', 'gb18030'],
    ['ks_c_5601-1987', 'euc-kr'],
    ['ISO_8859-1:1987', 'windows-1252'],
    ['latin1', 'windows-1252'],
    ['us-ascii', 'windows-1252'],
    ['iso-8859-15', 'iso-8859-15'],
    ['ISO-8859-8-I', 'iso-8859-8'],
    ['TIS-620', 'windows-874'],
    ['x-mac-cyrillic', 'x-mac-cyrillic'],
    ['cp-1251', 'windows-1251'],
    ['cp850', 'cp850'],
    ['HZ-GB-2312', 'hz-gb-2312'],
    ['unicode-1-1-utf-7', 'utf-7'],
    ['hex', undefined],
    ['base64', undefined],
    ['', undefined],
    ['windows-9999', undefined],
  ];
  it('are known however they are written, and only those', () => {
    for (const [label, name] of NAMES) assert.equal(encodingOf(label), name, label);
    assert.equal(encodingOfCodePage(65001), 'utf-8');
    assert.equal(encodingOfCodePage(28595), 'iso-8859-5');
    assert.equal(encodingOfCodePage(4711), undefined);
  });
});
