import type { Metadata } from '../contract.js';
import type { DocumentWriter } from './writer.js';

/** A row as it stands in the file. */
export interface RawRow {
  readonly cells: readonly string[];
  /** Cells that repeat the one to their left, since they are merged with it. */
  readonly repeated?: ReadonlySet<number>;
}

/** A table whose parts are told apart. */
export interface Table {
  /** What stands above it, a line each. */
  readonly titles: readonly string[];
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
}

/** Rows from the top among which the header is looked for. */
const HEADER_ROWS = 20;
/** Lines of names that one header may have. */
const HEADER_LEVELS = 3;

/** Texts of a row that stand for themselves. */
const ownTexts = ({ cells, repeated }: RawRow): string[] => cells.filter((cell, at) => cell.trim() !== '' && !repeated?.has(at));

/** Whether all texts of a row may name columns: words, or years. */
const isNaming = (row: RawRow): boolean =>
  ownTexts(row).every((text) => !/^[-+]?\p{Sc}?\s?[\d.,]+\s?[%\p{Sc}]?$/u.test(text.trim()) || /^(?:19|20)\d\d$/.test(text.trim()));

/** Index of the header: the first row, or the first as wide as the table where narrower ones stand above it. */
function headerAt(rows: readonly RawRow[]): number {
  const widths = rows.slice(0, HEADER_ROWS).map((row) => ownTexts(row).length);
  const first = widths.findIndex((width) => width > 0);
  const wide = widths.findIndex((width) => width >= 2 && width >= Math.max(...widths) / 2);
  const isTitled = wide > first && (isNaming(rows[wide]!) || isGrouped(rows[first]!));
  return isTitled ? wide : Math.max(0, first);
}

const isGrouped = ({ repeated }: RawRow): boolean => (repeated?.size ?? 0) > 0;

/** Whether a row goes on with the header above it: it names the columns of groups, and no others anew. */
function continuesHeader(above: RawRow, row: RawRow): boolean {
  const isInGroup = (at: number): boolean => above.repeated?.has(at) === true || above.repeated?.has(at + 1) === true;
  const isFree = (at: number): boolean => {
    const [name = '', below = ''] = [above.cells[at], row.cells[at]];
    return isInGroup(at) || name === '' || below === '' || name === below;
  };
  return isGrouped(above) && isNaming(row) && row.cells.every((_, at) => isFree(at));
}

/** Names of columns over one another, as those of grouped columns stand, in one line. */
function mergedNames(above: readonly string[], below: readonly string[]): string[] {
  return Array.from({ length: Math.max(above.length, below.length) }, (_, at) => {
    const [group = '', name = ''] = [above[at]?.trim(), below[at]?.trim()];
    return group === name ? name : `${group} ${name}`.trim();
  });
}

/**
 * Tells titles, header and rows apart. `header_row` of the options is the header's index where it is not 0, which leaves it to be found;
 * `has_header: false` means that there is none.
 */
export function dividedTable(rows: readonly RawRow[], options: Metadata): Table {
  const cellsOf = (some: readonly RawRow[]): (readonly string[])[] => some.map((row) => row.cells);
  if (options.has_header === false) return { titles: [], header: [], rows: cellsOf(rows) };
  const asked = Number(options.header_row ?? 0);
  if (asked > 0) return { titles: [], header: rows[asked]?.cells ?? [], rows: cellsOf(rows.slice(asked + 1)) };
  const at = headerAt(rows);
  const titles = rows.slice(0, at).flatMap((row) => ownTexts(row).join(' ') || []);
  let last = at;
  let header = rows[at]?.cells ?? [];
  for (; last + 1 < rows.length && last - at + 1 < HEADER_LEVELS && continuesHeader(rows[last]!, rows[last + 1]!); last += 1)
    header = mergedNames(header, rows[last + 1]!.cells);
  return { titles, header, rows: cellsOf(rows.slice(last + 1)) };
}

function texts(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

/** A number where the text is written as one, so that filters can compare it; `007` stays a text. */
function cellValue(text: string): string | number {
  return String(Number(text)) === text && Number.isFinite(Number(text)) ? Number(text) : text;
}

/** Column names as configured: renamed by `field_mapping`, the empty ones numbered, the repeated ones told apart. */
function namesOf(header: readonly string[], mapping: unknown): string[] {
  const renamed = (mapping ?? {}) as Record<string, unknown>;
  const seen = new Map<string, number>();
  return header.map((raw, index) => {
    const own = raw.trim() || `column_${index + 1}`;
    const name = typeof renamed[own] === 'string' ? (renamed[own] as string) : own;
    const count = (seen.get(name) ?? 0) + 1;
    seen.set(name, count);
    return count === 1 ? name : `${name}_${count}`;
  });
}

/** How a table is written. */
interface TableExtras {
  /** Of all its blocks, such as the sheet. */
  readonly metadata: Metadata;
  /** Whether no chunk may hold rows of this table and of the one before. */
  readonly apart?: boolean;
}

/**
 * Adds the titles and each row as a block of `column: value` texts, or each column as one where the strategy is `columns`. Values in
 * `na_values` are left out. A table that has nothing but its header still has that.
 */
export function writeTable({ titles, header, rows }: Table, options: Metadata, extras: TableExtras, writer: DocumentWriter): void {
  const missing = new Set(texts(options.na_values ?? ['']));
  const width = rows.reduce((most, row) => Math.max(most, row.length), header.length);
  const columns = namesOf([...header, ...Array<string>(width - header.length).fill('')], options.field_mapping);
  const title = titles.join('\n');
  const metadata = title === '' ? extras.metadata : { ...extras.metadata, table_title: title };
  const isApart = (isFirst: boolean): { apart?: boolean } => (isFirst && extras.apart === true ? { apart: true } : {});
  writer.add('heading', title, { metadata, ...isApart(true) });
  if (rows.length === 0) writer.add('row', header.filter((name) => name.trim() !== '').join(', '), { metadata, ...isApart(title === '') });
  if (options.chunk_strategy === 'columns') {
    columns.forEach((column, index) => {
      const values = rows.map((row) => row[index] ?? '').filter((value) => !missing.has(value.trim()));
      if (rows.length > 0) writer.add('paragraph', `${column}: ${values.join(', ')}`, { apart: true, metadata: { ...metadata, column } });
    });
    return;
  }
  const between = options.combine_fields === false ? '\n' : ', ';
  // The values of a row become metadata where each row is a chunk of its own.
  const single = options.chunk_size === 1;
  rows.forEach((row, index) => {
    const cells = columns.flatMap((column, at): [string, string][] => {
      const value = row[at]?.trim() ?? '';
      return missing.has(value) || value === '' ? [] : [[column, value]];
    });
    const text = cells.map(([column, value]) => `${column}: ${value}`).join(between);
    const values = single ? Object.fromEntries(cells.map(([column, value]) => [column, cellValue(value)])) : {};
    writer.add('row', text, { metadata: { ...values, ...metadata, row_number: index + 1 }, ...isApart(index === 0 && title === '') });
  });
}
