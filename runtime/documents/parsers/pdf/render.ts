import { Failure } from '../../../../schemas/errors.js';
import { breathe } from '../../../base/loop.js';
import { encodePng } from '../../../pictures/codec.js';
import type { Pixels } from '../../../pictures/picture.js';
import { bytesOf } from '../bytes.js';
import { damagedFile, type SourceFile } from '../contract.js';
import { PdfDocument } from './library.js';
import { linesOfPage } from './lines.js';

/** Pixels of a rendered page at most; a larger one is rendered with fewer dots. PDFium takes 4 bytes for each. */
const PAGE_PIXELS = 16_000_000;
const SIDE_PIXELS = 16_384;
const POINTS_PER_INCH = 72;
/** `FPDFBitmap_BGR`. */
const FORMAT_BGR = 2;
const WHITE = 0xffffffff;
/** `FPDF_ANNOT`: what is drawn on the page belongs to it. */
const WITH_ANNOTATIONS = 1;

/** Opens a PDF for as long as `use` takes. */
async function withPdf<T>(file: SourceFile, use: (pdf: PdfDocument, pages: number) => Promise<T> | T): Promise<T> {
  const pdf = await PdfDocument.open(file, await bytesOf(file));
  try {
    return await use(pdf, pdf.call('FPDF_GetPageCount', pdf.handle));
  } finally {
    pdf.close();
  }
}

/** The number of pages. Throws `Failure('invalid')` for a file that is damaged, protected or has none. */
export function countPages(file: SourceFile): Promise<number> {
  return withPdf(file, (_pdf, pages) => {
    if (pages === 0) throw damagedFile(file, 'it has no pages');
    return pages;
  });
}

/** Longest side, in pixels, of the small picture in which anything on a page shows. */
const GLANCE_PIXELS = 400;
/** Brightness, of 256, by which a dot differs from the paper. */
const INK = 24;

/** Whether nothing is to be seen on a page: it draws nothing, or its small picture is all of one brightness. */
export function isBlank(file: SourceFile, pdf: PdfDocument, page: number): boolean {
  if (pdf.call('FPDFPage_CountObjects', page) === 0 && pdf.call('FPDFPage_GetAnnotCount', page) === 0) return true;
  const [width, height] = [pdf.call('FPDF_GetPageWidth', page), pdf.call('FPDF_GetPageHeight', page)];
  const zoom = GLANCE_PIXELS / Math.max(1, width, height);
  const dots = bitmapOf(file, pdf, page, Math.max(1, Math.round(width * zoom)), Math.max(1, Math.round(height * zoom)));
  const counts = new Uint32Array(256);
  for (let at = 0; at < dots.length; at += 3) counts[Math.round((dots[at]! + dots[at + 1]! + dots[at + 2]!) / 3)]! += 1;
  const paper = counts.indexOf(counts.reduce((most, count) => Math.max(most, count), 0));
  return counts.every((count, brightness) => count === 0 || Math.abs(brightness - paper) < INK);
}

/** Numbers of the pages that have no text layer, as a scan has none, and on which something is to be seen. */
export function pagesWithoutText(file: SourceFile): Promise<number[]> {
  return withPdf(file, async (pdf, count) => {
    const found: number[] = [];
    for (let number = 1; number <= count; number += 1) {
      const page = pdf.call('FPDF_LoadPage', pdf.handle, number - 1);
      if (page === 0) continue;
      if (linesOfPage(pdf, page).length === 0 && !isBlank(file, pdf, page)) found.push(number);
      pdf.call('FPDF_ClosePage', page);
      await breathe();
    }
    return found;
  });
}

/** Renders pages (from 1) as PNG at `dpi` and hands each over before the next is made. */
export function renderPages(
  file: SourceFile,
  { pages, dpi }: { readonly pages: readonly number[]; readonly dpi: number },
  take: (page: number, png: Uint8Array) => Promise<void>,
): Promise<void> {
  return withPdf(file, async (pdf) => {
    for (const page of pages) await take(page, await renderPage(file, pdf, page, dpi));
  });
}

/** The pixels of one page (from 1), about `width` wide, with the number of pages; no pixels where the file has no such page. */
export function pagePixels(file: SourceFile, page: number, width: number): Promise<{ pages: number; pixels: Pixels | undefined }> {
  return withPdf(file, (pdf, pages) => ({
    pages,
    pixels: page > pages ? undefined : pixelsOf(file, pdf, page, (widthPoints) => width / Math.max(1, widthPoints)),
  }));
}

async function renderPage(file: SourceFile, pdf: PdfDocument, number: number, dpi: number): Promise<Uint8Array> {
  return encodePng(pixelsOf(file, pdf, number, () => dpi / POINTS_PER_INCH));
}

/** `zoomOf` says how many pixels a point gets, by the points of the page's width. */
function pixelsOf(file: SourceFile, pdf: PdfDocument, number: number, zoomOf: (widthPoints: number) => number): Pixels {
  const page = pdf.call('FPDF_LoadPage', pdf.handle, number - 1);
  if (page === 0) throw damagedFile(file, `page ${number} cannot be opened`);
  try {
    const [widthPoints, heightPoints] = [pdf.call('FPDF_GetPageWidth', page), pdf.call('FPDF_GetPageHeight', page)];
    const wanted = zoomOf(widthPoints);
    const fitting = Math.sqrt(PAGE_PIXELS / Math.max(1, widthPoints * heightPoints));
    const zoom = Math.min(wanted, fitting, SIDE_PIXELS / Math.max(1, widthPoints, heightPoints));
    const width = Math.max(1, Math.round(widthPoints * zoom));
    const height = Math.max(1, Math.round(heightPoints * zoom));
    return { width, height, channels: 3, data: bitmapOf(file, pdf, page, width, height) };
  } finally {
    pdf.call('FPDF_ClosePage', page);
  }
}

function bitmapOf(file: SourceFile, pdf: PdfDocument, page: number, width: number, height: number): Uint8Array {
  const bitmap = pdf.call('FPDFBitmap_CreateEx', width, height, FORMAT_BGR, 0, 0);
  if (bitmap === 0) throw new Failure('invalid', `${file.name} has a page of ${width} x ${height} pixels, too large to render.`);
  try {
    pdf.call('FPDFBitmap_FillRect', bitmap, 0, 0, width, height, WHITE);
    pdf.call('FPDF_RenderPageBitmap', bitmap, page, 0, 0, width, height, 0, WITH_ANNOTATIONS);
    const stride = pdf.call('FPDFBitmap_GetStride', bitmap);
    const rows = pdf.copy(pdf.call('FPDFBitmap_GetBuffer', bitmap), stride * height);
    const data = new Uint8Array(width * height * 3);
    for (let row = 0; row < height; row += 1) {
      for (let column = 0; column < width; column += 1) {
        const [from, to] = [row * stride + column * 3, (row * width + column) * 3];
        data[to] = rows[from + 2]!;
        data[to + 1] = rows[from + 1]!;
        data[to + 2] = rows[from]!;
      }
    }
    return data;
  } finally {
    pdf.call('FPDFBitmap_Destroy', bitmap);
  }
}
