import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Failure, withOtherMessage } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { Picture } from '../../pictures/picture.js';
import { audio } from '../parsers/audio.js';
import { extensionOf, type SourceFile, type Transcript } from '../parsers/contract.js';
import type { PageImages } from './page-images.js';

/** Reads the text of images, one text each. */
export type ReadImages = (pictures: readonly Picture[], languages: readonly string[], signal: AbortSignal) => Promise<readonly string[]>;

/** What reading pages without a text layer needs. */
export interface ScansParts {
  readonly pageImages: PageImages;
  readonly ocr: ReadImages;
}

/** Pages of one file that are read from their image; at a second a page a book would hold up all else. */
const SCANNED_LIMIT = 200;
const DPI = 200;
/** So many pages in a row that fail end the reading: most likely what reads them is not there. */
const FAILED_LIMIT = 3;

/**
 * The file, a PDF with the texts of its scanned pages as their images show them. What cannot be read is left as it was, for the parser to
 * say why; aborting throws.
 */
export async function withScannedPages(parts: ScansParts, file: SourceFile, signal: AbortSignal): Promise<SourceFile> {
  if (!isPdf(file)) return file;
  const pages = await parts.pageImages.withoutText(file, signal).catch(() => [] as number[]);
  signal.throwIfAborted();
  return pages.length === 0 ? file : { ...file, pageTexts: await textsOfPages(parts, file, pages, signal) };
}

/** Whether a file is a PDF by what is said of it. */
const isPdf = ({ name, mimeType }: SourceFile): boolean => /\.pdf$/i.test(name) || mimeType === 'application/pdf';

async function textsOfPages(
  { pageImages, ocr }: ScansParts,
  file: SourceFile,
  pages: readonly number[],
  signal: AbortSignal,
): Promise<Record<number, string>> {
  const texts: Record<number, string> = {};
  const folder = await mkdtemp(join(tmpdir(), 'quern-pages-'));
  try {
    const wanted = pages.slice(0, SCANNED_LIMIT);
    let failed = 0;
    for await (const { page, path } of pageImages.render({ file, pages: wanted, dpi: DPI, folder }, signal)) {
      try {
        const [text = ''] = await ocr([{ name: `${file.name}, page ${page}`, path }], [], signal);
        if (text.trim() !== '') texts[page] = text;
        failed = 0;
      } catch (error) {
        signal.throwIfAborted();
        failed += 1;
        if (failed === FAILED_LIMIT) throw error;
        log('warn', 'a scanned page was not read', { file: file.name, page, error });
      }
      await rm(path, { force: true });
    }
  } catch (error) {
    signal.throwIfAborted();
    // The text layers of other pages are worth having without it.
    log('warn', 'scanned pages were not read', { file: file.name, error });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
  return texts;
}

/** Writes down what is said in a file. Throws `not_found` where no model for it is here, `bad_request` for what is no audio. */
export type ReadRecording = (file: SourceFile, signal: AbortSignal) => Promise<Transcript>;

/** Whether a file is a recording by what is said of it. */
const isRecording = ({ name, mimeType }: SourceFile): boolean => audio.extensions.includes(extensionOf(name)) || /^audio\//i.test(mimeType);

/** The file, a recording with what is said in it. Throws `invalid` that says why it could not be written down. */
export async function withTranscript(read: ReadRecording, file: SourceFile, signal: AbortSignal): Promise<SourceFile> {
  if (!isRecording(file)) return file;
  try {
    return { ...file, transcript: await read(file, signal) };
  } catch (error) {
    signal.throwIfAborted();
    if (!(error instanceof Failure)) throw error;
    if (error.kind === 'bad_request') throw new Failure('invalid', error.message, { code: error.code, cause: error });
    throw withOtherMessage(error, `${file.name} could not be written down: ${error.message}`);
  }
}
