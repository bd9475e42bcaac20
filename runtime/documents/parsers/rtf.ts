import { Failure } from '../../../schemas/errors.js';
import { bytesOf, cleanText, decodeText } from './bytes.js';
import { damagedFile, type Parser } from './contract.js';
import { decodeBytes } from './encodings/decode.js';
import { encodingOf, encodingOfCodePage } from './encodings/names.js';
import { writeParagraphs } from './text.js';
import { DocumentWriter, presentMembers } from './writer.js';

const DEFAULTS = {
  chunk_size: 1000,
  chunk_overlap: 100,
  chunk_strategy: 'paragraphs',
  extract_metadata: true,
  clean_text: true,
  encoding: 'utf-8',
};

type Story = 'body' | 'header' | 'footer' | 'title' | 'author' | 'subject';

/** Rich Text Format. */
export const rtf: Parser = {
  id: 'rtf',
  defaults: { RTFParser: DEFAULTS },
  extensions: ['.rtf'],
  mimeTypes: ['application/rtf', 'text/rtf'],
  async parse(file, options, limits) {
    const source = Buffer.from(await bytesOf(file)).toString('latin1');
    if (!source.startsWith('{\\rtf')) throw damagedFile(file, 'it does not begin as RTF');
    const { encoding, warning } = ownEncoding(source, options.encoding);
    const reader = new RtfReader(encoding);
    reader.read(source);
    const text = (story: Story): string => reader.stories[story].join('');
    const shown = (story: Story): string => (options.clean_text === false ? text(story) : cleanText(text(story)));
    const writer = new DocumentWriter(file.name, limits);
    if (warning) writer.warnings.push(warning);
    writer.add('header', shown('header'), { metadata: { section: 'header' } });
    writeParagraphs(shown('body'), writer);
    writer.add('footer', shown('footer'), { metadata: { section: 'footer' } });
    const info = Object.fromEntries((['title', 'author', 'subject'] as const).map((field) => [field, text(field).slice(0, 1000)]));
    return writer.finish(options.extract_metadata === false ? {} : presentMembers({ type: 'rtf', ...info }));
  },
};

const NAMES_PAGE = /\\ansicpg\d|\\mac\b|\\pca?\b|\\fcharset(?!0\b|1\b|2\b)\d/;
const BYTE = /\\'([0-9a-fA-F]{2})/g;
/** Bytes from which the encoding of a document that names none is guessed. */
const BYTES_LOOKED_AT = 100_000;

/** The encoding of a document whose head names none: as set, else guessed from its escaped bytes. */
function ownEncoding(source: string, setting: unknown): { encoding: string; warning?: string | undefined } {
  const set = typeof setting === 'string' ? encodingOf(setting) : undefined;
  if (set !== undefined && set !== 'utf-8') return { encoding: set };
  if (NAMES_PAGE.test(source.slice(0, BYTES_LOOKED_AT))) return { encoding: 'windows-1252' };
  const bytes: number[] = [];
  for (const [, hex] of source.matchAll(BYTE)) if (bytes.push(Number.parseInt(hex!, 16)) >= BYTES_LOOKED_AT) break;
  if (bytes.length === 0) return { encoding: 'windows-1252' };
  const { encoding, warning } = decodeText(Uint8Array.from(bytes));
  return { encoding, warning };
}

interface Group {
  skipped: boolean;
  /** Repeats what stands elsewhere: no text box inside is read. */
  repeats: boolean;
  /** Of a text box, which stands apart from what is around it. */
  isBox: boolean;
  /** In the table of fonts, where a font is described and not chosen. */
  describesFonts: boolean;
  /** Characters behind a \u that stand for readers without Unicode. */
  fallbacks: number;
  font: number | undefined;
  story: Story;
}

// A control word with its number, a control symbol, an escaped byte, a brace, a line end or a run of text.
const TOKEN = /\\([a-zA-Z]{1,32})(-?\d{1,10})? ?|\\'([0-9a-fA-F]{2})|\\([^a-zA-Z])|([{}])|[\r\n]+|([^\\{}\r\n]+)/g;
const DEPTH_LIMIT = 10_000;
const FALLBACK_LIMIT = 16;

