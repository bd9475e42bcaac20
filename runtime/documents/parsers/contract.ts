import { Failure } from '../../../schemas/errors.js';
import type { ParserType } from '../../../schemas/generated/config/rag.js';
import type { Metadata } from '../contract.js';

/** A file to read. Its content is untrusted. */
export interface SourceFile {
  readonly path: string;
  /** As the user calls it, with its extension. */
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** The content where it is in memory already, such as an attachment; `path` is not read then. */
  readonly bytes?: Uint8Array;
  /** Texts of pages that have no text layer, by their number, as they were read from images of them. */
  readonly pageTexts?: Readonly<Record<number, string>>;
  /** What is said in a recording. */
  readonly transcript?: Transcript;
}

/** What is said in a recording, sentence by sentence; times in seconds. */
export interface Transcript {
  readonly seconds: number;
  /** ISO 639-1. */
  readonly language: string;
  readonly segments: readonly { readonly start: number; readonly end: number; readonly text: string }[];
}

/** A stretch of the text that belongs together: chunks are cut between blocks first. */
export interface Block {
  readonly kind: 'heading' | 'paragraph' | 'list' | 'table' | 'row' | 'code' | 'quote' | 'header' | 'footer';
  /** UTF-16 code units into the document's text. */
  readonly start: number;
  readonly end: number;
  /** Of a heading, from 1. */
  readonly level?: number;
  readonly page?: number;
  /** Starts something of its own, such as a sheet or an attachment: no chunk reaches across its start. */
  readonly apart?: boolean;
  /** Goes into the metadata of the chunks made of it, such as `row_number` or `section`. */
  readonly metadata?: Metadata;
}

/** What a parser makes of a file. */
export interface ParsedDocument {
  readonly text: string;
  /** In the order of the text, not overlapping. */
  readonly blocks: readonly Block[];
  /** Of the document as a whole, such as `title` or `author`; goes into every chunk. */
  readonly metadata: Metadata;
  /** What could not be read and why, such as scanned pages without a text layer. */
  readonly warnings: readonly string[];
}

/** Bounds of reading one file; beyond them a parser throws `Failure('invalid')` that names the bound. */
export interface ParseLimits {
  /** Of the text that comes out, as UTF-8. */
  readonly textBytes: number;
  readonly pages: number;
  /** Of an archive's content. */
  readonly unpackedBytes: number;
}

/** One parser per format; the engine suffixes of the configured names are aliases of it. */
export interface Parser {
  readonly id: string;
  /** The configured names it answers to, each with its options and their defaults. */
  readonly defaults: Readonly<Partial<Record<ParserType, Metadata>>>;
  /** Lower case, with the dot. */
  readonly extensions: readonly string[];
  readonly mimeTypes: readonly string[];
  /** Takes any text, so that a text of another name may still be read by it. */
  readonly readsText?: boolean;
  /** `options` are complete. Throws `Failure('invalid')` with the reason for a file that is damaged, protected or not of this format. */
  parse(file: SourceFile, options: Metadata, limits: ParseLimits): Promise<ParsedDocument>;
}

/** The extension of a name, lower case with its dot; empty where it has none. */
export function extensionOf(name: string): string {
  return /[^/\\](\.[^./\\]{1,32})$/.exec(name.toLowerCase())?.[1] ?? '';
}

/** The refusal of a file whose format is right and whose content is not. */
export function damagedFile(file: Pick<SourceFile, 'name'>, why: string, cause?: unknown): Failure {
  return new Failure('invalid', `${file.name} is damaged: ${why}.`, { code: 'damaged', cause });
}

/** The refusal of a file that asks for a password. */
export function lockedFile(file: SourceFile): Failure {
  return new Failure('invalid', `${file.name} is protected with a password; save it without one.`, { code: 'password_protected' });
}

/** The refusal of a file in a format that no parser reads; `remedy` says what to do instead. */
export function unreadFormat(file: SourceFile, label: string, remedy: string): Failure {
  return new Failure('invalid', `${file.name} is ${label}, which no parser reads${remedy === '' ? '' : `; ${remedy}`}.`, {
    code: 'unread_format',
  });
}

/** Throws when a file has more pages than are read from one. */
export function checkPages(file: SourceFile, pages: number, limits: ParseLimits): void {
  if (pages > limits.pages)
    throw new Failure('invalid', `${file.name} has ${pages} pages; at most ${limits.pages} are read. Split it.`, {
      code: 'too_many_pages',
    });
}
