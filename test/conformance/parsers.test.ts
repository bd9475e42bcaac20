import assert from 'node:assert/strict';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, describe, it } from 'node:test';
import type { ParsedDocument, ParseLimits, Parser, SourceFile, Transcript } from '../../runtime/documents/parsers/contract.js';
import { PARSERS, parserFor, parserOf, typeOf } from '../../runtime/documents/parsers/index.js';
import { effectiveConfig } from '../../runtime/documents/parsing/choose.js';
import { Failure } from '../../schemas/errors.js';
import type { ParserType } from '../../schemas/generated/config/rag.js';
import { docx, drawn, eml, epub, msg, odt, pdf, pptx, wordParagraph, workbook } from '../support/documents.js';
import { schemaFile } from '../support/schema-file.js';
import { silence, wavOf } from '../support/speech/sounds.js';

const LIMITS: ParseLimits = { textBytes: 1024 * 1024, pages: 100, unpackedBytes: 16 * 1024 * 1024 };
const SENTENCE = 'The engine weaves algebra.';

interface Sample {
  readonly name: string;
  readonly bytes: Uint8Array;
  readonly binary: boolean;
  /** Of a recording, which is written down before it is parsed. */
  readonly transcript?: Transcript;
}

/** A small real file of every format that holds the sentence. */
const SAMPLES: Record<string, Sample> = {
  text: { name: 'a.txt', bytes: Buffer.from(SENTENCE), binary: false },
  markdown: { name: 'a.md', bytes: Buffer.from(`# One\n\n${SENTENCE}\n`), binary: false },
  html: { name: 'a.html', bytes: Buffer.from(`<h1>One</h1><p>${SENTENCE}</p>`), binary: false },
  pdf: { name: 'a.pdf', bytes: pdf([drawn([[10, 0, SENTENCE]])]), binary: true },
  docx: { name: 'a.docx', bytes: docx(wordParagraph(SENTENCE)), binary: true },
  xlsx: { name: 'a.xlsx', bytes: workbook({ One: [['k'], [SENTENCE]] }), binary: true },
  pptx: { name: 'a.pptx', bytes: pptx([['One', SENTENCE]]), binary: true },
  epub: { name: 'a.epub', bytes: epub([`<p>${SENTENCE}</p>`]), binary: true },
  odf: { name: 'a.odt', bytes: odt(`<text:p>${SENTENCE}</text:p>`), binary: true },
  csv: { name: 'a.csv', bytes: Buffer.from(`k\n${SENTENCE}\n`), binary: false },
  json: { name: 'a.json', bytes: Buffer.from(JSON.stringify({ k: SENTENCE })), binary: false },
  notebook: {
    name: 'a.ipynb',
    bytes: Buffer.from(JSON.stringify({ nbformat: 4, cells: [{ cell_type: 'markdown', source: [SENTENCE] }] })),
    binary: false,
  },
  rtf: { name: 'a.rtf', bytes: Buffer.from(`{\\rtf1 ${SENTENCE}}`), binary: true },
  audio: {
    name: 'a.wav',
    bytes: wavOf(silence(1)),
    binary: true,
    transcript: { seconds: 1, language: 'en', segments: [{ start: 0, end: 1, text: SENTENCE }] },
  },
  code: { name: 'a.py', bytes: Buffer.from(`# ${SENTENCE}\ndef f():\n    pass\n`), binary: false },
  eml: { name: 'a.eml', bytes: Buffer.from(eml().replace('The body.', SENTENCE)), binary: false },
  mbox: { name: 'a.mbox', bytes: Buffer.from(`From a@b Mon Jan  1 00:00:00 2024\n${eml().replace('The body.', SENTENCE)}`), binary: false },
  msg: { name: 'a.msg', bytes: msg({ subject: 'S', sender: 'Ada', body: SENTENCE }), binary: true },
};

const optionsOf = (parser: Parser): Record<string, unknown> => effectiveConfig({ type: typeOf(parser) });

