import { Failure } from '../../../schemas/errors.js';
import { extensionOf, type SourceFile } from '../../documents/parsers/contract.js';
import type { PageImages, PagePicture } from '../../documents/parsing/page-images.js';

/** Pictures and counts that are kept in memory; those used longest ago go. */
const KEPT_BYTES = 32 * 1024 * 1024;
const KEPT_COUNTS = 1_000;
const IMAGES = new Set(['.png', '.jpg', '.jpeg', '.gif', '.webp', '.bmp', '.tif', '.tiff']);

/** A file by the SHA-256 of its bytes. */
export interface HashedFile {
  readonly hash: string;
  readonly file: SourceFile;
}

/** Pages of documents as pictures, made in a process of their own and kept for a while. */
export class PagePictures {
  readonly #pageImages: PageImages;
  /** By hash, page and width, used longest ago first. */
  readonly #kept = new Map<string, Uint8Array>();
  readonly #counts = new Map<string, number>();
  #bytes = 0;

  constructor(pageImages: PageImages) {
    this.#pageImages = pageImages;
  }

  /** The pages of a PDF, 1 for an image, null for a file that has none. Throws `invalid` for a damaged one. */
  async count({ hash, file }: HashedFile, signal: AbortSignal): Promise<number | null> {
    if (isImage(file)) return 1;
    if (!isPdf(file)) return null;
    const known = this.#counts.get(hash) ?? (await this.#pageImages.count(file, signal));
    this.#noteCount(hash, known);
    return known;
  }

  /** A page (from 1) as WebP, at most `width` pixels wide where it is an image. Throws `not_found` where there is none, `invalid` for a damaged file. */
  async picture({ hash, file }: HashedFile, page: number, width: number, signal: AbortSignal): Promise<Uint8Array> {
    if (!isPdf(file) && !isImage(file))
      throw new Failure(
        'not_found',
        `${file.name} (${file.mimeType}) has no pages: PDFs have, and images are one. Read its chunks instead.`,
        {
          code: 'NoPages',
        },
      );
    const key = `${hash} ${page} ${width}`;
    const kept = this.#kept.get(key);
    if (kept) {
      this.#kept.delete(key);
      this.#kept.set(key, kept);
      return kept;
    }
    const made = await this.#pageImages.picture({ file, page, width, isPdf: isPdf(file) }, signal);
    this.#noteCount(hash, made.pages);
    return this.#keep(key, requirePage(file, page, made));
  }

  #keep(key: string, bytes: Uint8Array): Uint8Array {
    this.#bytes += bytes.length - (this.#kept.get(key)?.length ?? 0);
    this.#kept.set(key, bytes);
    for (const [oldest, { length }] of this.#kept) {
      if (this.#bytes <= KEPT_BYTES) break;
      this.#kept.delete(oldest);
      this.#bytes -= length;
    }
    return bytes;
  }

  #noteCount(hash: string, pages: number): void {
    this.#counts.delete(hash);
    this.#counts.set(hash, pages);
    if (this.#counts.size > KEPT_COUNTS) this.#counts.delete(this.#counts.keys().next().value!);
  }
}

function requirePage(file: SourceFile, page: number, { pages, bytes }: PagePicture): Uint8Array {
  if (bytes) return bytes;
  throw new Failure('not_found', `${file.name} has ${pages} ${pages === 1 ? 'page' : 'pages'}, and no page ${page}.`, {
    code: 'NoSuchPage',
  });
}

function isPdf({ name, mimeType }: SourceFile): boolean {
  return mimeType === 'application/pdf' || extensionOf(name) === '.pdf';
}

function isImage({ name }: SourceFile): boolean {
  return IMAGES.has(extensionOf(name));
}
