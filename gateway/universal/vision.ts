import type { DocumentAnswer, DocumentTask } from '../../runtime/engines/contracts/documents.js';
import type { OcrPage } from '../../runtime/engines/contracts/ocr.js';
import type { Files } from '../../runtime/files/files.js';
import { picturesOf } from '../../runtime/pictures/from-text.js';
import type { Picture } from '../../runtime/pictures/picture.js';
import type { Services } from '../../runtime/services/services.js';
import type { OcrResult } from '../../runtime/vision/contract.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { DocumentItem, ExtractReply, ExtractRequest } from '../../schemas/generated/universal/documents.js';
import type { OcrItem, OcrReply, OcrRequest } from '../../schemas/generated/universal/ocr.js';

const TASKS: readonly DocumentTask[] = ['extraction', 'vqa', 'classification'];

/** The task of a name. Throws `bad_request` that lists them. */
export function taskOf(name: string): DocumentTask {
  const task = TASKS.find((one) => one === name);
  if (task) return task;
  throw new Failure('bad_request', `Task ${JSON.stringify(name)} is not known; give ${TASKS.join(', ')}.`, { code: 'UnknownTask' });
}

/** An image's text as the wire has it. */
export function ocrItem({ text, confidence, boxes }: OcrPage, index: number, withBoxes: boolean): OcrItem {
  const item: OcrItem = { index, text, confidence };
  if (withBoxes && boxes.length > 0) item.boxes = [...boxes] as [OcrPage['boxes'][number], ...OcrPage['boxes']];
  return item;
}

/** The answer of an OCR endpoint. */
export function ocrReply({ model, pages, notes }: OcrResult, withBoxes: boolean): OcrReply {
  return {
    object: 'list',
    data: pages.map((page, index) => ocrItem(page, index, withBoxes)),
    model,
    usage: { images_processed: pages.length },
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
  };
}

/** What a model says of one document as the wire has it: the optional keys only where they hold something. */
function documentItem(
  { confidence, text, fields = [], answer, classification, classificationScores: scores = {} }: DocumentAnswer,
  index: number,
): DocumentItem {
  const item: DocumentItem = { index, confidence };
  if (text) item.text = text;
  if (fields.length > 0) item.fields = fields.map((one) => ({ ...one, bbox: one.bbox && [...one.bbox] }));
  if (answer) item.answer = answer;
  if (classification) item.classification = classification;
  if (Object.keys(scores).length > 0) item.classification_scores = { ...scores };
  return item;
}

/** The answer of a documents endpoint. */
export function extractReply(answers: readonly DocumentAnswer[], model: string, task: DocumentTask): ExtractReply {
  return { object: 'list', data: answers.map(documentItem), model, task, usage: { documents_processed: answers.length } };
}

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
