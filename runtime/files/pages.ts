import { mkdir, rm } from 'node:fs/promises';
import { Failure } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import type { SourceFile } from '../documents/parsers/contract.js';
import type { PageImages } from '../documents/parsing/page-images.js';
import type { Picture } from '../pictures/picture.js';
import type { FileLimits, Share } from './limits.js';

/** What one PDF is rendered with. */
interface PagesParts {
  readonly pageImages: PageImages;
  readonly source: SourceFile;
  readonly pages: number;
  readonly dpi: number;
  /** Made and removed with the pages. */
  readonly folder: string;
  readonly limits: Pick<FileLimits, 'pages' | 'imageBytes'>;
  /** Takes room for the pages. Throws `busy`. */
  readonly take: (bytes: number) => Share;
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
  /** Until the last rendering has ended and cleared away what it did not complete. */
  #ended: Promise<unknown> = Promise.resolve();
  #share: Share | undefined;

  constructor(parts: PagesParts) {
    this.#parts = parts;
  }

  /** Pictures of all pages. Throws `bad_request` where there are too many or one cannot be rendered, `busy` where there is no room. */
  pictures(): Promise<readonly Picture[]> {
    if (this.#rendering) return this.#rendering;
    const stop = new AbortController();
    const rendering = this.#ended.then(() => this.#render(stop.signal)).catch(asRequestFault);
    this.#stop = stop;
    this.#rendering = rendering;
    // The next who asks tries again.
    this.#ended = rendering.catch(() => this.#forget(rendering));
    return rendering;
  }

  /** Ends a rendering that nobody waits for; its pages go. */
  stop(): void {
    if (!this.#stop) return;
    this.#stop.abort(new DOMException('Nobody waits for the pages.', 'AbortError'));
    this.#stop = undefined;
    this.#rendering = undefined;
  }

  /** Gives the room of the pages back; their folder is the caller's to remove. */
  release(): void {
    this.#share?.release();
  }

  #forget(rendering: Promise<readonly Picture[]>): void {
    if (this.#rendering === rendering) this.#rendering = undefined;
  }

  async #render(signal: AbortSignal): Promise<readonly Picture[]> {
    const { source, pages, folder, limits, take } = this.#parts;
    signal.throwIfAborted();
    if (pages > limits.pages)
      throw new Failure('bad_request', `${source.name} has ${pages} pages; at most ${limits.pages} are converted to images. Split it.`, {
        code: 'TooManyPages',
      });
    // Nobody knows before how large the images will be, and a rendering may wait long for its turn: it grows page by page.
    const share = take(0);
    this.#share = share;
    try {
      // Recursive, as an earlier rendering may have left it there.
      await mkdir(folder, { recursive: true, mode: 0o700 });
      const pictures = await this.#write(share, signal);
      signal.throwIfAborted();
      this.#stop = undefined;
      return pictures;
    } catch (error) {
      await this.#clear(share);
      throw error;
    }
  }

  /** Removes what a failed rendering wrote; its room is free again even where that does not succeed. */
  async #clear(share: Share): Promise<void> {
    try {
      // The host that was ended may just be writing a page.
      await rm(this.#parts.folder, { recursive: true, force: true, maxRetries: 5 });
    } catch (error) {
      log('warn', 'the pages of a file were not removed', { error });
    } finally {
      share.release();
    }
  }

  async #write(share: Share, signal: AbortSignal): Promise<Picture[]> {
    const { pageImages, source, pages, dpi, folder, limits, take } = this.#parts;
    const numbers = Array.from({ length: pages }, (_, index) => index + 1);
    const pictures: Picture[] = [];
    let bytes = 0;
    for await (const { page, path, sizeBytes } of pageImages.render({ file: source, pages: numbers, dpi, folder }, signal)) {
      bytes += sizeBytes;
      if (bytes > limits.imageBytes)
        throw new Failure('bad_request', `The pages of ${source.name} are more than ${limits.imageBytes} bytes as images; lower pdf_dpi.`, {
          code: 'ImagesTooLarge',
        });
      // Refused where the page does not fit; else it is added to the others.
      take(sizeBytes).release();
      share.resize(bytes);
      pictures.push({ name: `${source.name}, page ${page}`, path });
    }
    return pictures;
  }
}
