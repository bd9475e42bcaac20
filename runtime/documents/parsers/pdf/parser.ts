import { breathe } from '../../../base/loop.js';
import type { Metadata } from '../../contract.js';
import { bytesOf } from '../bytes.js';
import { checkPages, damagedFile, type ParseLimits, type Parser, type SourceFile } from '../contract.js';
import { DocumentWriter, presentMembers, tooLong } from '../writer.js';
import { documentFields, imageCount, linksOf, notesOf, outlineOf, xmpOf } from './findings.js';
import { PdfForm } from './form.js';
import { PdfDocument } from './library.js';
import { linesOfPage, type PageLine } from './lines.js';
import { Hyphens, usualSize, writePage } from './page-blocks.js';

const PYPDF2 = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'paragraphs',
  extract_metadata: true,
  preserve_layout: true,
  extract_page_info: true,
  extract_annotations: false,
  extract_links: false,
  extract_form_fields: false,
  extract_outlines: false,
  extract_images: false,
  extract_xmp_metadata: false,
  extract_tables: true,
  clean_text: true,
  combine_pages: false,
  fallback_strategies: [],
};
const LLAMA_INDEX = { ...PYPDF2, chunk_strategy: 'sentences' };
/** What is filled in belongs to what the eye sees; the older engines leave it out and are followed in that. */
const OWN = { ...PYPDF2, extract_form_fields: true };
const NAMED_WARNINGS = 50;

/** PDF files, by their text layer. */
export const pdf: Parser = {
  id: 'pdf',
  defaults: { PDFParser_PyPDF2: PYPDF2, PDFParser_LlamaIndex: LLAMA_INDEX, PDFParser: OWN },
  extensions: ['.pdf'],
  mimeTypes: ['application/pdf'],
  async parse(file, options, limits) {
    const bytes = await bytesOf(file);
    const document = await PdfDocument.open(file, bytes);
    const form = new PdfForm(document);
    try {
      const writer = await readPdf(file, document, form, options, limits);
      const outline = options.extract_outlines === true ? { outline: outlineOf(document) } : {};
      const xmp = options.extract_xmp_metadata === true ? { xmp: xmpOf(bytes) } : {};
      const pages = options.extract_page_info === false ? {} : { page_count: document.call('FPDF_GetPageCount', document.handle) };
      const fields = options.extract_metadata === false ? {} : documentFields(document);
      return writer.finish(presentMembers({ type: 'pdf_document', ...fields, ...pages, ...outline, ...xmp }));
    } finally {
      form.close();
      document.close();
    }
  },
};

async function readPdf(file: SourceFile, pdf: PdfDocument, form: PdfForm, options: Metadata, limits: ParseLimits): Promise<DocumentWriter> {
  const pages = await readPages(file, pdf, form, options, limits);
  const writer = new DocumentWriter(file.name, limits);
  const numbers = Array.from({ length: pdf.call('FPDF_GetPageCount', pdf.handle) }, (_, index) => index + 1);
  const opened = new Map(pages.map((page) => [page.number, page]));
  warn(
    writer,
    'cannot be read',
    numbers.filter((number) => !opened.has(number)),
  );
  warn(
    writer,
    'has no text layer',
    pages.filter(({ lines, number }) => lines.length === 0 && !file.pageTexts?.[number]).map((page) => page.number),
  );
  write(file, pages, options, writer);
  writeForm(form, pages, options, writer);
  return writer;
}

interface Page {
  readonly number: number;
  readonly lines: readonly PageLine[];
  readonly metadata: Metadata;
  readonly notes: readonly string[];
  /** Filled fields of its form. */
  readonly filled: readonly string[];
}

/** The pages one by one, so that the process answers between them. */
async function readPages(file: SourceFile, pdf: PdfDocument, form: PdfForm, options: Metadata, limits: ParseLimits): Promise<Page[]> {
  const pages: Page[] = [];
  const count = pdf.call('FPDF_GetPageCount', pdf.handle);
  if (count === 0) throw damagedFile(file, 'it has no pages');
  checkPages(file, count, limits);
  let units = 0;
  for (let number = 1; number <= count; number += 1) {
    const page = readPage(pdf, form, number, options);
    if (page) pages.push(page);
    units += page?.lines.reduce((sum, line) => sum + line.text.length, 0) ?? 0;
    // The writer would refuse it in the end; a bomb must not be held in memory until then.
    if (units > limits.textBytes) throw tooLong(file.name, limits);
    await breathe();
  }
  return pages;
}

function readPage(pdf: PdfDocument, form: PdfForm, number: number, options: Metadata): Page | undefined {
  const page = pdf.call('FPDF_LoadPage', pdf.handle, number - 1);
  if (page === 0) return undefined;
  try {
    const notes = options.extract_annotations === true ? notesOf(pdf, page) : [];
    const filled = form.valuesOf(page).filter((text) => !notes.includes(text));
    const metadata = {
      ...(options.extract_page_info === false
        ? {}
        : { page_width: Math.round(pdf.call('FPDF_GetPageWidth', page)), page_height: Math.round(pdf.call('FPDF_GetPageHeight', page)) }),
      ...(options.extract_links === true ? { links: linksOf(pdf, page) } : {}),
      ...(options.extract_images === true ? { image_count: imageCount(pdf, page) } : {}),
    };
    return { number, lines: linesOfPage(pdf, page), metadata, notes, filled };
  } finally {
    pdf.call('FPDF_ClosePage', page);
  }
}

/** Pages without text are named one by one, so that a reader of images can take just those. */
function warn(writer: DocumentWriter, kind: string, pages: readonly number[]): void {
  for (const page of pages.slice(0, NAMED_WARNINGS)) writer.warnings.push(`page ${page} ${kind}`);
  if (pages.length > NAMED_WARNINGS) writer.warnings.push(`${pages.length - NAMED_WARNINGS} more pages: ${kind}`);
}

function write(file: SourceFile, pages: readonly Page[], options: Metadata, writer: DocumentWriter): void {
  const all = pages.flatMap((page) => page.lines);
  const choices = {
    layout: options.preserve_layout !== false,
    tables: options.extract_tables !== false,
    hyphens: new Hyphens(all.map((line) => line.text)),
    usualSize: usualSize(all),
  };
  for (const { number, lines, metadata, notes, filled } of pages) {
    const extras = { page: number, apart: options.combine_pages !== true, metadata };
    writePage(lines, choices, extras, writer);
    const seen = lines.length === 0 ? (file.pageTexts?.[number] ?? '') : '';
    for (const [at, text] of seen.split(/\n{2,}/).entries())
      writer.add('paragraph', text, { ...extras, apart: extras.apart && at === 0, metadata: { ...metadata, ocr: true } });
    if (options.extract_form_fields === true) writer.add('list', filled.join('\n'), { page: number, metadata });
    for (const note of notes) writer.add('quote', note, { page: number, metadata });
  }
}

/** The values of a form that is kept in XML, where its fields show none; a warning where values are there and not asked for. */
function writeForm(form: PdfForm, pages: readonly Page[], options: Metadata, writer: DocumentWriter): void {
  const isShown = pages.some(({ filled }) => filled.length > 0);
  const values = isShown ? [] : form.xmlValues();
  if (options.extract_form_fields === true) writer.add('list', values.join('\n'));
  else if (isShown || values.length > 0)
    writer.warnings.push('The values of its form are left out; set extract_form_fields to true to have them.');
}
