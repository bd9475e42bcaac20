import { unpacked } from './archive.js';
import { bytesOf } from './bytes.js';
import { damagedFile, lockedFile, type Parser } from './contract.js';
import { readXml } from './markup.js';
import { coreProperties } from './office.js';
import { DocumentWriter } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'paragraphs',
  extract_metadata: true,
  extract_tables: true,
};
const REPEAT_LIMIT = 100;
const SCIENTIFIC = /^-?\d(?:[.,]\d+)?E[+-]?\d+$/i;

/** OpenDocument texts, sheets and presentations (ODT, ODS, ODP). */
export const odf: Parser = {
  id: 'odf',
  defaults: { ODTParser: DEFAULTS },
  extensions: ['.odt', '.ods', '.odp', '.ott'],
  mimeTypes: [
    'application/vnd.oasis.opendocument.text',
    'application/vnd.oasis.opendocument.spreadsheet',
    'application/vnd.oasis.opendocument.presentation',
  ],
  async parse(file, options, limits) {
    const archive = unpacked(file.name, await bytesOf(file), limits, (path) => /\.xml$/.test(path));
    const manifest = archive.parts.get('META-INF/manifest.xml');
    if (manifest && Buffer.from(manifest).includes('encryption-data')) throw lockedFile(file);
    const content = archive.parts.get('content.xml');
    if (!content) throw damagedFile(file, 'it has no content part');
    const writer = new DocumentWriter(file.name, limits);
    const equationOf = (path: string): string => equationIn(archive.parts.get(`${path.replace(/^\.\//, '')}/content.xml`));
    const reader = new OdfReader(writer, options.extract_tables !== false, equationOf);
    readXml(content, {
      open: (name, attributes) => reader.open(name, attributes),
      text: (piece) => reader.text(piece),
      close: (name) => reader.close(name),
    });
    return writer.finish({ type: 'open_document', ...(options.extract_metadata === false ? {} : coreProperties(archive, 'meta.xml')) });
  },
};

function equationIn(part: Uint8Array | undefined): string {
  let line = '';
  readXml(part, {
    equation: (text) => {
      line = text;
    },
  });
  return line;
}

type Attributes = Readonly<Record<string, string>>;

/** Turns the content part of an OpenDocument into blocks. */
class OdfReader {
  readonly #writer: DocumentWriter;
  readonly #tables: boolean;
  #text = '';
  #level = 0;
  #skipped = 0;
  #lists = 0;
  #items: string[] = [];
  #tableDepth = 0;
  #rows: string[] = [];
  #cells: string[] = [];
  #cell: Attributes = {};
  /** Texts of merged cells by the column that they cover, and for how many rows more. */
  readonly #merged = new Map<number, { readonly text: string; rows: number }>();
  #rowRepeats = 1;
  #page: number | undefined;

  readonly #equationOf: (path: string) => string;

  /** `equationOf` reads the equation that is embedded at a path; empty for other objects. */
  constructor(writer: DocumentWriter, tables: boolean, equationOf: (path: string) => string) {
    this.#writer = writer;
    this.#tables = tables;
    this.#equationOf = equationOf;
  }

  open(name: string, attributes: Attributes): void {
    if (name === 'office:annotation' || name === 'text:tracked-changes') this.#skipped += 1;
    // What stands before the body belongs to formats of numbers.
    else if (name === 'office:body') this.#text = '';
    else if (name === 'text:h') this.#level = Math.min(6, Number(attributes['text:outline-level'] ?? 1) || 1);
    else if (name === 'text:s') this.#text += ' '.repeat(Math.min(REPEAT_LIMIT, Number(attributes['text:c'] ?? 1) || 1));
    else if (name === 'text:tab') this.#text += '\t';
    else if (name === 'text:line-break') this.#text += '\n';
    else if (name === 'text:list') this.#lists += 1;
    else if (name === 'table:table') this.#tableDepth += 1;
    else if (name === 'table:table-row') this.#rowRepeats = countOf(attributes['table:number-rows-repeated']);
    else if (name === 'table:table-cell' || name === 'table:covered-table-cell') this.#cell = attributes;
    else if (name === 'draw:object') this.#text += this.#equationOf(attributes['xlink:href'] ?? '');
    else if (name === 'draw:page') this.#page = (this.#page ?? 0) + 1;
  }

  text(piece: string): void {
    if (this.#skipped === 0) this.#text += piece.replace(/\s+/g, ' ');
  }

  close(name: string): void {
    if (name === 'office:annotation' || name === 'text:tracked-changes') {
      this.#skipped -= 1;
      this.#text = '';
    } else if (name === 'text:p' || name === 'text:h') this.#paragraph();
    else if (name === 'text:list') this.#endList();
    else if (name === 'table:table-cell') this.#endCell();
    else if (name === 'table:covered-table-cell') {
      this.#text = '';
      for (let left = countOf(this.#cell['table:number-columns-repeated']); left > 0; left -= 1)
        this.#cells.push(this.#merged.get(this.#cells.length)?.text ?? '');
    } else if (name === 'table:table-row') this.#endRow();
    else if (name === 'table:table') this.#endTable();
  }

  #extras(): { page?: number } {
    return this.#page === undefined ? {} : { page: this.#page };
  }

  #paragraph(): void {
    if (this.#tableDepth > 0) {
      this.#text += ' ';
      return;
    }
    const text = this.#text;
    this.#text = '';
    if (this.#level > 0) this.#writer.add('heading', text, { level: this.#level, ...this.#extras() });
    else if (this.#lists > 0 && text.trim() !== '') this.#items.push(`${'  '.repeat(this.#lists - 1)}- ${text.trim()}`);
    else this.#writer.add('paragraph', text, this.#extras());
    this.#level = 0;
  }

  #endList(): void {
    this.#lists -= 1;
    if (this.#lists > 0) return;
    this.#writer.add('list', this.#items.join('\n'), this.#extras());
    this.#items = [];
  }

  #endCell(): void {
    const { 'office:value': value = '' } = this.#cell;
    const seen = this.#text.trim();
    // What is shown in powers of ten has lost digits.
    const text = SCIENTIFIC.test(seen) && /^-?\d+$/.test(value) ? value : seen;
    this.#text = '';
    const rows = countOf(this.#cell['table:number-rows-spanned']);
    const columns = countOf(this.#cell['table:number-columns-spanned']);
    if (rows > 1 || columns > 1)
      for (let column = 0; column < columns; column += 1) this.#merged.set(this.#cells.length + column, { text, rows });
    for (let left = countOf(this.#cell['table:number-columns-repeated']); left > 0; left -= 1) this.#cells.push(text);
  }

  #endRow(): void {
    while (this.#cells.at(-1) === '') this.#cells.pop();
    const row = this.#cells.join(' | ');
    if (row !== '') for (let left = this.#rowRepeats; left > 0; left -= 1) this.#rows.push(row);
    this.#cells = [];
    for (const [column, merged] of this.#merged) {
      merged.rows -= 1;
      if (merged.rows === 0) this.#merged.delete(column);
    }
  }

  #endTable(): void {
    this.#tableDepth -= 1;
    if (this.#tableDepth > 0) return;
    this.#merged.clear();
    if (this.#tables) this.#writer.add('table', this.#rows.join('\n'), this.#extras());
    this.#rows = [];
    this.#text = '';
  }
}

/** A number that an attribute gives, from 1 to the limit of what is repeated. */
const countOf = (attribute: string | undefined): number => Math.min(REPEAT_LIMIT, Math.max(1, Number(attribute ?? 1) || 1));
