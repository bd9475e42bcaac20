import { Failure } from '../../../../schemas/errors.js';
import { damagedFile, lockedFile, type SourceFile } from '../contract.js';

/** A function of PDFium: numbers in and out, handles and pointers among them. */
type Native = (...values: number[]) => number;

type NativeName = `FPDF${string}` | `FORM_${string}`;

/** PDFium's C functions by their name without the leading underscore, and its memory. */
interface Module {
  readonly HEAPU8: Uint8Array;
  readonly wasmExports: { malloc(size: number): number; free(pointer: number): void };
  readonly [name: `_${NativeName}`]: Native;
}

const SCRATCH_BYTES = 64;
const BYTES_LIMIT = 16 * 1024 * 1024;

/** An open PDF, on the C interface of PDFium: the wrapper's classes know only plain text. Close it. */
export class PdfDocument {
  readonly #module: Module;
  readonly #close: () => void;
  readonly #scratch: number;
  readonly handle: number;

  private constructor(module: Module, handle: number, close: () => void) {
    this.#module = module;
    this.handle = handle;
    this.#close = close;
    this.#scratch = module.wasmExports.malloc(SCRATCH_BYTES);
  }

  /** Opens a file; throws `Failure('invalid')` for one that is damaged or asks for a password. */
  static async open(file: SourceFile, bytes: Uint8Array): Promise<PdfDocument> {
    const { PDFiumLibrary } = await import('@hyzyla/pdfium');
    // One library per document: what a hostile file leaves in its memory goes with it.
    const library = await PDFiumLibrary.init();
    try {
      const document = await library.loadDocument(bytes);
      const { module, documentIdx } = document as unknown as { module: Module; documentIdx: number };
      return new PdfDocument(module, documentIdx, () => {
        document.destroy();
        library.destroy();
      });
    } catch (error) {
      const why = error instanceof Error ? error.message : '';
      if (/password/i.test(why)) throw lockedFile(file);
      if (/security/i.test(why))
        throw new Failure('invalid', `${file.name} is encrypted in a way that cannot be read; save it without.`, {
          code: 'password_protected',
        });
      throw damagedFile(file, 'it cannot be read as a PDF', error);
    }
  }

  call(name: NativeName, ...values: number[]): number {
    return this.#module[`_${name}`]!(...values);
  }

  /** Calls `read` with room for each of `count` doubles and gives what was written, until the next call. */
  doubles(count: number, read: (...pointers: number[]) => number): Float64Array {
    read(...Array.from({ length: count }, (_, index) => this.#scratch + index * Float64Array.BYTES_PER_ELEMENT));
    return new Float64Array(this.#module.HEAPU8.buffer, this.#scratch, count);
  }

  /** Calls `read` with room for a structure of `count` floats and gives what was written, until the next call. */
  floats(count: number, read: (pointer: number) => number): Float32Array {
    read(this.#scratch);
    return new Float32Array(this.#module.HEAPU8.buffer, this.#scratch, count);
  }

  /** A text that PDFium writes to a buffer: asked first for its length in bytes, the ending zero included. */
  text(read: (buffer: number, bytes: number) => number, encoding: 'utf-16le' | 'utf-8' = 'utf-16le'): string {
    const bytes = Math.min(read(0, 0), 1024 * 1024);
    const zero = encoding === 'utf-8' ? 1 : 2;
    if (bytes <= zero) return '';
    return this.#withMemory(bytes, (pointer) => {
      read(pointer, bytes);
      return new TextDecoder(encoding).decode(this.#module.HEAPU8.slice(pointer, pointer + bytes - zero));
    });
  }

  /** Bytes that PDFium writes to a buffer and tells the number of: asked first for that alone. */
  bytes(read: (buffer: number, bytes: number, written: number) => number): Uint8Array {
    const written = (): number => new DataView(this.#module.HEAPU8.buffer).getUint32(this.#scratch, true);
    new Uint8Array(this.#module.HEAPU8.buffer, this.#scratch, 4).fill(0);
    read(0, 0, this.#scratch);
    const count = Math.min(written(), BYTES_LIMIT);
    if (count === 0) return new Uint8Array();
    return this.#withMemory(count, (pointer) => {
      read(pointer, count, this.#scratch);
      return this.copy(pointer, count);
    });
  }

  /** Zeros in PDFium's memory after a first number, as its structures begin with their version. */
  zeroed(bytes: number, version: number): { readonly pointer: number; free(): void } {
    const pointer = this.#module.wasmExports.malloc(bytes);
    this.#module.HEAPU8.fill(0, pointer, pointer + bytes);
    new DataView(this.#module.HEAPU8.buffer).setInt32(pointer, version, true);
    return { pointer, free: () => this.#module.wasmExports.free(pointer) };
  }

  /** Gives `use` a zero-ended ASCII text in PDFium's memory. */
  withName<T>(name: string, use: (pointer: number) => T): T {
    const bytes = Buffer.from(`${name}\0`, 'latin1');
    return this.#withMemory(bytes.length, (pointer) => {
      this.#module.HEAPU8.set(bytes, pointer);
      return use(pointer);
    });
  }

  /** A copy of PDFium's memory. */
  copy(pointer: number, bytes: number): Uint8Array {
    return this.#module.HEAPU8.slice(pointer, pointer + bytes);
  }

  close(): void {
    this.#module.wasmExports.free(this.#scratch);
    this.#close();
  }

  #withMemory<T>(bytes: number, use: (pointer: number) => T): T {
    const pointer = this.#module.wasmExports.malloc(bytes);
    try {
      return use(pointer);
    } finally {
      this.#module.wasmExports.free(pointer);
    }
  }
}
