import type { CellObject, Range, WorkBook, WorkSheet } from '@e965/xlsx';
import type { Metadata } from '../contract.js';
import { type Archive, repacked, unpacked } from './archive.js';
import { bytesOf } from './bytes.js';
import { damagedFile, lockedFile, type ParseLimits, type Parser, type SourceFile } from './contract.js';
import { dividedTable, type RawRow, writeTable } from './tabular.js';
import { DocumentWriter, presentMembers } from './writer.js';

const OPEN_PYXL = {
  chunk_size: 1000,
  chunk_overlap: 0,
  chunk_strategy: 'rows',
  extract_formulas: false,
  extract_metadata: true,
  sheets: null,
  data_only: true,
  has_header: true,
  combine_sheets: false,
  header_row: 0,
  skiprows: 0,
  na_values: [''],
  field_mapping: {},
  combine_fields: true,
};
const PANDAS = { ...OPEN_PYXL, skiprows: null, na_values: ['', 'NA', 'N/A', 'null', 'None'] };
const LLAMA_INDEX = { ...PANDAS, skiprows: 0 };
const ZIP = 0x50;
const SHEET = /^xl\/worksheets\/[^/]+\.xml$/i;

/** Workbooks (XLSX, XLSM, XLSB, XLS and what went before). */
export const xlsx: Parser = {
  id: 'xlsx',
  defaults: { ExcelParser_OpenPyXL: OPEN_PYXL, ExcelParser_Pandas: PANDAS, ExcelParser_LlamaIndex: LLAMA_INDEX, ExcelParser: OPEN_PYXL },
  extensions: ['.xlsx', '.xlsm', '.xlsb', '.xls', '.xltx', '.xltm', '.xlt', '.xlw', '.slk'],
  mimeTypes: ['application/vnd.openxmlformats-officedocument.spreadsheetml.sheet', 'application/vnd.ms-excel'],
  async parse(file, options, limits) {
    const book = await workbook(file, limits);
    const asked = Array.isArray(options.sheets) ? options.sheets.map(String) : undefined;
    const names = asked?.filter((name) => book.SheetNames.includes(name)) ?? book.SheetNames;
    const writer = new DocumentWriter(file.name, limits);
    for (const name of asked ?? []) {
      if (!names.includes(name)) writer.warnings.push(`There is no sheet ${name}; there are ${book.SheetNames.join(', ')}.`);
    }
    for (const name of names) {
      const table = dividedTable(rowsOf(book.Sheets[name], options).slice(Number(options.skiprows ?? 0)), options);
      const described = { type: 'excel_sheet', sheet_name: name, columns: table.header, rows: table.rows.length };
      const metadata = options.extract_metadata === false ? { sheet_name: name } : described;
      writeTable(table, options, { metadata, apart: options.combine_sheets !== true }, writer);
    }
    if (options.extract_metadata === false) return writer.finish({});
    const { Title, Author, Subject } = book.Props ?? {};
    return writer.finish(presentMembers({ type: 'excel_workbook', sheets: names, title: Title, author: Author, subject: Subject }));
  },
};

async function workbook(file: SourceFile, limits: ParseLimits): Promise<WorkBook> {
  let bytes = await bytesOf(file);
  let sheetStubs = false;
  if (bytes[0] === ZIP) {
    const { archive, isUncomputed } = prepared(unpacked(file.name, bytes, limits, (path) => /\.(?:xml|rels|bin)$/i.test(path)));
    bytes = repacked(archive);
    // The library leaves such cells out unless it gives the empty ones too.
    sheetStubs = isUncomputed;
  }
  const { read, set_cptable: setCodePages } = await import('@e965/xlsx');
  // Workbooks of before 1997 keep texts in the code page that they name.
  if (bytes[0] !== ZIP) setCodePages(await import('@e965/xlsx/dist/cpexcel.full.mjs'));
  try {
    return read(bytes, { type: 'array', dense: true, cellDates: true, cellNF: true, cellStyles: false, sheetStubs });
  } catch (error) {
    if (error instanceof Error && /password/i.test(error.message)) throw lockedFile(file);
    throw damagedFile(file, 'its workbook cannot be read', error);
  }
}

/** A formula of which no value is stored. */
const UNCOMPUTED = /(?:<\/(?:\w+:)?f>|<(?:\w+:)?f\b[^<>]*\/>)\s*(?:<(?:\w+:)?v\s*\/>|<(?:\w+:)?v>\s*<\/(?:\w+:)?v>)?\s*<\/(?:\w+:)?c>/;

