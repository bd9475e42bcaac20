import { readFile, stat } from 'node:fs/promises';
import { extname } from 'node:path';
import { readRecords } from '../../runtime/documents/parsers/csv.js';
import { Failure } from '../../schemas/errors.js';

/** A table from a file: its rows by the names of the columns. */
export type Rows = Record<string, string | number>[];

/** A request carries so much at most. */
const FILE_BYTES = 12 * 1024 ** 2;

/** Numbers as numbers, all else as text. */
const numberOrText = (text: string): string | number => (text.trim() !== '' && Number.isFinite(Number(text)) ? Number(text) : text);

/** Reads a table: CSV or TSV whose first line names the columns, JSON (a list of objects) or JSON Lines. Throws what is wrong with the file. */
export async function readRows(path: string): Promise<Rows> {
  const found = await stat(path).catch(() => null);
  if (!found?.isFile()) throw new Failure('not_found', `there is no file ${path}.`);
  if (found.size > FILE_BYTES) throw new Failure('too_large', `${path} has ${found.size} bytes; up to ${FILE_BYTES} go into a request.`);
  const text = await readFile(path, 'utf8');
  const kind = extname(path).toLowerCase();
  if (kind !== '.json' && kind !== '.jsonl') {
    const [titles = [], ...records] = await readRecords(path, text);
    return records.map((cells) => Object.fromEntries(titles.map((title, column) => [title.trim(), numberOrText(cells[column] ?? '')])));
  }
  try {
    const rows: unknown =
      kind === '.json'
        ? JSON.parse(text)
        : text
            .split('\n')
            .filter(Boolean)
            .map((line) => JSON.parse(line) as unknown);
    if (Array.isArray(rows) && rows.every((row) => row !== null && typeof row === 'object' && !Array.isArray(row))) return rows as Rows;
  } catch (cause) {
    throw new Failure('invalid', `${path} is not ${kind === '.json' ? 'JSON' : 'one JSON object a line'}: ${(cause as Error).message}`, {
      cause,
    });
  }
  throw new Failure('invalid', `${path} must be a list of objects, one for each row.`);
}
