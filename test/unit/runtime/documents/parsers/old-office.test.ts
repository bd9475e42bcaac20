import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { readFile } from '../../../../../runtime/documents/parsing/read.js';
import { Failure } from '../../../../../schemas/errors.js';
import { compound, streamOf } from '../../../../support/documents.js';
import { blockTexts, parseWith, SMALL_LIMITS } from '../../../../support/parse-with.js';

/** Documents of our own, written in these formats by LibreOffice; the presentation without its thumbnail. */
const sample = (name: string): Uint8Array => readFileSync(join(import.meta.dirname, '../../../../../../test/support/office', name));
const DOC = sample('old.doc');
const PPT = sample('old.ppt');

/** A record of a presentation; a type from `container` on holds others. */
function record(type: number, instance: number, isContainer: boolean, ...content: Uint8Array[]): Buffer {
  const body = Buffer.concat(content);
  const head = Buffer.alloc(8);
  head.writeUInt16LE((instance << 4) | (isContainer ? 0xf : 0));
  head.writeUInt16LE(type, 2);
  head.writeUInt32LE(body.length, 4);
  return Buffer.concat([head, body]);
}
const words = (...numbers: number[]): Buffer => Buffer.from(Uint32Array.from(numbers).buffer);
const textRecords = (kind: number, text: string): Buffer[] => [
  record(0x0f9f, 0, false, words(kind)),
  record(0x0fa0, 0, false, Buffer.from(text, 'utf16le')),
];

/** A presentation of one slide that was saved twice: its box says another word each time, its title stands in the list of slides. */
function savedTwice(token = 0xe391c05f): Uint8Array {
  const box = (text: string): Buffer =>
    record(
      0x03ee,
      0,
      true,
      record(0x03ef, 2, false, Buffer.alloc(24)),
      record(0xf00d, 0, true, record(0x0f9e, 0, false, words(0))),
      record(0xf00d, 0, true, ...textRecords(4, text)),
    );
  const document = record(
    0x03e8,
    0,
    true,
    record(0x0ff0, 0, true, record(0x03f3, 0, false, words(2, 0, 1, 256, 0)), ...textRecords(0, 'Title in the list')),
  );
  const parts: Buffer[] = [];
  const put = (part: Buffer): number => {
    const place = parts.reduce((sum, one) => sum + one.length, 0);
    parts.push(part);
    return place;
  };
  const directory = (...content: number[]): number => put(record(0x1772, 0, false, words(...content)));
  const edit = (before: number, places: number): number => put(record(0x0ff5, 0, false, words(0, 0, before, places, 1, 2, 0)));
  // A directory gives the first number and how many follow, then their places.
  put(Buffer.alloc(8));
  const first = edit(0, directory((2 << 20) | 1, put(document), put(box('The first words'))));
  const last = edit(first, directory((1 << 20) | 2, put(box('The last words'))));
  return compound({ 'PowerPoint Document': Buffer.concat(parts), 'Current User': record(0x0ff6, 0, false, words(20, token, last, 0)) });
}

describe('a document of Word 97', () => {
  it('is read with its table, notes and header, letters as they are written', async () => {
    const body = [
      'paragraph The engine',
      'paragraph The engine weaves algebra, “as the loom” weaves — flowers of 5 €.',
      'paragraph Zweiter Absatz über Größe, и по-русски.',
      'table Name | Year\nAda | 1843',
      'paragraph After the table.',
      'paragraph See the letters.',
    ];
    assert.deepEqual(blockTexts(await parseWith('DocxParser', DOC)), ['header Notes of the society', ...body]);
    const all = await parseWith('DocxParser', DOC, { include_header_footer: true, extract_comments: true, extract_tables: false });
    assert.deepEqual(blockTexts(all), [
      'header Notes of the society',
      ...body.filter((one) => !one.startsWith('table')),
      'footer Printed in London',
      'paragraph Check the figure.',
    ]);
  });

  const changed = (change: (stream: Buffer) => void): Uint8Array => {
    const stream = Buffer.from(streamOf(DOC, 'WordDocument'));
    change(stream);
    return compound({ WordDocument: stream });
  };
  it('is refused where it is locked, or older', async () => {
    await assert.rejects(
      parseWith(
        'DocxParser',
        changed((stream) => stream.writeUInt16LE(0x0100, 0x0a)),
        {},
        'a.doc',
      ),
      {
        code: 'password_protected',
        message: /a\.doc/,
      },
    );
    await assert.rejects(
      parseWith(
        'DocxParser',
        changed((stream) => stream.writeUInt16LE(0xa5dc, 0)),
        {},
        'a.doc',
      ),
      {
        code: 'unread_format',
        message: /a\.doc.*Word 95.*DOCX/,
      },
    );
  });
});

describe('a presentation of PowerPoint 97', () => {
  it('is read slide by slide, with titles, boxes and notes', async () => {
    const document = await parseWith('PowerPointParser', PPT);
    assert.deepEqual(blockTexts(document), [
      'heading1 The engine',
      'paragraph It weaves algebra, “as the loom” does.\nGröße и вес.\nA box beside it',
      'quote Speak slowly here.',
      'paragraph The second slide\nOnly words',
    ]);
    assert.deepEqual(
      document.blocks.map((block) => block.page),
      [1, 1, 1, 2],
    );
    assert.equal(document.metadata.page_count, 2);
    assert.ok(!(await parseWith('PowerPointParser', PPT, { extract_notes: false })).text.includes('slowly'));
  });

  it('is read as it was saved last, with the titles of the outline', async () => {
    assert.deepEqual(blockTexts(await parseWith('PowerPointParser', savedTwice())), [
      'heading1 Title in the list',
      'paragraph The last words',
    ]);
  });

  it('is refused where it is locked', async () => {
    await assert.rejects(parseWith('PowerPointParser', savedTwice(0xf3d1c4df), {}, 'a.ppt'), {
      code: 'password_protected',
      message: /a\.ppt/,
    });
  });
});

describe('old documents', () => {
  const FILES = [
    ['a.doc', DOC, 'DocxParser', /weaves algebra/],
    ['a.ppt', PPT, 'PowerPointParser', /weaves algebra/],
  ] as const;
  const read = (name: string, bytes: Uint8Array) =>
    readFile({
      file: { path: '', name, mimeType: '', sizeBytes: bytes.length, bytes },
      strategy: { name: 's', parsers: [{ type: 'auto' }] },
      limits: SMALL_LIMITS,
    });
  for (const [name, bytes, parser, expected] of FILES) {
    it(`are taken by their name and by their content: ${name}`, async () => {
      for (const given of [name, 'a.bin']) {
        const answer = await read(given, bytes);
        assert.equal(answer.parser, parser);
        assert.match(answer.text, expected);
        assert.equal(answer.warnings.length, given === name ? 0 : 1);
      }
    });

    it(`end with a reason or a text where they are damaged: ${name}`, async () => {
      const broken: Uint8Array[] = [];
      for (let length = 513; length < bytes.length; length += 1777) broken.push(bytes.slice(0, length));
      // The same damage each time.
      for (let round = 0; round < 40; round += 1) {
        const copy = Uint8Array.from(bytes);
        for (let hit = 0; hit < 60; hit += 1)
          copy[512 + ((round * 7919 + hit * 104_729) % (copy.length - 512))] = (round * 31 + hit * 17) & 255;
        broken.push(copy);
      }
      for (const one of broken) {
        try {
          await read(name, one);
        } catch (error) {
          assert.ok(error instanceof Failure && error.kind === 'invalid', String((error as Error).stack));
          assert.ok(error.message.includes(name), error.message);
        }
      }
    });
  }
});
