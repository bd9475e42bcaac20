/** Tables from files of comma, semicolon or tab separated values. */

export interface Column {
  readonly name: string;
  /** Whether each cell that is not empty is a number. */
  readonly isNumeric: boolean;
  /** Whether these have a decimal comma. */
  readonly hasComma: boolean;
  /** Whether each cell is a date or time. */
  readonly isTime: boolean;
  /** What stands in the place of an empty cell of numbers. */
  readonly median: number;
  readonly emptyCells: number;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/** The most bytes of a request. */
const MOST_BYTES = 12 * 1024 ** 2;
const MOST_ROWS = 200_000;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** Reads the table of a file, whose first line names the columns. Throws a sentence that says what is wrong with it. */
export async function readTable(file: File): Promise<Table> {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has ${file.size} bytes; up to ${MOST_BYTES} go into a request.`);
  const text = (await file.text()).replace(/^\uFEFF/, '');
  const records = recordsOf(text);
  const [titles, ...rows] = records;
  if (!titles || rows.length === 0) throw new Error(`${file.name} has no rows: a table has a line of names, and a line for each row.`);
  if (rows.length > MOST_ROWS) throw new Error(`${file.name} has ${rows.length} rows; up to ${MOST_ROWS} are taken here.`);
  return { name: file.name, columns: namesOf(titles).map((name, at) => columnOf(name, rows, at, separatorOf(text) !== ',')), rows };
}

/** A name of its own for each column: the daemon tells columns apart by it. */
function namesOf(titles: readonly string[]): string[] {
  const taken = new Set<string>();
  return titles.map((title, at) => {
    const plain = title.trim() || `column ${at + 1}`;
    let name = plain;
    for (let count = 2; taken.has(name); count += 1) name = `${plain} ${count}`;
    taken.add(name);
    return name;
  });
}

/** What parts the cells: the one that the first line has most of. */
function separatorOf(text: string): string {
  const [line = ''] = text.split('\n', 1);
  return [',', ';', '\t'].reduce((best, one) => (line.split(one).length > line.split(best).length ? one : best));
}

/** The cells of a text, line by line; a quoted cell may hold separators, line ends and doubled quotes. Empty lines are left out. */
export function recordsOf(text: string): string[][] {
  const separator = separatorOf(text);
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}\\r\\n]*))(${separator}|\\r?\\n|\\r|$)`, 'y');
  const records: string[][] = [];
  let record: string[] = [];
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (!match) throw new Error(`Line ${records.length + 1} has a quote that does not end where its cell ends.`);
    const [, quoted, plain, end] = match;
    record.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === separator) continue;
    if (record.some((one) => one !== '')) records.push(record);
    record = [];
  }
  if (record.length > 0) records.push([...record, '']);
  return records;
}

/** Numbers with a decimal comma, whose thousands may be parted by dots. */
const WITH_COMMA = /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?(?:,\d+)?$/;
const numberOf = (cell: string, hasComma: boolean): number => {
  const text = cell.trim();
  if (text === '' || (hasComma && !WITH_COMMA.test(text))) return Number.NaN;
  return Number(hasComma ? text.replaceAll('.', '').replace(',', '.') : text);
};
const areNumbers = (cells: readonly string[], hasComma: boolean): boolean =>
  cells.length > 0 && cells.every((one) => Number.isFinite(numberOf(one, hasComma)));

/** `mayHaveCommas`: commas part no cells in this file. */
function columnOf(name: string, rows: readonly (readonly string[])[], at: number, mayHaveCommas: boolean): Column {
  const cells = rows.map((row) => row[at] ?? '').filter((one) => one.trim() !== '');
  const hasComma = mayHaveCommas && !areNumbers(cells, false) && areNumbers(cells, true);
  const isNumeric = hasComma || areNumbers(cells, false);
  const sorted = isNumeric ? cells.map((one) => numberOf(one, hasComma)).sort((a, b) => a - b) : [];
  return {
    name,
    isNumeric,
    hasComma,
    isTime: cells.length === rows.length && cells.every((one) => DATE.test(one.trim())),
    median: sorted[sorted.length >> 1] ?? 0,
    emptyCells: rows.length - cells.length,
  };
}

/** How a column becomes numbers; empty: it is left out. */
export type Encoding = '' | 'numeric' | 'label' | 'onehot' | 'hash' | 'frequency' | 'binary';

/** Rows as the daemon takes them: lists of numbers where all columns are numbers, else objects with a schema. */
export interface Rows {
  readonly names: readonly string[];
  readonly schema: Readonly<Record<string, string>> | undefined;
  readonly data: readonly (number[] | Record<string, string | number>)[];
}

/** The chosen columns of a table, by how each becomes numbers. */
export function chosenRows({ columns, rows }: Table, encodings: readonly Encoding[]): Rows {
  const chosen = columns.flatMap((column, at) => (encodings[at] ? [{ column, at, encoding: encodings[at] }] : []));
  const numberIn = ({ column, at, encoding }: (typeof chosen)[number], row: readonly string[]): string | number => {
    const cell = row[at] ?? '';
    if (encoding !== 'numeric') return cell;
    const value = numberOf(cell, column.hasComma);
    return Number.isFinite(value) ? value : column.median;
  };
  const names = chosen.map(({ column }) => column.name);
  if (chosen.every(({ encoding }) => encoding === 'numeric'))
    return { names, schema: undefined, data: rows.map((row) => chosen.map((one) => numberIn(one, row) as number)) };
  return {
    names,
    schema: Object.fromEntries(chosen.map(({ column, encoding }) => [column.name, encoding])),
    data: rows.map((row) => Object.fromEntries(chosen.map((one) => [one.column.name, numberIn(one, row)]))),
  };
}

/** What stands on the axis below scores: seconds of the first column of times, else the places of the rows. */
export function axisOf({ columns, rows }: Table): { readonly isTime: boolean; readonly values: number[] } {
  const at = columns.findIndex(({ isTime }) => isTime);
  const values = at < 0 ? [] : rows.map((row) => Date.parse(row[at]!.trim().replace(' ', 'T')) / 1_000);
  // The values of a chart's axis must rise.
  const rises = values.every((value, place) => Number.isFinite(value) && (place === 0 || value >= values[place - 1]!));
  return at >= 0 && rises ? { isTime: true, values } : { isTime: false, values: rows.map((_row, place) => place + 1) };
}
