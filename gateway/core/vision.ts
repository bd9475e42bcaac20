import { extname } from 'node:path';
import type { OcrPage } from '../../runtime/engines/contracts/ocr.js';
import type { Files } from '../../runtime/files/files.js';
import { uploadLimitBytes } from '../../runtime/files/limits.js';
import { picturesOf } from '../../runtime/pictures/from-text.js';
import type { Picture } from '../../runtime/pictures/picture.js';
import type { Services } from '../../runtime/services/services.js';
import type { OcrResult } from '../../runtime/vision/contract.js';
import { type Endpoint, endpoint, type FormBody, type Reply, type Request, type UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { ExtractForm, OcrForm } from '../../schemas/generated/core/vision.js';
import { parseJsonInTurns } from '../http/json-pieces.js';
import { extractReply, ocrReply, taskOf } from '../universal/vision.js';

/** What the vision endpoints work on. */
export interface CoreVisionContext {
  readonly files: Files;
  readonly core: Pick<Services, 'vision'>;
}

const EXTENSIONS = ['.pdf', '.png', '.jpg', '.jpeg', '.gif', '.webp', '.bmp', '.tiff', '.tif'];
const PDF_DPI = 150;
/** The field `images`; a file takes more. */
const IMAGES_FIELD_BYTES = 64 * 1024 * 1024;

/** The images of the field `images`: a JSON array of texts, or one image where it is no JSON. */
async function imagesOf(text: string): Promise<string[]> {
  let value: unknown;
  try {
    value = await parseJsonInTurns(Buffer.from(text));
  } catch {
    return [text];
  }
  if (Array.isArray(value) && value.length > 0 && value.every((one) => typeof one === 'string')) return value;
  throw new Failure('bad_request', 'images must be a JSON array with one or more base64 images, or one data URI.', { code: 'BadImages' });
}

/** Gives `use` the images of a form, and whether they are pages of one PDF. */
async function withPictures<T>(
  { files }: CoreVisionContext,
  { body, files: [file], signal }: Request,
  use: (pictures: readonly Picture[], isPdf: boolean) => Promise<T>,
): Promise<T> {
  if (file) return withFile(files, file, signal, use);
  const { images } = body as OcrForm;
  if (images === undefined || images.trim() === '')
    throw new Failure('bad_request', 'Either file or images must be provided.', { code: 'NoImages' });
  return use(await picturesOf(await imagesOf(images)), false);
}

async function withFile<T>(
  files: Files,
  upload: UploadedFile,
  signal: AbortSignal,
  use: (pictures: readonly Picture[], isPdf: boolean) => Promise<T>,
): Promise<T> {
  const extension = extname(upload.name).toLowerCase();
  if (!EXTENSIONS.includes(extension))
    throw new Failure(
      'bad_request',
      `File ${JSON.stringify(upload.name)} has an unsupported type; supported are ${EXTENSIONS.join(', ')}.`,
      {
        code: 'UnsupportedFile',
      },
    );
  if (extension !== '.pdf') {
    if (upload.sizeBytes === 0) throw new Failure('bad_request', `File ${JSON.stringify(upload.name)} is empty.`, { code: 'EmptyFile' });
    return use([{ name: upload.name, path: upload.path }], false);
  }
  const file = await files.add(upload, { convertPdf: true, dpi: PDF_DPI, purpose: 'vision' }, signal);
  // What is held stays on disk until it is released; nobody else needs to see it.
  const { pictures, release } = await files.pictures(file.id, signal).finally(() => files.forget(file.id));
  return use(pictures, true).finally(release);
}

/** All pages as one: texts joined with an empty line, the mean confidence. */
function joinPages({ pages, ...rest }: OcrResult): OcrResult {
  const confidence = pages.reduce((sum, page) => sum + page.confidence, 0) / pages.length;
  const page: OcrPage = { text: pages.map(({ text }) => text).join('\n\n'), confidence, boxes: pages.flatMap(({ boxes }) => boxes) };
  return { ...rest, pages: [page] };
}

const splitList = (text: string | undefined): string[] =>
  (text ?? '')
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== '');

/** The questions of the field `prompts`; a comma is part of the question where there is one picture only. */
function promptsOf(text: string | undefined, pictures: number): string[] {
  if (pictures !== 1) return splitList(text);
  const prompt = (text ?? '').trim();
  return prompt === '' ? [] : [prompt];
}

function ocr(context: CoreVisionContext, request: Request): Promise<Reply> {
  const { model = 'surya', languages, return_boxes = false, parse_by_page = false } = request.body as OcrForm;
  return withPictures(context, request, async (pictures, isPdf) => {
    const result = await context.core.vision.ocr({ model, pictures, languages: splitList(languages) }, request.signal);
    if (!isPdf || parse_by_page) return { json: ocrReply(result, return_boxes) };
    const reply = ocrReply(joinPages(result), return_boxes);
    return { json: { ...reply, usage: { images_processed: pictures.length, pages_combined: pictures.length } } };
  });
}

function extract(context: CoreVisionContext, request: Request): Promise<Reply> {
  const { model, prompts, task: name = 'extraction' } = request.body as ExtractForm;
  const task = taskOf(name);
  return withPictures(context, request, async (pictures) => {
    const asked = { model, task, pictures, prompts: promptsOf(prompts, pictures.length) };
    const answers = await context.core.vision.extract(asked, request.signal);
    return { json: extractReply(answers, model, task) };
  });
}

const form = (name: 'OcrForm' | 'ExtractForm'): FormBody<CoreVisionContext> => ({
  form: `core/vision#${name}`,
  maxFiles: 1,
  fileLimitBytes: uploadLimitBytes(),
  fieldLimitBytes: IMAGES_FIELD_BYTES,
});

/** OCR and documents, for forms. */
export const visionEndpoints: Endpoint<CoreVisionContext>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/vision/ocr',
    id: 'vision_ocr',
    access: 'users',
    summary: 'Read the text of a PDF or of images',
    tag: 'vision',
    multipart: form('OcrForm'),
    response: 'universal/ocr#OcrReply',
    handler: ocr,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/vision/documents/extract',
    id: 'vision_extract_documents',
    access: 'users',
    summary: 'Ask a model about a PDF or about images of documents',
    tag: 'vision',
    multipart: form('ExtractForm'),
    response: 'universal/documents#ExtractReply',
    handler: extract,
  }),
];
