import { bytesOf, cleaned } from './bytes.js';
import type { Parser } from './contract.js';
import { damaged } from './refusals.js';
import { writeParagraphs } from './text.js';
import { DocumentWriter, present } from './writer.js';

const DEFAULTS = { chunk_size: 1000, chunk_overlap: 100, chunk_strategy: 'paragraphs', extract_metadata: true, clean_text: true };
/** Groups that hold no text of the document. */
const SKIPPED = new Set(
  'fonttbl colortbl stylesheet listtable listoverridetable rsidtbl generator pict object header footer headerl headerr headerf footerl footerr footerf themedata datastore latentstyles xmlnstbl fldinst revtbl filetbl'.split(
    ' ',
  ),
);
const SYMBOLS: Readonly<Record<string, string>> = {
  par: '\n\n', sect: '\n\n', page: '\n\n', line: '\n', tab: '\t', cell: ' | ', row: '\n', emdash: '—', endash: '–',
  lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•', emspace: ' ', enspace: ' ',
}; // biome-ignore format: a table
// A control word with its number, a control symbol, an escaped byte, a brace, a line end or a run of text.
const TOKEN = /\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/g;
const DEPTH_LIMIT = 10_000;

interface Group {
  skipped: boolean;
  /** Characters behind a \u that stand for readers without Unicode. */
  fallbacks: number;
  field: 'title' | 'author' | 'subject' | undefined;
}

/** Reads the text of an RTF source given as Latin-1. */
class RtfReader {
  readonly info: Record<string, string> = {};
  #text: string[] = [];
  #groups: Group[] = [];
  #group: Group = { skipped: false, fallbacks: 1, field: undefined };
  #pending = 0;
  #bytes: number[] = [];
  #decoder = new TextDecoder('windows-1252');

  read(source: string): string {
    for (const [, word, number, hex, symbol, brace, run] of source.matchAll(TOKEN)) {
      if (hex !== undefined) this.#byte(Number.parseInt(hex, 16));
      else if (brace === '{') this.#open();
      else if (brace === '}') this.#close();
      else if (word !== undefined) this.#control(word, number === undefined ? undefined : Number(number));
      else if (symbol !== undefined) this.#symbol(symbol);
      else if (run !== undefined) this.#run(run);
    }
    this.#flush();
    return this.#text.join('');
  }

  #open(): void {
    this.#flush();
    if (this.#groups.length >= DEPTH_LIMIT) throw new RangeError('too many groups');
    this.#groups.push(this.#group);
    this.#group = { ...this.#group };
  }

  #close(): void {
    this.#flush();
    this.#group = this.#groups.pop() ?? this.#group;
  }

  #control(word: string, number: number | undefined): void {
    this.#flush();
    if (SKIPPED.has(word)) this.#group.skipped = true;
    else if (word === 'ansicpg' && number) this.#codepage(number);
    else if (word === 'uc') this.#group.fallbacks = Math.max(0, Math.min(number ?? 1, 16));
    else if (word === 'u' && number !== undefined) {
      this.#add(String.fromCharCode(number & 0xffff));
      this.#pending = this.#group.fallbacks;
    } else if (word === 'info') this.#group.skipped = true;
    else if (word === 'title' || word === 'author' || word === 'subject') this.#group.field = word;
    else if (SYMBOLS[word] !== undefined) this.#add(SYMBOLS[word]);
  }

  #symbol(symbol: string): void {
    if (symbol === '*') this.#group.skipped = true;
    else if (symbol === '~') this.#add('\u00a0');
    else if (symbol === '_') this.#add('-');
    else if (symbol === '\n' || symbol === '\r') this.#add('\n\n');
    else if (symbol === '\\' || symbol === '{' || symbol === '}') this.#run(symbol);
  }

  #byte(value: number): void {
    if (this.#pending > 0) this.#pending -= 1;
    else this.#bytes.push(value);
  }

  #run(text: string): void {
    this.#flush();
    const from = Math.min(this.#pending, text.length);
    this.#pending -= from;
    this.#add(text.slice(from));
  }

  #codepage(number: number): void {
    try {
      this.#decoder = new TextDecoder(
        number === 65001 ? 'utf-8' : number === 932 ? 'shift_jis' : number === 936 ? 'gbk' : `windows-${number}`,
      );
    } catch {
      // An unknown code page is read as the default one.
    }
  }

  /** Escaped bytes are decoded together: a character may take two. */
  #flush(): void {
    if (this.#bytes.length === 0) return;
    const bytes = Uint8Array.from(this.#bytes);
    this.#bytes = [];
    this.#add(this.#decoder.decode(bytes));
  }

  #add(text: string): void {
    const { field, skipped } = this.#group;
    if (field !== undefined) this.info[field] = ((this.info[field] ?? '') + text).slice(0, 1000);
    else if (!skipped) this.#text.push(text);
  }
}

/** Rich Text Format. */
export const rtf: Parser = {
  id: 'rtf',
  defaults: { RTFParser: DEFAULTS },
  extensions: ['.rtf'],
  mimeTypes: ['application/rtf', 'text/rtf'],
  async parse(file, options, limits) {
    const source = new TextDecoder('latin1').decode(await bytesOf(file));
    if (!source.startsWith('{\\rtf')) throw damaged(file, 'it does not begin as RTF');
    const reader = new RtfReader();
    const text = reader.read(source);
    const writer = new DocumentWriter(file.name, limits);
    writeParagraphs(options.clean_text === false ? text : cleaned(text), writer);
    return writer.finish(options.extract_metadata === false ? {} : present({ type: 'rtf', ...reader.info }));
  },
};
