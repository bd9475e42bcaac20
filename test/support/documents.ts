import { createRequire } from 'node:module';
import { type BookType, CFB, utils, write } from '@e965/xlsx';
import { strToU8, type Zippable, zipSync } from 'fflate';

const XML = '<?xml version="1.0" encoding="UTF-8"?>';
const W = 'xmlns:w="http://schemas.openxmlformats.org/wordprocessingml/2006/main"';
const OFFICE = 'http://schemas.openxmlformats.org/officeDocument/2006/relationships';
const CORE = `${XML}<cp:coreProperties xmlns:cp="c" xmlns:dc="d" xmlns:dcterms="t"><dc:title>On engines</dc:title><dc:creator>Ada</dc:creator></cp:coreProperties>`;

function zip(parts: Record<string, string | Uint8Array>): Uint8Array {
  const files: Zippable = {};
  for (const [path, part] of Object.entries(parts)) files[path] = typeof part === 'string' ? strToU8(part) : part;
  return zipSync(files);
}

/** A Word document with the given body XML. */
export function docx(body: string, more: Record<string, string> = {}): Uint8Array {
  return zip({
    '[Content_Types].xml': `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Default Extension="xml" ContentType="application/xml"/><Override PartName="/word/document.xml" ContentType="application/vnd.openxmlformats-officedocument.wordprocessingml.document.main+xml"/></Types>`,
    '_rels/.rels': `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${OFFICE}/officeDocument" Target="word/document.xml"/></Relationships>`,
    'word/styles.xml': `${XML}<w:styles ${W}><w:style w:type="paragraph" w:styleId="Heading1"><w:name w:val="heading 1"/></w:style></w:styles>`,
    'word/_rels/document.xml.rels': `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="s1" Type="${OFFICE}/styles" Target="styles.xml"/></Relationships>`,
    'word/document.xml': `${XML}<w:document ${W}><w:body>${body}</w:body></w:document>`,
    'docProps/core.xml': CORE,
    ...more,
  });
}

/** A paragraph of a Word document. */
export const wordParagraph = (text: string, style = ''): string =>
  `<w:p>${style ? `<w:pPr><w:pStyle w:val="${style}"/></w:pPr>` : ''}<w:r><w:t>${text}</w:t></w:r></w:p>`;

/** A header, footer or comment part. */
export const wordPart = (root: string, text: string): string => `${XML}<w:${root} ${W}>${wordParagraph(text)}</w:${root}>`;

/** A workbook with the given sheets; a cell `=A1` is a formula whose value is 42. */
export function workbook(sheets: Record<string, (string | number)[][]>): Uint8Array {
  const book = utils.book_new();
  for (const [name, rows] of Object.entries(sheets)) {
    const sheet = utils.aoa_to_sheet(rows);
    for (const [at, cell] of Object.entries(sheet)) {
      if (typeof cell?.v === 'string' && cell.v.startsWith('=')) sheet[at] = { t: 'n', v: 42, f: cell.v.slice(1) };
    }
    utils.book_append_sheet(book, sheet, name);
  }
  return new Uint8Array(write(book, { type: 'array', bookType: 'xlsx' }) as ArrayBuffer);
}

/** A workbook of one sheet with the given XML of its rows, and the ranges that are merged. */
export function sheetXlsx(rows: string, merged: readonly string[] = []): Uint8Array {
  const main = 'http://schemas.openxmlformats.org/spreadsheetml/2006/main';
  const merges = merged.length === 0 ? '' : `<mergeCells>${merged.map((range) => `<mergeCell ref="${range}"/>`).join('')}</mergeCells>`;
  return zip({
    'xl/workbook.xml': `${XML}<workbook xmlns="${main}" xmlns:r="${OFFICE}"><sheets><sheet name="One" sheetId="1" r:id="r1"/></sheets></workbook>`,
    'xl/_rels/workbook.xml.rels': `${XML}<Relationships xmlns="http://schemas.openxmlformats.org/package/2006/relationships"><Relationship Id="r1" Type="${OFFICE}/worksheet" Target="worksheets/sheet1.xml"/></Relationships>`,
    'xl/worksheets/sheet1.xml': `${XML}<worksheet xmlns="${main}"><sheetData>${rows}</sheetData>${merges}</worksheet>`,
    '[Content_Types].xml': `${XML}<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Default Extension="rels" ContentType="application/vnd.openxmlformats-package.relationships+xml"/><Override PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.sheet.main+xml"/><Override PartName="/xl/worksheets/sheet1.xml" ContentType="application/vnd.openxmlformats-officedocument.spreadsheetml.worksheet+xml"/></Types>`,
  });
}

