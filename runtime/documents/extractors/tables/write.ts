/** How the rows of a table are given. */
export type TableFormat = 'dict' | 'list' | 'csv' | 'markdown';

/** Longest name of a column: rows repeat it. */
const NAME_UNITS = 64;

/** Names of columns: unique, and never empty. */
export function columnNames(headers: readonly string[], columns: number): string[] {
  const used = new Set<string>();
  return Array.from({ length: columns }, (_, index) => {
    const base = headers[index]?.slice(0, NAME_UNITS) || `column_${index + 1}`;
    let name = base;
    for (let copy = 2; used.has(name); copy += 1) name = `${base}_${copy}`;
    used.add(name);
    return name;
  });
}

const quoted = (cell: string): string => (/[",\n\r]/.test(cell) ? `"${cell.replaceAll('"', '""')}"` : cell);
const barred = (cells: readonly string[]): string => `| ${cells.map((cell) => cell.replaceAll('|', '\\|')).join(' | ')} |`;

/** Rows as objects by column, as lists, or as one text with the header where there is one. */
export function written(format: TableFormat, headers: readonly string[], rows: readonly (readonly string[])[], columns: number): unknown {
  const padded = rows.map((row) => Array.from({ length: columns }, (_, index) => row[index] ?? ''));
  const names = columnNames(headers, columns);
  switch (format) {
    case 'dict':
      return padded.map((row) => Object.fromEntries(row.map((cell, index) => [names[index]!, cell])));
    case 'list':
      return padded;
    case 'csv':
      return [...(headers.length > 0 ? [names] : []), ...padded].map((row) => row.map(quoted).join(',')).join('\n');
    case 'markdown':
      return [names, names.map(() => '---'), ...padded].map(barred).join('\n');
  }
}
