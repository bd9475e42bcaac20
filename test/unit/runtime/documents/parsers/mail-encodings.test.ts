import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import iconv from 'iconv-lite';
import { signatureOf } from '../../../../../runtime/documents/parsers/signature.js';
import { msg } from '../../../../support/documents.js';
import { blockTexts, parseWith } from '../../../../support/parse-with.js';

const QUOTES = 'It’s “quoted” — 5 €';
const RUSSIAN = 'Отчёт о продажах за третий квартал показывает рост выручки.';
const JAPANESE = '収益は十二パーセント増加しました。';
const CHINESE = '第三季度銷售報告顯示，收入增長了百分之十二。';

const base64 = (text: string, encoding: string): string => iconv.encode(text, encoding).toString('base64');
const quoted = (text: string, encoding: string): string =>
  [...iconv.encode(text, encoding)].map((byte) => `=${byte.toString(16).toUpperCase().padStart(2, '0')}`).join('');
/** A Base64 word of each half of a text's bytes, cut where a letter may be. */
const halves = (text: string, encoding: string): string => {
  const bytes = iconv.encode(text, encoding);
  const half = (bytes.length >> 1) | 1;
  return [bytes.subarray(0, half), bytes.subarray(half)].map((part) => `=?${encoding}?B?${part.toString('base64')}?=`).join('\r\n ');
};
const jis = (text: string): Buffer =>
  Buffer.concat([Buffer.from('\x1b$B'), Buffer.from(iconv.encode(text, 'euc-jp').map((byte) => byte & 0x7f)), Buffer.from('\x1b(B')]);
const mail = (header: string, body: string | Uint8Array): Buffer =>
  Buffer.concat([Buffer.from(`From: a@b.c\r\n${header}\r\n\r\n`, 'latin1'), typeof body === 'string' ? Buffer.from(body, 'latin1') : body]);
const plain = (charset: string, coding: string, more = ''): string =>
  `${more}Content-Type: text/plain; charset=${charset}\r\nContent-Transfer-Encoding: ${coding}`;

/** Mails with what their subject and their body say. */
const MAILS: readonly [label: string, content: Buffer, subject: string, body: string][] = [
  [
    'quoted windows-1252',
    mail(
      plain('windows-1252', 'quoted-printable', `Subject: =?windows-1252?Q?${quoted(QUOTES, 'windows-1252')}?=\r\n`),
      quoted(QUOTES, 'windows-1252'),
    ),
    QUOTES,
    QUOTES,
  ],
  ['Latin-1 with the signs of Windows', mail(plain('"ISO-8859-1"', '8bit'), iconv.encode(QUOTES, 'windows-1252')), '', QUOTES],
  [
    'words cut inside a letter',
    mail(plain('shift_jis', 'base64', `Subject: ${halves(JAPANESE, 'shift_jis')}\r\n`), base64(JAPANESE, 'shift_jis')),
    JAPANESE,
    JAPANESE,
  ],
  [
    'ISO-2022-JP',
    mail(plain('iso-2022-jp', '7bit', `Subject: =?iso-2022-jp?B?${jis(JAPANESE).toString('base64')}?=\r\n`), jis(JAPANESE)),
    JAPANESE,
    JAPANESE,
  ],
  ['HZ', mail(plain('hz-gb-2312', '7bit'), '~{VPND~} ok'), '', '中文 ok'],
  ['UTF-7', mail(plain('utf-7', '7bit'), '+BB8EQAQ4BDIENQRC-!'), '', 'Привет!'],
  ['no charset', mail('Subject: x', iconv.encode(RUSSIAN, 'koi8-r')), 'x', RUSSIAN],
  ['UTF-8', mail(plain('utf-8', '8bit', 'Subject: =?UTF-8?B?w6k=?=\r\n'), Buffer.from(QUOTES)), 'é', QUOTES],
];

