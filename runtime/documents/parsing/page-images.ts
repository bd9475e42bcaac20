import type { SourceFile } from '../parsers/contract.js';
import { HostPool } from './pool.js';

const MEBIBYTE = 1024 * 1024;
/** Pages that one call renders, so that its time limit is one of pages and not of books. */
const PAGES_PER_CALL = 8;
const BOUNDS = { hosts: 1, memoryBytes: 768 * MEBIBYTE, timeoutMs: 120_000, idleMs: 30_000 } as const;

/** What a render host is asked; `pages` from 1. */
export interface RenderRequest {
  readonly file: SourceFile;
  readonly pages: readonly number[];
  readonly dpi: number;
  /** Exists; pages are written there as `page-<n>.png`. */
  readonly folder: string;
}

const NO_PAGES: Omit<RenderRequest, 'file'> = { pages: [], dpi: 0, folder: '' };

/** A page on disk. */
export interface PageImage {
  readonly page: number;
  readonly path: string;
  readonly sizeBytes: number;
}

/** What a render host is asked for one page, from 1. */
export interface PictureRequest {
  readonly file: SourceFile;
  readonly page: number;
  /** Pixels. */
  readonly width: number;
  /** Otherwise it is an image, which is its own only page. */
  readonly isPdf: boolean;
}

/** One page as WebP; no bytes where the file has fewer pages. */
export interface PagePicture {
  readonly pages: number;
  readonly bytes: Uint8Array | undefined;
}

/** Renders pages of PDFs, in a process that a hostile file may bring down. */
export class PageImages {
  readonly #pool: HostPool;

  constructor(bounds: Partial<typeof BOUNDS> = {}) {
    this.#pool = new HostPool({ ...BOUNDS, ...bounds, engine: new URL('./render-entry.js', import.meta.url) });
  }

  /** The pages of a PDF. Throws `Failure('invalid')` that names the file and what is wrong with it. */
  count(file: SourceFile, signal: AbortSignal): Promise<number> {
    return this.#pool.call<number>('count', { ...NO_PAGES, file }, file.name, signal);
  }

  /** Numbers of the pages that have no text layer. Throws as `count` does. */
  withoutText(file: SourceFile, signal: AbortSignal): Promise<number[]> {
    return this.#pool.call<number[]>('without-text', { ...NO_PAGES, file }, file.name, signal);
  }

  /** One page of a PDF, or an image. Throws as `count` does. */
  picture(request: PictureRequest, signal: AbortSignal): Promise<PagePicture> {
    return this.#pool.call<PagePicture>('picture', request, request.file.name, signal);
  }

  /** Renders page after page as PNG files. Throws as `count` does; what was written stays. */
  async *render(request: RenderRequest, signal: AbortSignal): AsyncGenerator<PageImage, void, undefined> {
    for (let from = 0; from < request.pages.length; from += PAGES_PER_CALL) {
      const pages = request.pages.slice(from, from + PAGES_PER_CALL);
      const written = await this.#pool.call<Omit<PageImage, 'page'>[]>('render', { ...request, pages }, request.file.name, signal);
      yield* written.map((one, index) => ({ page: pages[index]!, ...one }));
    }
  }

  close(): Promise<void> {
    return this.#pool.close();
  }
}
