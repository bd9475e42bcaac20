import { Failure } from '../../../schemas/errors.js';
import type { ParserType } from '../../../schemas/generated/config/rag.js';
import { audio } from './audio.js';
import { bytesOf } from './bytes.js';
import { code } from './code.js';
import { extensionOf, type ParsedDocument, type ParseLimits, type Parser, type SourceFile, unreadFormat } from './contract.js';
import { csv } from './csv.js';
import { docx } from './docx.js';
import { emlParser } from './eml.js';
import { epub } from './epub.js';
import { folderParser } from './folder.js';
import { html } from './html.js';
import { json } from './json.js';
import { markdown } from './markdown.js';
import { mboxParser } from './mbox.js';
import { msgParser } from './msg.js';
import { notebook } from './notebook.js';
import { odf } from './odf.js';
import { pdf } from './pdf/parser.js';
import { pptx } from './pptx.js';
import { rtf } from './rtf.js';
import { signatureOf } from './signature.js';
import { text } from './text.js';
import { xlsx } from './xlsx.js';

/** Parsers that read a file by itself. */
const SINGLE = [
  text,
  markdown,
  html,
  pdf,
  docx,
  xlsx,
  pptx,
  epub,
  odf,
  csv,
  json,
  notebook,
  rtf,
  code,
  audio,
] as const satisfies readonly Parser[];
/** Mails in mails, as deep as anybody forwards them. */
const NESTING_LIMIT = 4;

/** Mail at one depth; the attachments of the deepest are named and not read. */
function mailParsers(depth: number): Parser[] {
  const inner = (file: SourceFile, limits: ParseLimits): Promise<ParsedDocument> => {
    if (depth >= NESTING_LIMIT) throw new Failure('invalid', `${file.name} lies in more than ${NESTING_LIMIT} mails.`);
    return parseByContent(file, limits, [...SINGLE, ...mailParsers(depth + 1)]);
  };
  return [emlParser(inner), msgParser(inner), mboxParser(inner)];
}

const FILES: readonly Parser[] = [...SINGLE, ...mailParsers(1)];

/** Every parser; `auto` chooses among them. */
export const PARSERS: readonly Parser[] = [...FILES, folderParser((file, limits) => parseByContent(file, limits, FILES))];

/** Options of `auto`, which every chosen parser gets over its own defaults. */
export const AUTO_DEFAULTS = { chunk_size: 1000, chunk_overlap: 200 };

/** The parser of a configured type; undefined for `auto`. */
export function parserOf(type: ParserType): Parser | undefined {
  return PARSERS.find((parser) => Object.hasOwn(parser.defaults, type));
}

/** The type of a parser that names no older engine, which is its name where nothing was configured. */
export function typeOf(parser: Parser): ParserType {
  const types = Object.keys(parser.defaults) as ParserType[];
  return types.find((type) => !type.includes('_')) ?? types[0]!;
}

/** The parser that takes a file by its extension, then by its media type. */
export function parserFor(file: Pick<SourceFile, 'name' | 'mimeType'>, among: readonly Parser[] = PARSERS): Parser | undefined {
  const extension = extensionOf(file.name);
  const mime = file.mimeType.split(';')[0]!.trim().toLowerCase();
  return among.find((parser) => parser.extensions.includes(extension)) ?? among.find((parser) => parser.mimeTypes.includes(mime));
}

/** Reads a file that lies in another one, as what it is, with the defaults of its format. */
async function parseByContent(file: SourceFile, limits: ParseLimits, among: readonly Parser[]): Promise<ParsedDocument> {
  const bytes = await bytesOf(file);
  const signature = await signatureOf(file, bytes);
  if (signature.kind === 'unread') throw unreadFormat(file, signature.label, signature.remedy);
  const named = parserFor(file, among);
  const parser = signature.kind === 'format' ? among.find((one) => one.id === signature.parser) : named?.readsText === true ? named : text;
  if (!parser) throw new Failure('invalid', `No parser reads ${file.name}.`, { code: 'no_parser' });
  return parser.parse({ ...file, bytes }, parser.defaults[typeOf(parser)] ?? {}, limits);
}
