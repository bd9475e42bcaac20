import { Failure } from '../../schemas/errors.js';
import type { DocumentAnswer, DocumentTask } from '../engines/contracts/documents.js';
import type { OcrPage } from '../engines/contracts/ocr.js';
import { isLayoutModel } from '../engines/image-text/graphs.js';
import type { Picture } from '../pictures/picture.js';

/** Text is to be read from images. */
export interface OcrRequest {
  /** `surya`, `easyocr`, `paddleocr` or `tesseract`. */
  readonly model: string;
  readonly pictures: readonly Picture[];
  /** Codes; English where there are none. */
  readonly languages: readonly string[];
}

/** The text of each image, and the engine that read it: tesseract stands in for surya where surya's weights are absent. */
export interface OcrResult {
  readonly model: string;
  readonly pages: readonly OcrPage[];
  readonly notes: readonly string[];
}

/** Something is to be learnt from images of documents. */
export interface ExtractRequest {
  /** `org/repo`, or a folder of `{data_dir}/models`. */
  readonly model: string;
  readonly task: DocumentTask;
  readonly pictures: readonly Picture[];
  /** The i-th belongs to the i-th image; one alone belongs to all. Not more than images. */
  readonly prompts: readonly string[];
}

/** What looks at images: the runtime in this process, or one that is spoken to over HTTP. */
export interface VisionService {
  /** Throws `bad_request` for an unknown model and for what is no image, `unavailable` where weights are missing or an engine dies. */
  ocr(request: OcrRequest, signal: AbortSignal): Promise<OcrResult>;
  /**
   * Throws `unavailable` for a model that is not here or not whole, `bad_request` for one of another kind, for what is no image, and for
   * questions that are missing or more than images.
   */
  extract(request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]>;
}

/** The prompt of an image by its place in the request; null where it has none. */
export function promptFor({ prompts }: ExtractRequest, index: number): string | null {
  return prompts[index] ?? (prompts.length === 1 ? prompts[0]! : null);
}

const countOf = (count: number, what: string): string => `${count} ${what}${count === 1 ? '' : 's'}`;

/** Throws `bad_request` for prompts that belong to no image, and for an image without a question where the model needs one. */
export function checkPrompts(request: ExtractRequest): void {
  const { model, task, pictures, prompts } = request;
  if (prompts.length > pictures.length)
    throw new Failure(
      'bad_request',
      `${countOf(prompts.length, 'prompt')} came with ${countOf(pictures.length, 'image')}; the i-th belongs to the i-th image, so the others would be lost.`,
      { code: 'TooManyPrompts' },
    );
  if (task !== 'vqa' || !isLayoutModel(model)) return;
  const without = pictures.find((_, index) => !promptFor(request, index)?.trim());
  if (without === undefined) return;
  throw new Failure('bad_request', `A question about ${without.name} is needed for task "vqa" with this model; give it in prompts.`, {
    code: 'PromptMissing',
  });
}