/** A number of more digits than a double holds. */
const LONG_NUMBER = /<((?:\w+:)?c)\b([^<>]*)>((?:<(?:\w+:)?f\b[^<>]*>[^<>]*<\/(?:\w+:)?f>)?<(?:\w+:)?v>)(-?\d{16,})(?=<\/)/g;

/** Whether formulas lack their values, and the sheets with numbers as texts where the library would round them. */
function prepared({ parts, paths }: Archive): { archive: Archive; isUncomputed: boolean } {
  const changed = new Map(parts);
  let isUncomputed = false;
  for (const [path, part] of parts) {
    if (!SHEET.test(path)) continue;
    // Latin-1 gives each byte back as it was; what is looked for is ASCII.
    const xml = Buffer.from(part.buffer, part.byteOffset, part.length).toString('latin1');
    isUncomputed ||= UNCOMPUTED.test(xml);
    const exact = xml.replace(LONG_NUMBER, (whole, name: string, attributes: string, before: string, digits: string) => {
      const isNumber = !/\bt=["'](?!n["'])/.test(attributes);
      if (!isNumber || String(Number(digits)) === digits) return whole;
      return `<${name}${attributes.replace(/\bt=["']n["']/, '')} t="str">${before}${digits}`;
    });
    if (exact !== xml) changed.set(path, Buffer.from(exact, 'latin1'));
  }
  return { archive: { parts: changed, paths }, isUncomputed };
}

/** Only the cells that exist, and those that are merged with them: the stated range of a sheet may span millions that do not. */
function rowsOf(sheet: WorkSheet | undefined, options: Metadata): RawRow[] {
  const cells = ((sheet as { '!data'?: (CellObject | undefined)[][] } | undefined)?.['!data'] ?? []) as (CellObject | undefined)[][];
  const rows: string[][] = [];
  cells.forEach((row, at) => {
    rows[at] = Array.from(row ?? [], (cell) => renderCell(cell, options));
  });
  const repeated = filledMerges(rows, sheet?.['!merges'] ?? []);
  const found: RawRow[] = [];
  rows.forEach((row, at) => {
    found.push({ cells: row, ...(repeated.has(at) ? { repeated: repeated.get(at)! } : {}) });
  });
  return found;
}

function renderCell(cell: CellObject | undefined, options: Metadata): string {
  if (!cell) return '';
  const plain = cell.w ?? (cell.v instanceof Date ? cell.v.toISOString() : String(cell.v ?? ''));
  const value = typeof cell.v === 'number' && cell.t === 'n' ? numberText(cell.v, plain, cell.z) : plain;
  if (cell.f === undefined) return cell.t === 'z' ? '' : value;
  if (options.data_only === false || cell.t === 'z') return `=${cell.f}`;
  return options.extract_formulas === true ? `${value} (=${cell.f})` : value;
}

/** Digits that a spreadsheet keeps of a number that somebody types. */
const TYPED_DIGITS = 15;
const SCIENTIFIC = /^-?\d(?:\.\d+)?E[+-]?\d+$/i;

/** The text of a number: as the sheet shows it, with the digits that a general format cuts off. */
function numberText(value: number, text: string, format: unknown): string {
  const exact = String(value);
  const isTyped = exact.replace(/e.*|\D/g, '').length <= TYPED_DIGITS;
  if (SCIENTIFIC.test(text) ? Number.isInteger(value) : format === 'General' && isTyped) return /e/.test(exact) ? text : exact;
  return text;
}

/** Cells that merged ranges may fill in one sheet. */
const FILLED_LIMIT = 1_000_000;

/** Gives every cell of a merged range the text of its first, within the table; tells which columns of which rows repeat the one to their left. */
function filledMerges(rows: string[][], merges: readonly Range[]): Map<number, Set<number>> {
  const repeated = new Map<number, Set<number>>();
  const width = rows.reduce((most, row) => Math.max(most, row.length), 0);
  let filled = 0;
  for (const { s: start, e: end } of merges) {
    const text = rows[start.r]?.[start.c] ?? '';
    if (text === '') continue;
    const [bottom, right] = [Math.min(end.r, rows.length - 1), Math.min(end.c, width - 1)];
    filled += (bottom - start.r + 1) * (right - start.c + 1);
    if (filled > FILLED_LIMIT) break;
    for (let at = start.r; at <= bottom; at += 1) {
      const row = rows[at] ?? [];
      rows[at] = row;
      while (row.length < start.c) row.push('');
      for (let column = start.c; column <= right; column += 1) row[column] = text;
      if (right === start.c) continue;
      const columns = repeated.get(at) ?? new Set();
      for (let column = start.c + 1; column <= right; column += 1) columns.add(column);
      repeated.set(at, columns);
    }
  }
  return repeated;
}