/** Rows of a sheet as XML: texts and numbers as they are given, a text that begins with `=` is a formula without its value. */
export function sheetRows(rows: readonly (readonly (string | number | null)[])[]): string {
  const cell = (value: string | number | null, place: string): string => {
    if (value === null) return '';
    if (typeof value === 'number') return `<c r="${place}"><v>${value}</v></c>`;
    if (/^-?\d+n$/.test(value)) return `<c r="${place}" t="n"><v>${value.slice(0, -1)}</v></c>`;
    if (value.startsWith('=')) return `<c r="${place}"><f>${value.slice(1)}</f><v></v></c>`;
    return `<c r="${place}" t="inlineStr"><is><t>${value}</t></is></c>`;
  };
  return rows
    .map(
      (row, at) => `<row r="${at + 1}">${row.map((value, column) => cell(value, utils.encode_cell({ r: at, c: column }))).join('')}</row>`,
    )
    .join('');
}

/** A table in one of the older formats of spreadsheets. */
export function oldWorkbook(rows: readonly (readonly (string | number)[])[], bookType: BookType): Uint8Array {
  const book = utils.book_new();
  utils.book_append_sheet(book, utils.aoa_to_sheet(rows as (string | number)[][]), 'One');
  return new Uint8Array(write(book, { type: 'array', bookType }) as ArrayBuffer);
}

/** A compound file with the given streams. */
export function compound(streams: Record<string, Uint8Array>): Uint8Array {
  const file = CFB.utils.cfb_new();
  for (const [name, content] of Object.entries(streams)) CFB.utils.cfb_add(file, `/${name}`, content);
  return new Uint8Array(CFB.write(file, { type: 'buffer' }) as Buffer);
}

/** The content of a stream of a compound file. */
export function streamOf(file: Uint8Array, name: string): Uint8Array {
  return new Uint8Array(CFB.find(CFB.read(Buffer.from(file), { type: 'buffer' }), name).content as Buffer);
}

/** A workbook of Excel 95 (BIFF5) with one sheet, whose texts are in a code page. */
export function excel95Workbook(rows: readonly (readonly string[])[], codePage: number, encode: (text: string) => Uint8Array): Uint8Array {
  const words = (...values: number[]): Buffer => Buffer.from(Uint16Array.from(values).buffer);
  const record = (kind: number, ...content: Uint8Array[]): Buffer => {
    const body = Buffer.concat(content);
    return Buffer.concat([words(kind, body.length), body]);
  };
  const [globals, worksheet] = [0x0005, 0x0010].map((kind) => record(0x0809, words(0x0500, kind, 0, 0))) as [Buffer, Buffer];
  const page = record(0x0042, words(codePage));
  const end = record(0x000a);
  const name = Buffer.from('\u0001S', 'latin1');
  // The place of the sheet follows from the sizes of what is before it.
  const place = globals.length + page.length + record(0x0085, Buffer.alloc(6), name).length + end.length;
  const listed = record(0x0085, words(place, 0, 0), name);
  const cells = rows.flatMap((row, y) => row.map((text, x) => record(0x0204, words(y, x, 0, encode(text).length), encode(text))));
  return compound({ Book: Buffer.concat([globals, page, listed, end, worksheet, ...cells, end]) });
}

const slide = (title: string, text: string): string =>
  `${XML}<p:sld xmlns:p="p" xmlns:a="a"><p:sp><p:nvSpPr><p:ph type="title"/></p:nvSpPr><a:p><a:r><a:t>${title}</a:t></a:r></a:p></p:sp><p:sp><a:p><a:r><a:t>${text}</a:t></a:r></a:p></p:sp><a:tr><a:tc><a:p><a:r><a:t>k</a:t></a:r></a:p></a:tc><a:tc><a:p><a:r><a:t>v</a:t></a:r></a:p></a:tc></a:tr></p:sld>`;

/** A presentation with a slide for each title and text. */
export function pptx(slides: readonly (readonly [string, string])[]): Uint8Array {
  const parts = slides.map(([title, text], index) => [`ppt/slides/slide${index + 1}.xml`, slide(title, text)]);
  return zip({ 'ppt/presentation.xml': `${XML}<p/>`, 'docProps/core.xml': CORE, ...(Object.fromEntries(parts) as Record<string, string>) });
}

/** A book whose chapters are the given XHTML bodies; `more` adds parts and replaces some. */
export function epub(chapters: readonly string[], more: Record<string, Uint8Array> = {}): Uint8Array {
  const ids = chapters.map((_, index) => `c${index}`);
  const items = ids.map((id) => `<item id="${id}" href="text/${id}.xhtml" media-type="application/xhtml+xml"/>`).join('');
  const spine = ids.map((id) => `<itemref idref="${id}"/>`).join('');
  return zip({
    mimetype: 'application/epub+zip',
    'META-INF/container.xml': `${XML}<container><rootfiles><rootfile full-path="OEBPS/book.opf"/></rootfiles></container>`,
    'OEBPS/book.opf': `${XML}<package xmlns:dc="d"><metadata><dc:title>On engines</dc:title><dc:creator>Ada</dc:creator></metadata><manifest>${items}</manifest><spine>${spine}</spine></package>`,
    ...Object.fromEntries(chapters.map((body, index) => [`OEBPS/text/c${index}.xhtml`, `${XML}<html><body>${body}</body></html>`])),
    ...more,
  });
}

