import type { DocumentAnswer } from '../engines/contracts/documents.js';
import type { Models } from '../models/residency/models.js';
import type { ExtractRequest, OcrRequest, OcrResult, VisionService } from './contract.js';
import { askDocuments } from './documents.js';
import { readImages } from './ocr.js';

/** Looks at images with the models of this machine. */
export class Vision implements VisionService {
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  ocr(request: OcrRequest, signal: AbortSignal): Promise<OcrResult> {
    return readImages(this.#models, request, signal);
  }

  extract(request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
    return askDocuments(this.#models, request, signal);
  }
}
