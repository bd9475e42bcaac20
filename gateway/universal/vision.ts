import type { Files } from '../../runtime/files/files.js';
import type { Picture } from '../../runtime/pictures/picture.js';
import type { Services } from '../../runtime/services/services.js';
import { picturesOf } from '../../runtime/vision/images.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { ExtractRequest } from '../../schemas/generated/universal/documents.js';
import type { OcrRequest } from '../../schemas/generated/universal/ocr.js';
import { extractReply, ocrReply, taskOf } from './vision-wire.js';

/** What the endpoints that look at images work on. */
export interface VisionContext {
  readonly files: Files;
  readonly here: Pick<Services, 'vision'>;
}

/** A body of images as base64 at most; `/v1/files` takes more. */
const IMAGES_BODY_BYTES = 96 * 1024 * 1024;

/** Gives `use` the images of a request: those of its file, else those in its body. */
async function withPictures<T>(
  { files }: VisionContext,
  { file_id, images }: Pick<OcrRequest, 'file_id' | 'images'>,
  signal: AbortSignal,
  use: (pictures: readonly Picture[]) => Promise<T>,
): Promise<T> {
  if (typeof file_id === 'string' && file_id !== '') {
    const { pictures, release } = await files.pictures(file_id, signal).catch((error: unknown) => {
      if (!(error instanceof Failure && error.code === 'NoImages')) throw error;
      throw new Failure('bad_request', `No images found for file_id: ${file_id}. ${error.message}`, { code: 'NoImages' });
    });
    return use(pictures).finally(release);
  }
  if (!images || images.length === 0) throw new Failure('bad_request', 'Either images or file_id must be provided.', { code: 'NoImages' });
  return use(await picturesOf(images));
}

function ocr(context: VisionContext, request: Request): Promise<Reply> {
  const body = request.body as OcrRequest;
  return withPictures(context, body, request.signal, async (pictures) => {
    const wanted = { model: body.model ?? 'surya', pictures, languages: body.languages ?? [] };
    return { json: ocrReply(await context.here.vision.ocr(wanted, request.signal), body.return_boxes === true) };
  });
}

function extract(context: VisionContext, request: Request): Promise<Reply> {
  const body = request.body as ExtractRequest;
  const task = taskOf(body.task ?? 'extraction');
  return withPictures(context, body, request.signal, async (pictures) => {
    const wanted = { model: body.model, task, pictures, prompts: body.prompts ?? [] };
    return { json: extractReply(await context.here.vision.extract(wanted, request.signal), body.model, task) };
  });
}

/** OCR and documents. */
export const visionEndpoints: Endpoint<VisionContext>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/ocr',
    id: 'ocr',
    access: 'users',
    summary: 'Read the text of images',
    tag: 'vision',
    body: 'universal/ocr#OcrRequest',
    response: 'universal/ocr#OcrReply',
    bodyLimitBytes: IMAGES_BODY_BYTES,
    handler: ocr,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/documents/extract',
    id: 'extract_documents',
    access: 'users',
    summary: 'Ask a model about images of documents',
    tag: 'vision',
    body: 'universal/documents#ExtractRequest',
    response: 'universal/documents#ExtractReply',
    bodyLimitBytes: IMAGES_BODY_BYTES,
    handler: extract,
  }),
];