/** An OpenDocument text with the given content; `more` adds parts and replaces some. */
export function odt(content: string, manifest = '', more: Record<string, Uint8Array> = {}): Uint8Array {
  return zip({
    mimetype: 'application/vnd.oasis.opendocument.text',
    'META-INF/manifest.xml': `${XML}<manifest>${manifest}</manifest>`,
    'meta.xml': `${XML}<office:meta><dc:title>On engines</dc:title></office:meta>`,
    'content.xml': `${XML}<office:document-content><office:body><office:text>${content}</office:text></office:body></office:document-content>`,
    ...more,
  });
}

/** A PDF with one page for each list of drawing operations; an empty text is a page without a text layer. */
export function pdf(pages: readonly string[], info = ''): Uint8Array {
  const objects = [
    '<</Type/Catalog/Pages 2 0 R>>',
    `<</Type/Pages/Kids[${pages.map((_, at) => `${5 + at * 2} 0 R`).join(' ')}]/Count ${pages.length}>>`,
  ];
  objects.push('<</Type/Font/Subtype/Type1/BaseFont/Helvetica>>', `<<${info}>>`);
  for (const [at, draw] of pages.entries()) {
    objects.push(`<</Type/Page/Parent 2 0 R/MediaBox[0 0 400 400]/Resources<</Font<</F1 3 0 R>>>>/Contents ${6 + at * 2} 0 R>>`);
    objects.push(`<</Length ${draw.length}>>stream\n${draw}\nendstream`);
  }
  return pdfFile(objects, '/Info 4 0 R');
}

/** A PDF of numbered objects, the first of them its catalogue; `trailer` is what the trailer says beside. Latin-1. */
export function pdfFile(objects: readonly string[], trailer = ''): Uint8Array {
  let text = '%PDF-1.4\n';
  const places = objects.map((object, at) => {
    const place = text.length;
    text += `${at + 1} 0 obj${object}endobj\n`;
    return place;
  });
  const start = text.length;
  text += `xref\n0 ${objects.length + 1}\n0000000000 65535 f \n${places.map((place) => `${String(place).padStart(10, '0')} 00000 n \n`).join('')}`;
  text += `trailer<</Size ${objects.length + 1}/Root 1 0 R${trailer}>>\nstartxref\n${start}\n%%EOF`;
  return Buffer.from(text, 'latin1');
}

/** Drawing operations for lines of text: size in points, distance from the line above, text. */
export const drawn = (lines: readonly (readonly [number, number, string])[]): string =>
  `BT 20 380 Td ${lines.map(([size, down, text]) => `/F1 ${size} Tf 0 ${-down} Td (${text}) Tj`).join(' ')} ET`;

interface BurnEntry {
  readonly name: string;
  readonly type: number;
  readonly length: number;
  readonly children?: number[];
  readonly binaryProvider?: () => Uint8Array;
}

/** How the texts of an Outlook message are kept: in Unicode, or in an encoding, with the number of a code page where one is named. */
export interface MessageTexts {
  readonly encode: (text: string) => Uint8Array;
  readonly codePage?: number;
}

/** An Outlook message with plain-text body; its texts are in Unicode unless `texts` says otherwise. */
export function msg(fields: { subject: string; sender: string; body: string }, texts?: MessageTexts): Uint8Array {
  const { burn } = createRequire(import.meta.url)('@kenjiuno/msgreader/lib/Burner') as { burn: (entries: BurnEntry[]) => Uint8Array };
  const file = (name: string, content: Uint8Array): BurnEntry => ({ name, type: 2, length: content.length, binaryProvider: () => content });
  const properties = Buffer.alloc(32 + (texts?.codePage === undefined ? 0 : 16));
  if (texts?.codePage !== undefined) {
    properties.writeUInt32LE(0x3ffd0003, 32);
    properties.writeUInt32LE(texts.codePage, 40);
  }
  // The writer takes the memory below a view, so that a pooled Buffer would bring its neighbours.
  const text = (id: string, value: string): BurnEntry =>
    file(`__substg1.0_${id}${texts ? '001E' : '001F'}`, Uint8Array.from(texts ? texts.encode(value) : Buffer.from(value, 'utf16le')));
  const streams = [
    file('__properties_version1.0', Uint8Array.from(properties)),
    text('001A', 'IPM.Note'),
    text('0037', fields.subject),
    text('0C1A', fields.sender),
    text('1000', fields.body),
  ];
  return burn([{ name: 'Root Entry', type: 5, length: 0, children: streams.map((_, at) => at + 1) }, ...streams]);
}

/** A mail with an attachment. */
export const eml = (attachment = 'k,v\r\n1,2', name = 't.csv'): string =>
  `From: Ada <ada@example.org>\r\nTo: alan@example.org\r\nSubject: On engines\r\nMIME-Version: 1.0\r\nContent-Type: multipart/mixed; boundary=x\r\n\r\n--x\r\nContent-Type: text/plain\r\n\r\nThe body.\r\n--x\r\nContent-Type: text/csv; name=${name}\r\nContent-Disposition: attachment; filename=${name}\r\n\r\n${attachment}\r\n--x--\r\n`;
