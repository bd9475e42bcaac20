import type { CellObject, WorkBook } from '@e965/xlsx';
import type { Metadata } from '../contract.js';
import { repacked, unpacked } from './archive.js';
import { bytesOf } from './bytes.js';
import type { ParseLimits, Parser, SourceFile } from './contract.js';
import { damaged, locked } from './refusals.js';
import { writeTable } from './tabular.js';
import { DocumentWriter, present } from './writer.js';

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

async function workbook(file: SourceFile, limits: ParseLimits): Promise<WorkBook> {
  const bytes = await bytesOf(file);
  const safe = bytes[0] === ZIP ? repacked(unpacked(file.name, bytes, limits, (path) => /\.(?:xml|rels|bin)$/.test(path))) : bytes;
  const { read } = await import('@e965/xlsx');
  try {
    return read(safe, { type: 'array', dense: true, cellDates: true, cellNF: false, cellStyles: false });
  } catch (error) {
    if (error instanceof Error && /password/i.test(error.message)) throw locked(file);
    throw damaged(file, 'its workbook cannot be read', error);
  }
}

function shown(cell: CellObject | undefined, options: Metadata): string {
  if (!cell) return '';
  const value = cell.w ?? (cell.v instanceof Date ? cell.v.toISOString() : String(cell.v ?? ''));
  if (cell.f === undefined) return value;
  if (options.data_only === false) return `=${cell.f}`;
  return options.extract_formulas === true ? `${value} (=${cell.f})` : value;
}

/** Only the cells that exist: the stated range of a sheet may span millions that do not. */
function rowsOf(sheet: unknown, options: Metadata): string[][] {
  const cells = ((sheet as { '!data'?: (CellObject | undefined)[][] })['!data'] ?? []) as (CellObject | undefined)[][];
  const rows: string[][] = [];
  cells.forEach((row) => {
    const values: string[] = [];
    row?.forEach((cell, at) => {
      values[at] = shown(cell, options);
    });
    rows.push(Array.from(values, (value) => value ?? ''));
  });
  return rows;
}

/** Workbooks (XLSX, XLSM, XLSB, XLS). */
export const xlsx: Parser = {
  id: 'xlsx',
  defaults: { ExcelParser_OpenPyXL: OPEN_PYXL, ExcelParser_Pandas: PANDAS, ExcelParser_LlamaIndex: LLAMA_INDEX, ExcelParser: OPEN_PYXL },
  extensions: ['.xlsx', '.xlsm', '.xlsb', '.xls', '.xltx'],
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
      const skipped = Number(options.skiprows ?? 0);
      const rows = rowsOf(book.Sheets[name], options).slice(skipped);
      const at = options.has_header === false ? -1 : Number(options.header_row ?? 0);
      const header = at < 0 ? [] : (rows[at] ?? []);
      const body = rows.slice(at + 1);
      const metadata = { type: 'excel_sheet', sheet_name: name, columns: header, rows: body.length };
      writeTable(
        { header, rows: body, firstRow: 1, metadata: options.extract_metadata === false ? { sheet_name: name } : metadata },
        options,
        writer,
      );
    }
    if (options.extract_metadata === false) return writer.finish({});
    const { Title, Author, Subject } = book.Props ?? {};
    return writer.finish(present({ type: 'excel_workbook', sheets: names, title: Title, author: Author, subject: Subject }));
  },
};
