import { unpacked } from './archive.js';
import { bytesOf } from './bytes.js';
import type { Parser } from './contract.js';
import { readXml } from './markup.js';
import { coreProperties } from './office.js';
import { damaged, locked } from './refusals.js';
import { DocumentWriter } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'paragraphs',
  extract_metadata: true,
  extract_tables: true,
};
const REPEAT_LIMIT = 100;

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
  #page: number | undefined;

  constructor(writer: DocumentWriter, tables: boolean) {
    this.#writer = writer;
    this.#tables = tables;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'office:annotation' || name === 'text:tracked-changes') this.#skipped += 1;
    else if (name === 'text:h') this.#level = Math.min(6, Number(attributes['text:outline-level'] ?? 1) || 1);
    else if (name === 'text:s') this.#text += ' '.repeat(Math.min(REPEAT_LIMIT, Number(attributes['text:c'] ?? 1) || 1));
    else if (name === 'text:tab') this.#text += '\t';
    else if (name === 'text:line-break') this.#text += '\n';
    else if (name === 'text:list') this.#lists += 1;
    else if (name === 'table:table') this.#tableDepth += 1;
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
    else if (name === 'table:table-cell') {
      this.#cells.push(this.#text.trim());
      this.#text = '';
    } else if (name === 'table:table-row') {
      if (this.#cells.some((cell) => cell !== '')) this.#rows.push(this.#cells.join(' | '));
      this.#cells = [];
    } else if (name === 'table:table') this.#endTable();
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

  #endTable(): void {
    this.#tableDepth -= 1;
    if (this.#tableDepth > 0) return;
    if (this.#tables) this.#writer.add('table', this.#rows.join('\n'), this.#extras());
    this.#rows = [];
    this.#text = '';
  }
}

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
    if (manifest && Buffer.from(manifest).includes('encryption-data')) throw locked(file);
    const content = archive.parts.get('content.xml');
    if (!content) throw damaged(file, 'it has no content part');
    const writer = new DocumentWriter(file.name, limits);
    const reader = new OdfReader(writer, options.extract_tables !== false);
    readXml(content, {
      open: (name, attributes) => reader.open(name, attributes),
      text: (piece) => reader.text(piece),
      close: (name) => reader.close(name),
    });
    return writer.finish({ type: 'open_document', ...(options.extract_metadata === false ? {} : coreProperties(archive, 'meta.xml')) });
  },
};
