import type { Block } from './contract.js';
import { type MarkupEvents, readMarkup } from './markup.js';
import type { BlockExtras, DocumentWriter } from './writer.js';

const SKIPPED = new Set(['title', 'script', 'style', 'nav', 'noscript', 'template', 'svg', 'head', 'iframe', 'object', 'select', 'button']);
const BLOCKS = new Set(
  'p div section article main aside header footer figure figcaption address form fieldset dl dt dd details summary ul ol body hr center'.split(
    ' ',
  ),
);
const LINK_LIMIT = 1000;

/** What of a page is read. */
export interface HtmlChoices {
  readonly tables: boolean;
  /** Names images by their alternative text. */
  readonly images: boolean;
  /** Marks list items and emphasis as Markdown does. */
  readonly formatting: boolean;
}

/** What a page holds besides text. */
export interface HtmlFindings {
  title: string;
  readonly links: string[];
  readonly images: string[];
  tableCount: number;
  paragraphCount: number;
  readonly headings: string[];
  readonly meta: Record<string, string>;
}

/** Turns HTML into blocks while it streams by. */
class HtmlReader implements MarkupEvents {
  readonly #writer: DocumentWriter;
  readonly #choices: HtmlChoices;
  readonly #extras: BlockExtras;
  readonly found: HtmlFindings = { title: '', links: [], images: [], tableCount: 0, paragraphCount: 0, headings: [], meta: {} };
  #text = '';
  #skipped = 0;
  #inTitle = false;
  #pre = 0;
  #quote = 0;
  #tables = 0;
  #lists: { ordered: boolean; count: number }[] = [];
  #rows: string[] = [];
  #cells: string[] = [];
  #heading = 0;

  constructor(writer: DocumentWriter, choices: HtmlChoices, extras: BlockExtras) {
    this.#writer = writer;
    this.#choices = choices;
    this.#extras = extras;
  }

