import { randomBytes } from 'node:crypto';
import { copyFile, mkdir, rename, rm } from 'node:fs/promises';
import { extname, join } from 'node:path';
import type { UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import { once } from '../base/once.js';
import type { SourceFile } from '../documents/parsers/contract.js';
import type { PageImages } from '../documents/parsing/page-images.js';
import type { Picture } from '../pictures/picture.js';
import { FILE_LIMITS, type FileLimits, FilesRoom, type Share } from './limits.js';
import { asRequestFault, Pages } from './pages.js';

const IMAGE_EXTENSIONS = new Set(['.png', '.jpg', '.jpeg', '.gif', '.bmp', '.webp', '.tiff', '.tif']);
const PDF_TYPE = 'application/pdf';

/** A file that a client left. */
export interface StoredFile {
  readonly id: string;
  readonly name: string;
  readonly mimeType: string;
  readonly sizeBytes: number;
  /** Milliseconds since 1970. */
  readonly createdAt: number;
  readonly purpose: string;
  readonly isImage: boolean;
  /** Of a PDF that is shown as images; null for all else. */
  readonly pages: number | null;
}

/** How an upload is kept. */
interface UploadWish {
  readonly convertPdf: boolean;
  readonly dpi: number;
  readonly purpose: string;
}

/** Images in use: they stay on disk until `release`. */
interface HeldPictures {
  readonly pictures: readonly Picture[];
  release(): void;
}

interface Entry {
  readonly file: StoredFile;
  readonly folder: string;
  readonly pages: Pages | undefined;
  readonly share: Share;
  uses: number;
  removed: boolean;
}

/** What files are kept with. */
export interface FilesParts {
  /** Its content belongs to this process: what an earlier one left is removed. */
  readonly folder: string;
  readonly pageImages: PageImages;
  readonly limits?: Partial<FileLimits>;
  /** Milliseconds since 1970. */
  readonly now?: () => number;
}

/** Files that clients upload for later requests: on disk, for five minutes. PDFs and images can be had as pictures. */
export class Files {
  readonly #folder: string;
  readonly #pageImages: PageImages;
  readonly #limits: FileLimits;
  readonly #now: () => number;
  readonly #entries = new Map<string, Entry>();
  readonly #room: FilesRoom;
  readonly #timer: NodeJS.Timeout;
  #prepared: Promise<unknown> | undefined;

  constructor({ folder, pageImages, limits, now = Date.now }: FilesParts) {
    this.#folder = folder;
    this.#pageImages = pageImages;
    this.#limits = { ...FILE_LIMITS, ...limits };
    this.#room = new FilesRoom(this.#limits);
    this.#now = now;
    this.#timer = setInterval(() => {
      this.#sweep();
      this.#prepare().catch((error: unknown) => log('warn', 'files of an earlier process were not removed', { error }));
    }, this.#limits.sweepMs);
    this.#timer.unref();
  }

  /** Keeps an upload. Throws `bad_request` for an empty file and a PDF that cannot be shown, `busy` when no more may be kept. */
  async add(upload: UploadedFile, wish: UploadWish, signal: AbortSignal): Promise<StoredFile> {
    const { name, mimeType, sizeBytes } = upload;
    if (sizeBytes === 0) throw new Failure('bad_request', `File ${JSON.stringify(name)} is empty.`, { code: 'EmptyFile' });
    const share = this.#take('file', sizeBytes);
    const id = `file_${randomBytes(4).toString('hex')}_${randomBytes(4).toString('hex')}`;
    const folder = join(this.#folder, id);
    try {
      const shown = isPdf(upload) && wish.convertPdf ? await this.#pageImages.count(upload, signal).catch(asRequestFault) : null;
      const path = await this.#store(upload, folder);
      const isImage = IMAGE_EXTENSIONS.has(extname(name).toLowerCase());
      const file: StoredFile = { id, name, mimeType, sizeBytes, createdAt: this.#now(), purpose: wish.purpose, isImage, pages: shown };
      const pages = shown === null ? undefined : this.#pages({ path, name, mimeType, sizeBytes }, shown, wish.dpi, folder);
      this.#entries.set(id, { file, folder, pages, share, uses: 0, removed: false });
      return file;
    } catch (error) {
      share.release();
      throw error;
    }
  }

  /** The files that are kept, oldest first. */
  list(): StoredFile[] {
    this.#sweep();
    return [...this.#entries.values()].map(({ file }) => file);
  }

  /** When a file goes, in milliseconds since 1970: reading it does not prolong its life. */
  expiresAt({ createdAt }: StoredFile): number {
    return createdAt + this.#limits.keptMs;
  }

  /** Seconds until a file goes. */
  remainingS(file: StoredFile): number {
    return Math.max(0, (this.expiresAt(file) - this.#now()) / 1000);
  }

  /** Throws `not_found`. */
  get(id: string): StoredFile {
    return this.#entry(id).file;
  }

  /** The file as pictures: each page of a PDF, or the image itself. Throws `not_found`, and `bad_request` for what has no pictures. */
  async pictures(id: string, signal: AbortSignal): Promise<HeldPictures> {
    const entry = this.#entry(id);
    const { file, folder, pages } = entry;
    if (!pages && !file.isImage) throw noImages(file);
    entry.uses += 1;
    const release = once(() => {
      entry.uses -= 1;
      if (entry.uses === 0) pages?.stop();
      this.#discard(entry);
    });
    signal.addEventListener('abort', release, { once: true });
    try {
      const pictures = pages ? await pages.pictures() : [{ name: file.name, path: join(folder, 'content') }];
      signal.throwIfAborted();
      return { pictures, release };
    } catch (error) {
      release();
      throw error;
    } finally {
      signal.removeEventListener('abort', release);
    }
  }

  /** Forgets a file; its bytes go when nobody reads them. Throws `not_found`. */
  remove(id: string): void {
    this.#entry(id);
    this.forget(id);
  }

  /** The same, for a file that may be gone. */
  forget(id: string): void {
    const entry = this.#entries.get(id);
    if (!entry) return;
    this.#entries.delete(id);
    entry.removed = true;
    this.#discard(entry);
  }

  /** Removes everything. */
  async close(): Promise<void> {
    clearInterval(this.#timer);
    this.#entries.clear();
    await this.#pageImages.close();
    if (this.#prepared) await rm(this.#folder, { recursive: true, force: true });
  }

  #entry(id: string): Entry {
    this.#sweep();
    const entry = this.#entries.get(id);
    if (entry) return entry;
    throw new Failure('not_found', `File not found: ${id.slice(0, 100)}. Uploads are kept for ${this.#limits.keptMs / 1000} s.`, {
      code: 'FileNotFound',
    });
  }

  /** Removes what an earlier process left that could not end in order. */
  #prepare(): Promise<unknown> {
    this.#prepared ??= rm(this.#folder, { recursive: true, force: true }).catch((error: unknown) => {
      this.#prepared = undefined;
      throw error;
    });
    return this.#prepared;
  }

  #sweep(): void {
    for (const [id, entry] of this.#entries) if (this.remainingS(entry.file) === 0) this.forget(id);
  }

  #discard({ removed, uses, folder, pages, share }: Entry): void {
    if (!removed || uses > 0) return;
    share.release();
    pages?.release();
    rm(folder, { recursive: true, force: true }).catch((error: unknown) => log('warn', 'a file was not removed', { error }));
  }

  /** Takes room before the bytes are there, so that those who come at the same time see it taken. */
  #take(what: 'file' | 'pages', bytes: number): Share {
    const [oldest] = this.list();
    return this.#room.take(what, bytes, Math.ceil(oldest ? this.remainingS(oldest) : this.#limits.keptMs / 1000));
  }

  /** Moves an upload to its place, which it returns. */
  async #store({ path: from }: UploadedFile, folder: string): Promise<string> {
    await this.#prepare();
    await mkdir(folder, { recursive: true, mode: 0o700 });
    const path = join(folder, 'content');
    try {
      await move(from, path);
    } catch (error) {
      await rm(folder, { recursive: true, force: true });
      throw error;
    }
    return path;
  }

  #pages(source: SourceFile, pages: number, dpi: number, folder: string): Pages {
    const take = (bytes: number): Share => this.#take('pages', bytes);
    return new Pages({ pageImages: this.#pageImages, source, pages, dpi, folder: join(folder, 'pages'), limits: this.#limits, take });
  }
}

function isPdf({ name, mimeType }: Pick<UploadedFile, 'name' | 'mimeType'>): boolean {
  return mimeType === PDF_TYPE || extname(name).toLowerCase() === '.pdf';
}

/** A PDF has no pages here only where its upload said so. */
function noImages(file: StoredFile): Failure {
  const why = isPdf(file)
    ? 'it was uploaded with convert_pdf=false. Upload it again with convert_pdf=true.'
    : 'it is neither PDF nor image.';
  return new Failure('bad_request', `File ${JSON.stringify(file.name)} cannot be converted to images: ${why}`, { code: 'NoImages' });
}

async function move(from: string, to: string): Promise<void> {
  try {
    await rename(from, to);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EXDEV') throw error;
    await copyFile(from, to);
  }
}
