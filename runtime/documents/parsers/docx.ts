import type { Metadata } from '../contract.js';
import { type Archive, repacked, unpacked } from './archive.js';
import { bytesOf, decodeText } from './bytes.js';
import { isCompound } from './compound.js';
import { type Block, damagedFile, type Parser, type SourceFile } from './contract.js';
import { writeWord97 } from './doc.js';
import { xmlEncoding } from './encodings/declared.js';
import { type HtmlFindings, writeHtml } from './html-blocks.js';
import { readMarkup, textsOf } from './markup.js';
import { coreProperties } from './office.js';
import { DocumentWriter, presentMembers } from './writer.js';

const PYTHON_DOCX = {
  chunk_size: 1000,
  chunk_overlap: 0,
  chunk_strategy: 'paragraphs',
  extract_metadata: true,
  extract_tables: true,
  extract_headers: true,
  extract_footers: false,
  extract_comments: false,
  extract_images: false,
  preserve_formatting: false,
  include_header_footer: false,
};
const LLAMA_INDEX = { ...PYTHON_DOCX, chunk_overlap: 100, extract_headers: false, preserve_formatting: true };

/** Parts whose text the library reads. */
const TEXT_PART = /^word\/(?:document|footnotes|endnotes|comments)\.xml$/;
const EQUATION = '<m:oMath';
const EQUATION_END = '</m:oMath>';

/** A part with each equation as a run of text: the library leaves equations out. */
function withEquations(part: Uint8Array): Uint8Array {
  if (!Buffer.from(part.buffer, part.byteOffset, part.length).includes(EQUATION)) return part;
  const source = decodeText(part, { declared: xmlEncoding(part) }).text;
  const pieces: string[] = [];
  let end = 0;
  for (let start = source.indexOf(EQUATION); start >= 0; start = source.indexOf(EQUATION, end)) {
    pieces.push(source.slice(end, start));
    end = start + EQUATION.length;
    const isWhole = /[\s>]/.test(source[end] ?? '');
    const close = isWhole ? source.indexOf(EQUATION_END, end) : -1;
    if (close < 0) {
      pieces.push(source.slice(start, end));
      // Elements that only begin alike.
      if (isWhole) break;
      continue;
    }
    end = close + EQUATION_END.length;
    let line = '';
    readMarkup(source.slice(start, end), { text: (text) => (line += text) }, true);
    pieces.push(`<w:r><w:t xml:space="preserve">${line.replace(/&/g, '&amp;').replace(/</g, '&lt;')}</w:t></w:r>`);
  }
  const text = pieces.join('') + source.slice(end);
  return Buffer.from(text.replace(/<\/?m:oMathPara(?:\s[^>]{0,500})?>/g, ''));
}

async function bodyHtml(archive: Archive, file: SourceFile): Promise<string> {
  const { default: mammoth } = await import('mammoth');
  try {
    const parts = new Map([...archive.parts].map(([path, part]) => [path, TEXT_PART.test(path) ? withEquations(part) : part]));
    const buffer = Buffer.from(repacked({ ...archive, parts }));
    // Images stay out: their bytes would be written into the text.
    const convertImage = mammoth.images.imgElement(async () => ({ src: '' }));
    return (await mammoth.convertToHtml({ buffer }, { convertImage, ignoreEmptyParagraphs: true })).value;
  } catch (error) {
    throw damagedFile(file, 'its document part cannot be read', error);
  }
}

/** The paragraphs of header, footer or comment parts, each text once. */
function writeParts(writer: DocumentWriter, archive: Archive, path: RegExp, kind: Block['kind'], metadata: Metadata): void {
  const texts = [...archive.parts].filter(([name]) => path.test(name)).flatMap(([, part]) => textsOf(part, ['w:p']));
  for (const text of new Set(texts.map((one) => one.text))) writer.add(kind, text, { metadata });
}

function described(found: HtmlFindings, archive: Archive, options: Metadata): Metadata {
  const images = archive.paths.filter((path) => path.startsWith('word/media/')).map((path) => path.slice('word/media/'.length));
  return presentMembers({
    type: 'docx_document',
    ...coreProperties(archive, 'docProps/core.xml'),
    headers: found.headings,
    header_count: found.headings.length,
    table_count: found.tableCount,
    paragraph_count: found.paragraphCount,
    images: options.extract_images === true ? images : undefined,
  });
}

/** Word documents (DOCX, and DOC since Word 97). */
export const docx: Parser = {
  id: 'docx',
  defaults: { DocxParser_PythonDocx: PYTHON_DOCX, DocxParser_LlamaIndex: LLAMA_INDEX, DocxParser: PYTHON_DOCX },
  extensions: ['.docx', '.docm', '.dotx', '.dotm', '.doc', '.dot'],
  mimeTypes: ['application/vnd.openxmlformats-officedocument.wordprocessingml.document', 'application/msword'],
  async parse(file, options, limits) {
    const bytes = await bytesOf(file);
    if (isCompound(bytes)) {
      const writer = new DocumentWriter(file.name, limits);
      const metadata = await writeWord97(file, bytes, options, writer);
      return writer.finish(options.extract_metadata === false ? {} : metadata);
    }
    const archive = unpacked(file.name, bytes, limits, (path) => /\.(?:xml|rels)$/.test(path));
    if (!archive.parts.has('word/document.xml')) throw damagedFile(file, 'it has no document part');
    const writer = new DocumentWriter(file.name, limits);
    const both = options.include_header_footer === true;
    if (both || options.extract_headers === true) writeParts(writer, archive, /^word\/header\d*\.xml$/, 'header', { section: 'header' });
    const found = writeHtml(await bodyHtml(archive, file), writer, {
      tables: options.extract_tables !== false,
      images: options.extract_images === true,
      formatting: options.preserve_formatting === true,
    });
    if (both || options.extract_footers === true) writeParts(writer, archive, /^word\/footer\d*\.xml$/, 'footer', { section: 'footer' });
    if (options.extract_comments === true) writeParts(writer, archive, /^word\/comments\.xml$/, 'paragraph', { section: 'comments' });
    return writer.finish(options.extract_metadata === false ? {} : described(found, archive, options));
  },
};