  open(name: string, attributes: Readonly<Record<string, string>>): void {
    this.#note(name, attributes);
    // Drawings have titles too; the first is the page's.
    if (name === 'title') this.#inTitle = this.found.title === '';
    if (SKIPPED.has(name)) this.#skipped += 1;
    if (this.#skipped > 0) return;
    if (/^h[1-6]$/.test(name)) {
      this.#flush();
      this.#heading = Number(name[1]);
    } else if (name === 'br') this.#text += '\n';
    else if (name === 'table') this.#startTable();
    else if (name === 'pre') {
      this.#flush();
      this.#pre += 1;
    } else if (name === 'blockquote') {
      this.#flush();
      this.#quote += 1;
    } else if (name === 'ul' || name === 'ol') {
      this.#endItem();
      this.#lists.push({ ordered: name === 'ol', count: 0 });
    } else if (name === 'li') this.#startItem();
    else if (BLOCKS.has(name)) this.#boundary();
    else if (this.#choices.formatting && (name === 'strong' || name === 'b') && this.#heading === 0) this.#text += '**';
    else if (name === 'img' && this.#choices.images && attributes.alt) this.#text += ` [${attributes.alt}] `;
  }

  text(piece: string): void {
    if (this.#inTitle) this.found.title = (this.found.title + piece).slice(0, 1000);
    if (this.#skipped === 0) this.#text += this.#pre > 0 ? piece : piece.replace(/\s+/g, ' ');
  }

  close(name: string): void {
    if (name === 'title') this.#inTitle = false;
    if (SKIPPED.has(name)) {
      this.#skipped = Math.max(0, this.#skipped - 1);
      return;
    }
    if (this.#skipped > 0) return;
    if (/^h[1-6]$/.test(name)) this.#flush();
    else if (name === 'td' || name === 'th') this.#endCell();
    else if (name === 'tr') this.#endRow();
    else if (name === 'table') this.#endTable();
    else if (name === 'pre') {
      this.#flush();
      this.#pre = Math.max(0, this.#pre - 1);
    } else if (name === 'blockquote') {
      this.#flush();
      this.#quote = Math.max(0, this.#quote - 1);
    } else if (name === 'ul' || name === 'ol') {
      this.#endItem();
      this.#lists.pop();
      if (this.#lists.length === 0) this.#flush();
    } else if (name === 'li') this.#endItem();
    else if (BLOCKS.has(name)) this.#boundary();
    else if (this.#choices.formatting && (name === 'strong' || name === 'b') && this.#heading === 0) this.#text += '**';
  }

  end(): void {
    if (this.#tables > 0) {
      this.#tables = 1;
      this.#endTable();
    }
    this.#flush();
  }

  #note(name: string, attributes: Readonly<Record<string, string>>): void {
    if (name === 'a' && attributes.href && !attributes.href.startsWith('#') && this.found.links.length < LINK_LIMIT)
      this.found.links.push(attributes.href);
    if (name === 'img' && attributes.src && this.found.images.length < LINK_LIMIT && !attributes.src.startsWith('data:'))
      this.found.images.push(attributes.src);
    if (name === 'meta' && attributes.name && attributes.content) this.found.meta[attributes.name.toLowerCase()] = attributes.content;
  }

  /** Inside lists and tables the parts of an item or cell stay together. */
  #boundary(): void {
    if (this.#tables > 0) this.#text += ' ';
    else if (this.#lists.length > 0) this.#text = this.#text.trim() === '' ? this.#text : `${this.#text.trimEnd()} `;
    else this.#flush();
  }

  #startItem(): void {
    this.#endItem();
    const list = this.#lists.at(-1);
    if (!list) return;
    list.count += 1;
    if (this.#tables === 0) this.#text += `${'  '.repeat(this.#lists.length - 1)}${list.ordered ? `${list.count}.` : '-'} `;
  }

  #endItem(): void {
    if (this.#tables === 0 && this.#lists.length > 0 && this.#text.trim() !== '') this.#text = `${this.#text.trimEnd()}\n`;
  }

  #startTable(): void {
    if (this.#tables === 0) this.#flush();
    this.#tables += 1;
    this.found.tableCount += 1;
  }

  #endCell(): void {
    if (this.#tables !== 1) return;
    this.#cells.push(this.#text.replace(/\s+/g, ' ').trim());
    this.#text = '';
  }

  #endRow(): void {
    if (this.#tables !== 1) return;
    if (this.#cells.some((cell) => cell !== '')) this.#rows.push(this.#cells.join(' | '));
    this.#cells = [];
  }

  #endTable(): void {
    this.#tables = Math.max(0, this.#tables - 1);
    if (this.#tables > 0) return;
    this.#cells.length > 0 && this.#rows.push(this.#cells.join(' | '));
    const rows = this.#rows.join('\n');
    const rest = this.#text;
    this.#rows = [];
    this.#cells = [];
    this.#text = '';
    if (this.#choices.tables) this.#writer.add('table', rows, this.#extras);
    this.#text = rest.trim() === '' ? '' : rest;
  }

  #kind(): Block['kind'] {
    if (this.#heading > 0) return 'heading';
    if (this.#pre > 0) return 'code';
    if (this.#quote > 0) return 'quote';
    return /^\s*(?:-|\d+\.) /.test(this.#text) ? 'list' : 'paragraph';
  }

  #flush(): void {
    const kind = this.#kind();
    const text = kind === 'code' || kind === 'list' ? this.#text : this.#text.replace(/[ \t]*\n[ \t]*/g, '\n').replace(/ {2,}/g, ' ');
    this.#text = '';
    const level = this.#heading;
    this.#heading = 0;
    if (text.trim() === '') return;
    if (kind === 'heading') this.found.headings.push(text.trim());
    else if (kind === 'paragraph') this.found.paragraphCount += 1;
    this.#writer.add(kind, text, { ...this.#extras, ...(kind === 'heading' ? { level } : {}) });
  }
}

/** Adds the blocks of an HTML text to a document; tells what else it holds. `extras` go to every block. */
export function writeHtml(source: string, writer: DocumentWriter, choices: HtmlChoices, extras: BlockExtras = {}): HtmlFindings {
  const reader = new HtmlReader(writer, choices, extras);
  readMarkup(source, {
    open: (name, attributes) => reader.open(name, attributes),
    text: (piece) => reader.text(piece),
    close: (name) => reader.close(name),
  });
  reader.end();
  return reader.found;
}