describe('mails in any encoding', () => {
  for (const [label, content, subject, body] of MAILS) {
    it(`are read: ${label}`, async () => {
      const document = await parseWith('EMLParser', content);
      assert.equal(document.metadata.title ?? '', subject);
      assert.deepEqual(blockTexts(document).slice(1), [`paragraph ${body}`]);
    });
  }

  it('are read with raw bytes in their headers', async () => {
    const content = Buffer.concat([Buffer.from('From: a@b.c\nSubject: '), iconv.encode(RUSSIAN, 'windows-1251'), Buffer.from('\n\nHi\n')]);
    const document = await parseWith('EMLParser', content);
    assert.equal(document.metadata.title, RUSSIAN);
    assert.equal(document.metadata.encoding, 'windows-1251');
    assert.match(document.warnings[0]!, /windows-1251/);
  });

  it('are read part by part, with attachments and their names, and mails inside', async () => {
    const inner = mail(plain('koi8-r', '8bit', 'Subject: in\r\n'), iconv.encode('жук', 'koi8-r')).toString('latin1');
    const parts = [
      `Content-Type: text/html; charset=big5\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64(`<p>${CHINESE}</p>`, 'big5')}`,
      `Content-Type: text/csv; charset=cp866\r\nContent-Disposition: attachment; filename*=windows-1251''%F2.csv\r\nContent-Transfer-Encoding: base64\r\n\r\n${base64('к\nжук\n', 'cp866')}`,
      `Content-Type: message/rfc822\r\n\r\n${inner}`,
    ];
    const source = mail(
      'Subject: s\r\nContent-Type: multipart/mixed; boundary="b b"',
      `--b b\r\n${parts.join('\r\n--b b\r\n')}\r\n--b b--\r\nend`,
    );
    const document = await parseWith('EMLParser', source);
    for (const text of [CHINESE, 'к: жук', 'жук']) assert.ok(document.text.includes(text), document.text);
    assert.deepEqual(document.metadata.attachments, ['т.csv']);
    assert.ok(!document.text.includes('end') && !document.text.includes('\ufffd'), document.text);
  });

  it('are read in the set encoding where they name none', async () => {
    const document = await parseWith('EMLParser', mail('Subject: x', iconv.encode('жук', 'cp866')), { encoding: 'cp866' });
    assert.deepEqual([blockTexts(document)[1], document.warnings], ['paragraph жук', []]);
  });
});

describe('Outlook messages in a code page', () => {
  const CASES: readonly [number, string, string][] = [
    [950, 'big5', CHINESE],
    [932, 'shift_jis', JAPANESE],
    [1251, 'windows-1251', RUSSIAN],
    [1252, 'windows-1252', QUOTES],
  ];
  for (const [codePage, encoding, text] of CASES) {
    it(`are read in ${codePage}, and without its number`, async () => {
      const encode = (value: string): Uint8Array => iconv.encode(value, encoding);
      for (const texts of [{ encode, codePage }, { encode }]) {
        const document = await parseWith('MsgParser', msg({ subject: text, sender: 'Ada', body: text }, texts));
        assert.deepEqual([document.metadata.title, blockTexts(document)[1]], [text, `paragraph ${text}`]);
        assert.equal(document.metadata.encoding, texts.codePage === undefined ? encoding : undefined);
      }
    });
  }
});

describe('mailboxes', () => {
  const BOX = [
    'From a@b Mon Jan  1 00:00:00 2024\nFrom: a@b\nSubject: one\nContent-Type: text/plain; charset=utf-8\nContent-Transfer-Encoding: base64\n\nSGVsbG8gZnJvbSBiYXNlNjQ=\n\n',
    `From c@d Tue Jan  2 00:00:00 2024\nFrom: Cleo <c@d>\nSubject: =?koi8-r?B?${base64('два', 'koi8-r')}?=\n\n>From here on it is quoted.\nFrom time to time not.\n\n`,
    'From e@f Wed Jan  3 00:00:00 2024\nSubject: three\nContent-Type: multipart/mixed; boundary=x\n\n--x\n\nThree.\n--x\nContent-Type: text/csv; name=t.csv\n\nk\nv\n--x--\n',
  ].join('');

  it('are read message by message, with headers as metadata', async () => {
    const document = await parseWith('MboxParser', BOX);
    assert.deepEqual(
      blockTexts(document).filter((text) => !text.startsWith('header')),
      ['paragraph Hello from base64', 'paragraph From here on it is quoted.\nFrom time to time not.', 'paragraph Three.', 'row k: v'],
    );
    const [first] = document.blocks;
    assert.deepEqual([first!.metadata?.title, first!.metadata?.sender, first!.metadata?.message_number], ['one', 'a@b', 1]);
    assert.ok(document.blocks.some((block) => block.metadata?.title === 'два' && block.metadata.sender === 'Cleo <c@d>'));
    assert.deepEqual(document.metadata, { type: 'mailbox', message_count: 3 });
  });

  it('are known by their content, and texts that begin alike are not', async () => {
    const file = { path: '', name: 'inbox', mimeType: '', sizeBytes: 1 };
    const signature = await signatureOf(file, Buffer.from(BOX));
    assert.equal(signature.kind === 'format' && signature.parser, 'mbox');
    assert.equal((await signatureOf(file, Buffer.from('From here on\nNote: it is prose'))).kind, 'text');
  });

  it('name a message that is damaged and read the others', async () => {
    const document = await parseWith('MboxParser', `From a@b\nX: 1\n\n\nFrom a@b\nSubject: two\n\nTwo.\n`);
    assert.ok(document.text.includes('Two.'));
    await assert.rejects(parseWith('MboxParser', 'no mailbox', {}, 'a.mbox'), { code: 'damaged', message: /a\.mbox/ });
  });
});
