import { isAscii, isUtf8 } from 'node:buffer';
import type { Metadata } from '../contract.js';
import { type DecodedText, decodeText, encodingMetadata } from './bytes.js';
import { htmlEncoding } from './encodings/declared.js';
import { decodeBytes, escapedEncoding } from './encodings/decode.js';
import { encodingOf } from './encodings/names.js';

/** Says that a text is in UTF-8. */
const MARK = '\ufeff';
/** A longer line is no boundary. */
const MARKER_LIMIT = 256;
const CHARSET = /;\s*charset\*?\s*=\s*(?:"([^"]{0,100})"|([^\s;]{1,100}))/i;
const BOUNDARY = /;\s*boundary\s*=\s*(?:"([^"]{1,200})"|([^\s;]{1,200}))/i;
const BASE64_LINE = /.{1,76}/g;

const ENCODED_WORD = /=\?([^?\s*]{1,60})(?:\*[^?\s]{0,20})?\?([QqBb])\?([^?]{0,4000})\?=/g;

/** `name*=charset'language'text` of RFC 2231, and its continuations, which name no charset. */
const PARAMETER = /(\*(?:0\*)?=)([\w.:-]{1,60})('[^']{0,20}')([^\s;"]{0,4000})|(\*[1-9]\d{0,3}\*=)([^\s;"]{0,4000})/g;

/** A mail in UTF-8 throughout. */
interface Utf8Mail {
  readonly bytes: Uint8Array;
  /** Of texts whose encoding is not sure. */
  readonly warnings: readonly string[];
  /** What metadata says of the encoding where it was guessed. */
  readonly encoding: Metadata;
}

/** Turns all texts of a mail, its headers and its text attachments into UTF-8, which is all that its reader knows well. `setting` is for texts that name no charset. */
export function mailInUtf8(bytes: Uint8Array, setting: unknown): Utf8Mail {
  const rewriter = new MailRewriter(raw(bytes), setting);
  return { bytes: rewriter.rewritten(), warnings: [...rewriter.warnings], encoding: rewriter.encoding };
}

/** Rewrites a mail part by part, keeping everything that is in UTF-8 already as it stands. */
class MailRewriter {
  readonly warnings = new Set<string>();
  encoding: Metadata = {};
  readonly #out: string[] = [];
  readonly #boundaries = new Set<string>();
  #at = 0;

  constructor(
    readonly source: string,
    readonly setting: unknown,
  ) {}

  rewritten(): Uint8Array {
    while (this.#at < this.source.length) this.#part();
    return Buffer.from(this.#out.join(''), 'latin1');
  }

  /** Takes a header and its body, up to the boundary that ends it and with that. */
  #part(): void {
    const header = this.#takeHeader();
    const fields = fieldsOf(header);
    const type = fields.find((field) => isField(field, 'content-type'))?.slice('content-type:'.length) ?? ' text/plain';
    const boundary = BOUNDARY.exec(type);
    if (boundary) this.#boundaries.add((boundary[1] ?? boundary[2])!.trimEnd());
    const transfer = fields.find((field) => isField(field, 'content-transfer-encoding'))?.slice('content-transfer-encoding:'.length) ?? '';
    const coding = transfer.trim().toLowerCase();
    const isCoded = coding === 'base64' || coding === 'quoted-printable';
    if (/^\s*message\/rfc822/i.test(type) && !isCoded) {
      this.#out.push(header);
      return;
    }
    const [body, end] = this.#takeBody();
    const recoded = /^\s*text\//i.test(type) ? this.#recoded(body, coding, type) : undefined;
    if (recoded === undefined) this.#out.push(header, body, end);
    else this.#out.push(utf8Header(fields, type), recoded, '\r\n', end);
  }

  /** The next header with its blank line, its texts in UTF-8. */
  #takeHeader(): string {
    const rest = /\r?\n\r?\n/g;
    rest.lastIndex = this.#at;
    // A part may begin with the blank line.
    const begins = /\r?\n/y;
    begins.lastIndex = this.#at;
    const end = begins.test(this.source) ? begins.lastIndex : rest.exec(this.source) ? rest.lastIndex : this.source.length;
    const header = this.source.slice(this.#at, end);
    this.#at = end;
    const bytes = Buffer.from(header, 'latin1');
    const plain = isUtf8(bytes) ? header : rawUtf8(this.#decoded(bytes, undefined).text);
    return recodedParameters(recodedWords(plain));
  }

  /** A body, and what ends it: a boundary line, with what stands between the last part of a mail and that. */
  #takeBody(): [body: string, end: string] {
    const { source } = this;
    const start = this.#at;
    let bodyEnd: number | undefined;
    let line = start;
    while (line < source.length) {
      const found = source.indexOf('\n', line);
      const next = found < 0 ? source.length : found + 1;
      const marker = source.startsWith('--', line) ? source.slice(line + 2, Math.min(next, line + MARKER_LIMIT)).trimEnd() : '';
      if (this.#boundaries.has(marker)) {
        this.#at = next;
        return [source.slice(start, bodyEnd ?? line), source.slice(bodyEnd ?? line, next)];
      }
      if (marker.endsWith('--') && this.#boundaries.has(marker.slice(0, -2))) bodyEnd ??= line;
      line = next;
    }
    this.#at = source.length;
    return [source.slice(start, bodyEnd ?? line), source.slice(bodyEnd ?? line)];
  }

  /** The body of a text in UTF-8 as Base64; undefined where it may stay. */
  #recoded(body: string, coding: string, type: string): string | undefined {
    const bytes =
      coding === 'base64'
        ? Buffer.from(body, 'base64')
        : coding === 'quoted-printable'
          ? unquoted(body.replace(/=[ \t]*\r?\n/g, ''), '=')
          : Buffer.from(body, 'latin1');
    const label = CHARSET.exec(type);
    const charset = label ? (label[1] ?? label[2])! : 'us-ascii';
    // ASCII is what stands where nothing is known.
    const named = /^(?:us-)?ascii$/i.test(charset) ? undefined : encodingOf(charset);
    const declared = named ?? (/^\s*text\/html/i.test(type) ? htmlEncoding(bytes) : undefined);
    if (isAscii(bytes) && declared !== 'utf-7' && !escapedEncoding(bytes)) return undefined;
    if (isUtf8(bytes) && !needsRecoding(declared) && !escapedEncoding(bytes)) return undefined;
    const { text } = this.#decoded(bytes, declared);
    return Buffer.from(`${MARK}${text}`).toString('base64').match(BASE64_LINE)!.join('\r\n');
  }

  #decoded(bytes: Uint8Array, declared: string | undefined): DecodedText {
    const found = decodeText(bytes, declared === undefined ? { setting: this.setting } : { declared });
    if (found.warning) this.warnings.add(found.warning);
    if (found.confidence !== undefined) this.encoding = encodingMetadata(found);
    return found;
  }
}

