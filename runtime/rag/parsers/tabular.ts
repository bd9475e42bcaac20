import type { Metadata } from '../contract.js';
import type { DocumentWriter } from './writer.js';

/** A table as the readers of tables hand it over; `firstRow` is the number of the first row as a person counts. */
export interface Table {
  readonly header: readonly string[];
  readonly rows: readonly (readonly string[])[];
  readonly firstRow: number;
  /** Of all its blocks, such as the sheet. */
  readonly metadata: Metadata;
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

/** Adds each row as a block of `column: value` texts, or each column as one where the strategy is `columns`. Values in `na_values` are left out. */
export function writeTable(table: Table, options: Metadata, writer: DocumentWriter): void {
  const missing = new Set(texts(options.na_values ?? ['']));
  const width = table.rows.reduce((most, row) => Math.max(most, row.length), table.header.length);
  const columns = namesOf([...table.header, ...Array<string>(width - table.header.length).fill('')], options.field_mapping);
  if (options.chunk_strategy === 'columns') {
    columns.forEach((column, index) => {
      const values = table.rows.map((row) => row[index] ?? '').filter((value) => !missing.has(value.trim()));
      writer.add('paragraph', `${column}: ${values.join(', ')}`, { apart: true, metadata: { ...table.metadata, column } });
    });
    return;
  }
  const between = options.combine_fields === false ? '\n' : ', ';
  // The values of a row become metadata where each row is a chunk of its own.
  const single = options.chunk_size === 1;
  table.rows.forEach((row, index) => {
    const cells = columns.flatMap((column, at): [string, string][] => {
      const value = row[at]?.trim() ?? '';
      return missing.has(value) || value === '' ? [] : [[column, value]];
    });
    const text = cells.map(([column, value]) => `${column}: ${value}`).join(between);
    const metadata = {
      ...(single ? Object.fromEntries(cells.map(([column, value]) => [column, cellValue(value)])) : {}),
      ...table.metadata,
      row_number: table.firstRow + index,
    };
    writer.add('row', text, {
      metadata,
      ...(index === 0 && table.metadata.sheet_name !== undefined && options.combine_sheets !== true ? { apart: true } : {}),
    });
  });
}
