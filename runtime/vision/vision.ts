import type { DocumentAnswer } from '../engines/contracts/documents.js';
import type { Models } from '../models/residency/models.js';
import type { ExtractRequest, OcrRequest, OcrResult, VisionSource } from './contract.js';

/** Looks at images with the models of this machine. Its code is loaded at the first request, so that a start does not wait for it. */
export class Vision implements VisionSource {
  readonly #models: Models;

  constructor(models: Models) {
    this.#models = models;
  }

  async ocr(request: OcrRequest, signal: AbortSignal): Promise<OcrResult> {
    const { readImages } = await import('./ocr.js');
    return readImages(this.#models, request, signal);
  }

  async extract(request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
    const { askDocuments } = await import('./documents.js');
    return askDocuments(this.#models, request, signal);
  }
}