function utf8Header(fields: readonly string[], type: string): string {
  const others = fields.filter((field) => field !== '' && !isField(field, 'content-type') && !isField(field, 'content-transfer-encoding'));
  const bare = type.replace(CHARSET, '').trim();
  return [...others, `Content-Type: ${bare}; charset=utf-8`, 'Content-Transfer-Encoding: base64', '', ''].join('\r\n');
}

const isField = (field: string, name: string): boolean => field.slice(0, name.length + 1).toLowerCase() === `${name}:`;
const fieldsOf = (header: string): string[] => header.split(/\r?\n(?![ \t])/);

/** Encoded words in UTF-8; words of one charset that follow each other are one text, whose letters may be cut between them. */
function recodedWords(header: string): string {
  let out = '';
  let end = 0;
  let open: { charset: string; bytes: Uint8Array[] } | undefined;
  const flush = (): void => {
    if (open) out += `=?utf-8?B?${Buffer.from(decodeBytes(Buffer.concat(open.bytes), open.charset)).toString('base64')}?=`;
    open = undefined;
  };
  for (const match of header.matchAll(ENCODED_WORD)) {
    const charset = encodingOf(match[1]!);
    const between = header.slice(end, match.index);
    if (open?.charset !== charset || /\S/.test(between)) {
      flush();
      out += between;
    }
    end = match.index + match[0].length;
    if (!needsRecoding(charset)) out += match[0];
    else if (open) open.bytes.push(wordBytes(match[2]!, match[3]!));
    else open = { charset, bytes: [wordBytes(match[2]!, match[3]!)] };
  }
  flush();
  return out + header.slice(end);
}

/** Extended parameters, such as names of files, in UTF-8. */
function recodedParameters(header: string): string {
  let charset: string | undefined;
  return header.replace(PARAMETER, (all, mark, label, language, text, following, more) => {
    if (label !== undefined) charset = encodingOf(label);
    if (!needsRecoding(charset)) return all;
    const value = encodeURIComponent(decodeBytes(unquoted(label === undefined ? more : text, '%'), charset));
    return label === undefined ? `${following}${value}` : `${mark}utf-8${language}${value}`;
  });
}

function needsRecoding(charset: string | undefined): charset is string {
  return charset !== undefined && charset !== 'utf-8';
}

function wordBytes(kind: string, text: string): Uint8Array {
  return kind.toLowerCase() === 'b' ? Buffer.from(text, 'base64') : unquoted(text.replace(/_/g, ' '), '=');
}

function unquoted(text: string, mark: '=' | '%'): Uint8Array {
  const hex = mark === '=' ? /=([0-9a-f]{2})/gi : /%([0-9a-f]{2})/gi;
  return Buffer.from(
    text.replace(hex, (_all, digits: string) => String.fromCharCode(Number.parseInt(digits, 16))),
    'latin1',
  );
}

const rawUtf8 = (text: string): string => raw(Buffer.from(text));

/** Bytes as a string of one code unit each, which is how this file holds a mail. */
const raw = (bytes: Uint8Array): string => Buffer.from(bytes.buffer, bytes.byteOffset, bytes.length).toString('latin1');
