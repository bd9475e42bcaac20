import type { Metadata } from '../../contract.js';
import { textsOf } from '../markup.js';
import { presentMembers } from '../writer.js';
import type { PdfDocument } from './library.js';

const FIELDS = {
  Title: 'title',
  Author: 'author',
  Subject: 'subject',
  Keywords: 'keywords',
  Creator: 'creator',
  Producer: 'producer',
} as const;
const DATES = { CreationDate: 'created', ModDate: 'modified' } as const;
const OUTLINE_LIMIT = 1000;
const OUTLINE_DEPTH = 10;
const PER_PAGE_LIMIT = 1000;
const URI_ACTION = 3;
const IMAGE_OBJECT = 3;
const WIDGET = 20;
const LINK = 2;

/** `D:20240131120000+01'00'` as an ISO date; undefined for anything else. */
function isoDate(text: string): string | undefined {
  const match = /^(?:D:)?(\d{4})(\d\d)?(\d\d)?(\d\d)?(\d\d)?(\d\d)?(?:Z|([+-]\d\d)'?(\d\d)?)?/.exec(text);
  if (!match) return undefined;
  const [, year, month = '01', day = '01', hour = '00', minute = '00', second = '00', zone, zoneMinutes = '00'] = match;
  return `${year}-${month}-${day}T${hour}:${minute}:${second}${zone === undefined ? 'Z' : `${zone}:${zoneMinutes}`}`;
}

/** Title, author and the other fields that a PDF says of itself. */
export function documentFields(pdf: PdfDocument): Metadata {
  const field = (name: string): string =>
    pdf.withName(name, (pointer) => pdf.text((buffer, bytes) => pdf.call('FPDF_GetMetaText', pdf.handle, pointer, buffer, bytes)));
  return presentMembers({
    ...Object.fromEntries(Object.entries(FIELDS).map(([name, key]) => [key, field(name)])),
    ...Object.fromEntries(Object.entries(DATES).map(([name, key]) => [key, isoDate(field(name))])),
  });
}

/** The titles of the outline with their level, in order. The file may make it a circle: bounds end it. */
export function outlineOf(pdf: PdfDocument): { title: string; level: number }[] {
  const found: { title: string; level: number }[] = [];
  const walk = (parent: number, level: number): void => {
    let mark = pdf.call('FPDFBookmark_GetFirstChild', pdf.handle, parent);
    while (mark !== 0 && found.length < OUTLINE_LIMIT) {
      const current = mark;
      found.push({ title: pdf.text((buffer, bytes) => pdf.call('FPDFBookmark_GetTitle', current, buffer, bytes)), level });
      if (level < OUTLINE_DEPTH) walk(mark, level + 1);
      mark = pdf.call('FPDFBookmark_GetNextSibling', pdf.handle, mark);
    }
  };
  walk(0, 1);
  return found;
}

/** Addresses that the links of a page lead to. */
export function linksOf(pdf: PdfDocument, page: number): string[] {
  const found: string[] = [];
  const annotations = Math.min(PER_PAGE_LIMIT, pdf.call('FPDFPage_GetAnnotCount', page));
  for (let index = 0; index < annotations; index += 1) {
    const annotation = pdf.call('FPDFPage_GetAnnot', page, index);
    if (annotation === 0) continue;
    if (pdf.call('FPDFAnnot_GetSubtype', annotation) === LINK) {
      const action = pdf.call('FPDFLink_GetAction', pdf.call('FPDFAnnot_GetLink', annotation));
      if (action !== 0 && pdf.call('FPDFAction_GetType', action) === URI_ACTION)
        found.push(pdf.text((buffer, bytes) => pdf.call('FPDFAction_GetURIPath', pdf.handle, action, buffer, bytes), 'utf-8'));
    }
    pdf.call('FPDFPage_CloseAnnot', annotation);
  }
  return found;
}

/** The notes on a page, what is typed onto it among them; the fields of forms are not. */
export function notesOf(pdf: PdfDocument, page: number): string[] {
  const notes: string[] = [];
  const count = Math.min(PER_PAGE_LIMIT, pdf.call('FPDFPage_GetAnnotCount', page));
  for (let index = 0; index < count; index += 1) {
    const annotation = pdf.call('FPDFPage_GetAnnot', page, index);
    if (annotation === 0) continue;
    if (pdf.call('FPDFAnnot_GetSubtype', annotation) !== WIDGET) {
      const text = pdf.withName('Contents', (pointer) =>
        pdf.text((buffer, bytes) => pdf.call('FPDFAnnot_GetStringValue', annotation, pointer, buffer, bytes)),
      );
      if (text !== '') notes.push(text);
    }
    pdf.call('FPDFPage_CloseAnnot', annotation);
  }
  return notes;
}

/** Images drawn on a page. */
export function imageCount(pdf: PdfDocument, page: number): number {
  const objects = Math.min(100_000, pdf.call('FPDFPage_CountObjects', page));
  let images = 0;
  for (let index = 0; index < objects; index += 1) {
    if (pdf.call('FPDFPageObj_GetType', pdf.call('FPDFPage_GetObject', page, index)) === IMAGE_OBJECT) images += 1;
  }
  return images;
}

/** Fields of the XMP packet, which stands uncompressed in the file. */
export function xmpOf(bytes: Uint8Array): Metadata {
  const buffer = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length);
  const start = buffer.indexOf('<x:xmpmeta');
  const end = buffer.indexOf('</x:xmpmeta>', Math.max(0, start));
  if (start < 0 || end < 0) return {};
  const texts = textsOf(buffer.subarray(start, end), [
    'dc:title',
    'dc:creator',
    'dc:description',
    'dc:subject',
    'dc:rights',
    'xmp:CreatorTool',
  ]);
  return presentMembers(Object.fromEntries(texts.map(({ name, text }) => [name, text.replace(/\s+/g, ' ')])));
}
