import { Failure } from '../../schemas/errors.js';
import type { Picture } from '../pictures/picture.js';
import type { SourceFile } from '../rag/parsers/contract.js';
import type { PageImages } from '../rag/parsing/page-images.js';
import type { FileLimits } from './limits.js';

/** What one PDF is rendered with. */
export interface PagesParts {
  readonly pageImages: PageImages;
  readonly source: SourceFile;
  readonly pages: number;
  readonly dpi: number;
  readonly folder: string;
  readonly limits: Pick<FileLimits, 'pages' | 'imageBytes'>;
}

/** What is wrong with a caller's file is the caller's fault here. */
export function asRequestFault(error: unknown): never {
  if (error instanceof Failure && error.kind === 'invalid')
    throw new Failure('bad_request', error.message, { code: error.code, cause: error });
  throw error;
}

/** The pages of a kept PDF, rendered when they are first asked for: one rendering for all who wait, stopped when nobody does. */
export class Pages {
  readonly #parts: PagesParts;
  #stop: AbortController | undefined;
  #rendering: Promise<readonly Picture[]> | undefined;
  /** On disk. */
  sizeBytes = 0;

  constructor(parts: PagesParts) {
    this.#parts = parts;
  }

  /** Pictures of all pages. Throws `bad_request` where there are too many or one cannot be rendered. */
  pictures(): Promise<readonly Picture[]> {
    if (this.#rendering) return this.#rendering;
    const stop = new AbortController();
    const rendering = this.#render(stop.signal).catch(asRequestFault);
    this.#stop = stop;
    this.#rendering = rendering;
    // The next who asks tries again.
    rendering.catch(() => this.#forget(rendering));
    return rendering;
  }

  /** Ends a rendering that nobody waits for; pages that are complete stay. */
  stop(): void {
    if (!this.#stop) return;
    this.#stop.abort(new DOMException('Nobody waits for the pages.', 'AbortError'));
    this.#stop = undefined;
    this.#rendering = undefined;
  }

  #forget(rendering: Promise<readonly Picture[]>): void {
    if (this.#rendering === rendering) this.#rendering = undefined;
  }

  async #render(signal: AbortSignal): Promise<readonly Picture[]> {
    const { pageImages, source, pages, dpi, folder, limits } = this.#parts;
    if (pages > limits.pages)
      throw new Failure('bad_request', `${source.name} has ${pages} pages; at most ${limits.pages} are converted to images. Split it.`, {
        code: 'TooManyPages',
      });
    this.sizeBytes = 0;
    const numbers = Array.from({ length: pages }, (_, index) => index + 1);
    const pictures: Picture[] = [];
    for await (const { page, path, sizeBytes } of pageImages.render({ file: source, pages: numbers, dpi, folder }, signal)) {
      this.sizeBytes += sizeBytes;
      if (this.sizeBytes > limits.imageBytes)
        throw new Failure('bad_request', `The pages of ${source.name} are more than ${limits.imageBytes} bytes as images; lower pdf_dpi.`, {
          code: 'ImagesTooLarge',
        });
      pictures.push({ name: `${source.name}, page ${page}`, path });
    }
    this.#stop = undefined;
    return pictures;
  }
}