/** Code pages of the numbers that a font has for its characters, from the format's specification; 1 is the document's own, and 0 Latin. */
const FONT_PAGES: Readonly<Record<number, number>> = {
  2: 1252, 77: 10000, 78: 10001, 79: 10003, 80: 10008, 81: 10002, 85: 10006, 86: 10081, 87: 10021, 88: 10029, 89: 10007,
  128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257, 204: 1251, 222: 874, 238: 1250, 254: 437, 255: 850,
}; // biome-ignore format: a table
const SYMBOL_SET = 2;
const CHARACTER_SETS: Readonly<Record<string, number>> = { ansi: 1252, mac: 10000, pc: 437, pca: 850 };

const words = (list: string): ReadonlySet<string> => new Set(list.split(' '));

/** Text boxes, inside groups that are skipped. */
const BOXES = words('shptxt dptxbxtext');
const HEADERS = words('header headerl headerr headerf');
const FOOTERS = words('footer footerl footerr footerf');
const SYMBOLS: Readonly<Record<string, string>> = {
  par: '\n\n', sect: '\n\n', page: '\n\n', line: '\n', tab: '\t', cell: ' | ', row: '\n', emdash: '—', endash: '–',
  lquote: '‘', rquote: '’', ldblquote: '“', rdblquote: '”', bullet: '•', emspace: ' ', enspace: ' ',
}; // biome-ignore format: a table

/** Groups that hold no text of the document. */
const SKIPPED = words(
  'fonttbl colortbl stylesheet listtable listoverridetable rsidtbl generator pict objdata objclass objname sp themedata datastore latentstyles xmlnstbl fldinst revtbl filetbl info',
);
/** Groups that are marked as ones to skip where they are not known, and hold text. */
const READ = words('shpinst do');

/** Reads the text of an RTF source given as Latin-1. */
class RtfReader {
  readonly stories: Record<Story, string[]> = { body: [], header: [], footer: [], title: [], author: [], subject: [] };
  readonly #groups: Group[] = [];
  #group: Group = { skipped: false, repeats: false, isBox: false, describesFonts: false, fallbacks: 1, font: undefined, story: 'body' };
  /** Where the group began: only there a star marks it. */
  #isFresh = false;
  #isStarred = false;
  #pending = 0;
  /** Bytes that are not decoded yet, one code unit each: a character may take two of them. */
  #bytes = '';
  #defaultFont: number | undefined;
  #describedFont = 0;
  readonly #fonts = new Map<number, string>();
  readonly #latinFonts = new Set<number>();
  #namesSets = false;
  #encoding: string;

  /** `encoding` is that of a document that names none. */
  constructor(encoding: string) {
    this.#encoding = encoding;
  }

  read(source: string): void {
    TOKEN.lastIndex = 0;
    for (let match = TOKEN.exec(source); match; match = TOKEN.exec(source)) {
      const [, word, digits, hex, symbol, brace, run] = match;
      const number = digits === undefined ? undefined : Number(digits);
      if (brace === '{') this.#open();
      else if (brace === '}') this.#close();
      else if (hex !== undefined) this.#run(String.fromCharCode(Number.parseInt(hex, 16)));
      else if (word === 'bin') TOKEN.lastIndex += Math.max(0, number ?? 0);
      else if (word !== undefined) this.#control(word, number);
      else if (symbol !== undefined) this.#symbol(symbol);
      else if (run !== undefined) this.#run(run);
      if (brace !== '{' && symbol !== '*' && match[0].trim() !== '') this.#isFresh = false;
    }
    this.#flush();
  }

  #open(): void {
    this.#flush();
    if (this.#groups.length >= DEPTH_LIMIT)
      throw new Failure('invalid', `Its groups are nested deeper than ${DEPTH_LIMIT}.`, { code: 'too_deep' });
    this.#groups.push(this.#group);
    this.#group = { ...this.#group, isBox: false };
    this.#isFresh = true;
    this.#isStarred = false;
  }

  #close(): void {
    this.#flush();
    if (this.#group.isBox) this.#add('\n\n');
    this.#pending = 0;
    this.#group = this.#groups.pop() ?? this.#group;
  }

