import type { Metadata } from '../contract.js';
import { encodingMetadata, textOf } from './bytes.js';
import { damagedFile, type Parser, type SourceFile } from './contract.js';
import { dividedTable, writeTable } from './tabular.js';
import { DocumentWriter } from './writer.js';

const PYTHON = {
  chunk_size: 1000,
  chunk_overlap: 0,
  chunk_strategy: 'rows',
  extract_metadata: true,
  encoding: 'utf-8',
  delimiter: ',',
  quotechar: '"',
  has_header: true,
  na_values: [''],
  field_mapping: {},
  combine_fields: true,
  skiprows: 0,
};
const NA_VALUES = ['', 'NA', 'N/A', 'null', 'None'];
const PANDAS = { ...PYTHON, na_values: NA_VALUES };
const DELIMITERS = [',', ';', '\t', '|'];
/** A longer record means a quote that is never closed. */
const RECORD_UNITS = 1024 * 1024;

/** The line by which spreadsheets are told the delimiter. */
const DELIMITER_LINE = /^"?sep=(.)"?[ \t]{0,10}(?:\r\n|[\r\n]|$)/i;

/** Lines from the top in which the delimiter is looked for; titles may stand above the table. */
const DELIMITER_LINES = 20;

/** The configured delimiter, or the one that more of the first lines have. */
function delimiterOf(file: Pick<SourceFile, 'name'>, text: string, configured: string): string {
  if (/\.(?:tsv|tab)$/i.test(file.name) && configured === ',') return '\t';
  const lines = text.slice(0, RECORD_UNITS).split(/\r\n|[\r\n]/, DELIMITER_LINES);
  const having = (delimiter: string): number => lines.filter((line) => line.includes(delimiter)).length;
  return DELIMITERS.reduce((best, other) => (having(other) > having(best) ? other : best), configured);
}

async function records(file: Pick<SourceFile, 'name'>, text: string, delimiter: string, options: Metadata): Promise<string[][]> {
  const { parse } = await import('csv-parse/sync');
  try {
    return parse(text, {
      delimiter,
      quote: String(options.quotechar ?? '"'),
      from_line: Number(options.skiprows ?? 0) + 1,
      bom: true,
      relax_quotes: true,
      relax_column_count: true,
      skip_empty_lines: true,
      max_record_size: RECORD_UNITS,
    }) as string[][];
  } catch (error) {
    throw damagedFile(file, `its table cannot be read (${error instanceof Error ? error.message.slice(0, 200) : 'unknown reason'})`, error);
  }
}

/** The records of a table in its text, each as its cells; the delimiter is looked for. Throws `invalid` for a text that is no table. */
export function readRecords(name: string, text: string): Promise<string[][]> {
  return records({ name }, text, delimiterOf({ name }, text, ','), PYTHON);
}

/** Tables as text: comma, tab, semicolon or bar between the values. */
export const csv: Parser = {
  id: 'csv',
  defaults: { CSVParser_Pandas: PANDAS, CSVParser_Python: PYTHON, CSVParser_LlamaIndex: PANDAS, CSVParser: PANDAS },
  extensions: ['.csv', '.tsv', '.tab'],
  mimeTypes: ['text/csv', 'text/tab-separated-values', 'application/csv'],
  readsText: true,
  async parse(file, options, limits) {
    const found = await textOf(file, options, limits);
    const told = DELIMITER_LINE.exec(found.text);
    // Where rows are skipped the line is the first of them.
    const text = told && Number(options.skiprows ?? 0) === 0 ? found.text.slice(told[0].length) : found.text;
    const delimiter = told?.[1] ?? delimiterOf(file, text, String(options.delimiter ?? ','));
    const rows = await records(file, text, delimiter, options);
    const writer = new DocumentWriter(file.name, limits);
    if (found.warning) writer.warnings.push(found.warning);
    const table = dividedTable(
      rows.map((cells) => ({ cells })),
      options,
    );
    writeTable(table, options, { metadata: {} }, writer);
    const described = {
      type: 'csv',
      source_file: file.name,
      encoding: found.encoding,
      ...encodingMetadata(found),
      columns: table.header,
      rows: table.rows.length,
    };
    return writer.finish(options.extract_metadata === false ? { source_file: file.name } : described);
  },
};
