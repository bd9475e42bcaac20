import { Failure } from '../../../schemas/errors.js';
import type { Metadata } from '../contract.js';
import type { Block, ParsedDocument, ParseLimits } from './contract.js';

/** What a block may carry besides its text. */
export type BlockExtras = Pick<Block, 'level' | 'page' | 'apart' | 'metadata'>;

/** Collects the blocks of a document in order and keeps the offsets. */
export class DocumentWriter {
  readonly #name: string;
  readonly #limits: ParseLimits;
  readonly #parts: string[] = [];
  readonly #blocks: Block[] = [];
  readonly warnings: string[] = [];
  #length = 0;
  #bytes = 0;
  #lastKind: Block['kind'] | undefined;

  /** `name` is the file's, for messages. */
  constructor(name: string, limits: ParseLimits) {
    this.#name = name;
    this.#limits = limits;
  }

  get isEmpty(): boolean {
    return this.#blocks.length === 0;
  }

  /** Adds a block; blank text adds nothing. Rows stand on lines of their own, other blocks have a blank line between. */
  add(kind: Block['kind'], text: string, extras: BlockExtras = {}): void {
    const shown = kind === 'code' ? text.replace(/^(?:[ \t]*\r?\n)+/, '').trimEnd() : text.trim();
    if (shown.trim() === '') return;
    if (this.#length > 0) this.#push(kind === 'row' && this.#lastKind === 'row' ? '\n' : '\n\n');
    const start = this.#length;
    this.#push(shown);
    this.#blocks.push({ kind, start, end: this.#length, ...extras });
    this.#lastKind = kind;
  }

  /** Adds the blocks of another document, such as an attachment, with `metadata` on each. */
  append(other: ParsedDocument, metadata: Metadata): void {
    other.blocks.forEach(({ kind, start, end, ...extras }, index) => {
      const apart = index === 0 || extras.apart === true;
      this.add(kind, other.text.slice(start, end), { ...extras, apart, metadata: { ...extras.metadata, ...metadata } });
    });
    this.warnings.push(...other.warnings);
  }

  finish(metadata: Metadata): ParsedDocument {
    return { text: this.#parts.join(''), blocks: this.#blocks, metadata, warnings: this.warnings };
  }

  #push(text: string): void {
    this.#bytes += Buffer.byteLength(text);
    if (this.#bytes > this.#limits.textBytes) throw tooLong(this.#name, this.#limits);
    this.#parts.push(text);
    this.#length += text.length;
  }
}

/** The refusal of a file with more text than a project takes from one. */
export function tooLong(name: string, limits: ParseLimits): Failure {
  const mebibytes = Math.floor(limits.textBytes / 1024 / 1024);
  return new Failure('invalid', `${name} holds more text than the ${mebibytes} MiB that one file may have; split it.`, {
    code: 'too_much_text',
  });
}

/** The metadata without values that say nothing: undefined, null and empty texts. */
export function presentMembers(metadata: Metadata): Metadata {
  return Object.fromEntries(Object.entries(metadata).filter(([, value]) => value !== undefined && value !== null && value !== ''));
}