  #control(word: string, number: number | undefined): void {
    this.#flush();
    if (this.#isFresh) this.#destination(word);
    this.#isStarred = false;
    const { describesFonts } = this.#group;
    if (word === 'u' && number !== undefined) {
      this.#add(String.fromCharCode(number & 0xffff));
      this.#pending = this.#group.fallbacks;
      return;
    }
    if (word === 'uc') this.#group.fallbacks = Math.max(0, Math.min(number ?? 1, FALLBACK_LIMIT));
    else if (word === 'f' && describesFonts) this.#describedFont = number ?? 0;
    else if (word === 'f') this.#group.font = number ?? 0;
    else if (word === 'plain') this.#group.font = this.#defaultFont;
    else if (word === 'deff') this.#defaultFont = this.#group.font = number ?? 0;
    else if (word === 'fcharset' && number !== undefined) this.#describeSet(number);
    else if (word === 'cpg' && describesFonts) this.#describe(number);
    else if (word === 'ansicpg' && number) this.#encoding = encodingOfCodePage(number) ?? this.#encoding;
    else if (word !== 'ansi' && CHARACTER_SETS[word] !== undefined)
      this.#encoding = encodingOfCodePage(CHARACTER_SETS[word]) ?? this.#encoding;
    else if (SYMBOLS[word] !== undefined) this.#add(SYMBOLS[word]);
  }

  /** The first word of a group says what it holds. */
  #destination(word: string): void {
    const group = this.#group;
    if (word === 'fonttbl') group.describesFonts = true;
    // A shape for old readers.
    if (word === 'shprslt') group.repeats = group.skipped = true;
    else if (BOXES.has(word) && !group.repeats) this.#openBox();
    else if (SKIPPED.has(word) || (this.#isStarred && !READ.has(word))) group.skipped = true;
    else if (HEADERS.has(word)) group.story = 'header';
    else if (FOOTERS.has(word)) group.story = 'footer';
    else if (word === 'title' || word === 'author' || word === 'subject') group.story = word;
  }

  /** Number 0 is Latin for writers that give other fonts other numbers, and whatever the document is in for those that know no other. */
  #describeSet(number: number): void {
    if (number === 0) this.#latinFonts.add(this.#describedFont);
    if (number > SYMBOL_SET) this.#namesSets = true;
    this.#describe(FONT_PAGES[number]);
  }

  #openBox(): void {
    this.#group.skipped = false;
    this.#group.isBox = true;
    this.#add('\n\n');
  }

  #describe(page: number | undefined): void {
    const encoding = page === undefined ? undefined : encodingOfCodePage(page);
    if (encoding) this.#fonts.set(this.#describedFont, encoding);
  }

  #symbol(symbol: string): void {
    if (symbol === '*') this.#isStarred = this.#isFresh;
    else if (symbol === '~') this.#add('\u00a0');
    else if (symbol === '_') this.#add('-');
    else if (symbol === '\n' || symbol === '\r') this.#add('\n\n');
    else if (symbol === '\\' || symbol === '{' || symbol === '}') this.#run(symbol);
  }

  /** Bytes of text, less those that stand for a character that was read already. */
  #run(bytes: string): void {
    const from = Math.min(this.#pending, bytes.length);
    this.#pending -= from;
    if (this.#isRead) this.#bytes += bytes.slice(from);
  }

  get #isRead(): boolean {
    const { skipped, story } = this.#group;
    return !skipped || (story !== 'body' && story !== 'header' && story !== 'footer');
  }

  #flush(): void {
    if (this.#bytes === '') return;
    const bytes = Buffer.from(this.#bytes, 'latin1');
    this.#bytes = '';
    const font = this.#group.font ?? -1;
    const latin = this.#namesSets && this.#latinFonts.has(font) ? 'windows-1252' : undefined;
    this.#write(decodeBytes(bytes, this.#fonts.get(font) ?? latin ?? this.#encoding));
  }

  #add(text: string): void {
    this.#flush();
    this.#write(text);
  }

  #write(text: string): void {
    if (this.#isRead) this.stories[this.#group.story].push(text);
  }
}