function fileOf(name: string, bytes: Uint8Array): SourceFile {
  return { path: '', name, mimeType: '', sizeBytes: bytes.length, bytes };
}

/** A sample as it comes to its parser, whole or cut off. */
function sampleFile({ name, bytes, transcript }: Sample, length = bytes.length): SourceFile {
  return { ...fileOf(name, bytes.slice(0, length)), ...(transcript && { transcript }) };
}

function assertSound(document: ParsedDocument): void {
  let end = 0;
  for (const block of document.blocks) {
    assert.ok(block.start >= end && block.end > block.start && block.end <= document.text.length, JSON.stringify(block));
    assert.equal(document.text.slice(end, block.start).trim(), '', 'text outside blocks');
    end = block.end;
  }
  assert.equal(document.text.slice(end).trim(), '');
}

describe('parsers', () => {
  let folder: string;
  before(async () => {
    folder = await mkdtemp(join(tmpdir(), 'quern-parsers-'));
    await mkdir(join(folder, 'docs'));
    await writeFile(join(folder, 'docs/a.txt'), SENTENCE);
  });
  after(() => rm(folder, { recursive: true }));

  it('cover every configured name', () => {
    const known = (schemaFile('config/rag.json').$defs as { ParserType: { enum: string[] } }).ParserType.enum;
    const missing = known.filter((type) => type !== 'auto' && parserOf(type as ParserType) === undefined);
    assert.deepEqual(missing, []);
    const listed = PARSERS.flatMap((parser) => Object.keys(parser.defaults));
    assert.deepEqual(
      listed.filter((type) => !known.includes(type)),
      [],
    );
    assert.equal(new Set(listed).size, listed.length, 'a name has two parsers');
  });

  it('share no extension', () => {
    const extensions = PARSERS.flatMap((parser) => parser.extensions);
    assert.deepEqual(
      extensions.filter((one, at) => extensions.indexOf(one) !== at),
      [],
    );
    assert.ok(extensions.every((one) => /^\.[a-z0-9]+$/.test(one)));
  });

  for (const parser of PARSERS) {
    describe(parser.id, () => {
      const sample = SAMPLES[parser.id];

      it('reads a real file into blocks in order', async () => {
        const document = sample
          ? await parser.parse(sampleFile(sample), optionsOf(parser), LIMITS)
          : await parser.parse({ path: folder, name: 'folder', mimeType: '', sizeBytes: 0 }, optionsOf(parser), LIMITS);
        assert.ok(document.text.includes(SENTENCE), document.text);
        assertSound(document);
        structuredClone(document);
        if (sample) assert.equal(parserFor({ name: sample.name, mimeType: '' }), parser);
      });

      it('has complete options for each of its names', () => {
        for (const type of Object.keys(parser.defaults) as ParserType[]) {
          const options = effectiveConfig({ type });
          assert.ok(
            Number.isInteger(options.chunk_size) && Number.isInteger(options.chunk_overlap) && typeof options.chunk_strategy === 'string',
          );
        }
      });

      if (!sample) return;

      it('refuses an empty file and names it', async () => {
        await assert.rejects(parser.parse(fileOf('nothing.x', new Uint8Array()), optionsOf(parser), LIMITS), {
          kind: 'invalid',
          message: /nothing\.x/,
        });
      });

      it('refuses more text than the limit', async () => {
        const tight = { ...LIMITS, textBytes: 10 };
        await assert.rejects(parser.parse(sampleFile(sample), optionsOf(parser), tight), { code: 'too_much_text' });
      });

      it('ends with a reason or a document when the file is cut off anywhere', async () => {
        const step = Math.max(1, Math.floor(sample.bytes.length / 7));
        for (let length = 1; length < sample.bytes.length; length += step) {
          try {
            assertSound(await parser.parse(sampleFile(sample, length), optionsOf(parser), LIMITS));
          } catch (error) {
            assert.ok(error instanceof Failure && error.kind === 'invalid', String(error));
            assert.match(error.message, new RegExp(sample.name.replace('.', '\\.')));
          }
        }
      });
    });
  }
});
