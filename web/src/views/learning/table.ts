/** Tables from files of comma, semicolon or tab separated values. */
import { slices } from '../../lib/slices';

export interface Column {
  readonly name: string;
  /** Whether nine of ten cells that are not empty are numbers. */
  readonly isNumeric: boolean;
  /** How these are written. */
  readonly form: Form;
  /** Whether each cell is a date or time. */
  readonly isTime: boolean;
  /** What stands in the place of a cell that is empty or no number. */
  readonly median: number;
  /** Cells that are empty, or say that a value is missing. */
  readonly emptyCells: number;
  /** Other cells that are no numbers, and the first of them. */
  readonly otherCells: number;
  readonly firstOther: string;
}

export interface Table {
  readonly name: string;
  readonly columns: readonly Column[];
  readonly rows: readonly (readonly string[])[];
}

/** The most bytes of a request. */
const MOST_BYTES = 12 * 1024 ** 2;
const MOST_ROWS = 200_000;
/** The share of cells that are numbers in a column of numbers; the rest are slips. */
const MOST_ARE = 0.9;
/** Rows between two looks at the time. */
const ROWS_AT_ONCE = 1_000;
const MISSING = /^(?:|n\/?a|nan|null|none|nil|missing|[-?.]+)$/i;
const DATE = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?)?$/;

/** Reads the table of a file, whose first line names the columns. Throws a sentence that says what is wrong with it. */
export async function readTable(file: File): Promise<Table> {
  if (file.size > MOST_BYTES) throw new Error(`${file.name} has ${file.size} bytes; up to ${MOST_BYTES} go into a request.`);
  const text = (await file.text()).replace(/^\uFEFF/, '');
  const [titles, ...rows] = await recordsInSlices(text);
  if (!titles || rows.length === 0) throw new Error(`${file.name} has no rows: a table has a line of names, and a line for each row.`);
  if (rows.length > MOST_ROWS) throw new Error(`${file.name} has ${rows.length} rows; up to ${MOST_ROWS} are taken here.`);
  const forms = separatorOf(text) === ',' ? FORMS : FORMS.toReversed();
  const columns: Column[] = [];
  for (const [at, name] of namesOf(titles).entries()) columns.push(await columnOf(name, rows, at, forms));
  return { name: file.name, columns, rows };
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
export const recordsOf = (text: string): string[][] => [...recordsIn(text)];

async function recordsInSlices(text: string): Promise<string[][]> {
  const records: string[][] = [];
  const giveWay = slices();
  for (const record of recordsIn(text)) {
    records.push(record);
    if (records.length % ROWS_AT_ONCE === 0) await giveWay();
  }
  return records;
}

function* recordsIn(text: string): Generator<string[]> {
  const separator = separatorOf(text);
  const cell = new RegExp(`(?:"((?:[^"]|"")*)"|([^${separator}\\r\\n]*))(${separator}|\\r?\\n|\\r|$)`, 'y');
  let record: string[] = [];
  let count = 0;
  while (cell.lastIndex < text.length) {
    const match = cell.exec(text);
    if (!match) throw new Error(`Line ${count + 1} has a quote that does not end where its cell ends.`);
    const [, quoted, plain, end] = match;
    record.push(quoted === undefined ? plain! : quoted.replaceAll('""', '"'));
    if (end === separator) continue;
    if (record.some((one) => one !== '')) {
      count += 1;
      yield record;
    }
    record = [];
  }
  if (record.length > 0) yield [...record, ''];
}

/** A way to write numbers: what it takes, and the same as a program writes it. */
interface Form {
  readonly pattern: RegExp;
  plain(text: string): string;
}
const PLAIN: Form = { pattern: /^/, plain: (text) => text };
/** With a point, and thousands parted by commas. */
const POINT: Form = { pattern: /^[+-]?(?:\d+|\d{1,3}(?:,\d{3})+)(?:\.\d+)?$/, plain: (text) => text.replaceAll(',', '') };
/** With a decimal comma, and thousands that may be parted by points. */
const COMMA: Form = {
  pattern: /^[+-]?(?:\d+|\d{1,3}(?:\.\d{3})+)?(?:,\d+)?$/,
  plain: (text) => text.replaceAll('.', '').replace(',', '.'),
};
/** The forms besides the plain one; the first is meant where a cell could be of either. */
const FORMS: readonly Form[] = [POINT, COMMA];

/** The number of a cell; NaN where it is none. */
const numberOf = (cell: string, { pattern, plain }: Form): number => {
  const text = cell.trim();
  return text !== '' && pattern.test(text) ? Number(plain(text)) : Number.NaN;
};

/** What a column holds. `forms`: how its numbers may be written, other than plainly, the likelier first. */
async function columnOf(name: string, rows: readonly (readonly string[])[], at: number, forms: readonly Form[]): Promise<Column> {
  const giveWay = slices();
  const found = [PLAIN, ...forms].map((form) => ({ form, numbers: [] as number[], firstOther: '' }));
  let [filled, times] = [0, 0];
  for (const [place, row] of rows.entries()) {
    if (place % ROWS_AT_ONCE === 0) await giveWay();
    const cell = (row[at] ?? '').trim();
    if (MISSING.test(cell)) continue;
    filled += 1;
    if (DATE.test(cell)) times += 1;
    for (const one of found) {
      const value = numberOf(cell, one.form);
      if (Number.isFinite(value)) one.numbers.push(value);
      else one.firstOther ||= cell;
    }
  }
  const { form, numbers, firstOther } = found.reduce((best, one) => (one.numbers.length > best.numbers.length ? one : best));
  return {
    name,
    isNumeric: filled > 0 && numbers.length >= MOST_ARE * filled,
    form,
    isTime: filled > 0 && times === rows.length,
    median: Float64Array.from(numbers).sort()[numbers.length >> 1] ?? 0,
    emptyCells: rows.length - filled,
    otherCells: filled - numbers.length,
    firstOther,
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
    const value = numberOf(cell, column.form);
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
