import type { DocumentAnswer, DocumentTask } from '../engines/contracts/documents.js';
import type { OcrPage } from '../engines/contracts/ocr.js';
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
