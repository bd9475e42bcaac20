import type { OcrEngine, OcrName } from '../contracts/ocr.js';
import { easyocr, paddleocr, surya } from './networks/engine.js';
import { tesseract } from './tesseract/engine.js';

/** Every OCR engine; one more is one more line here and a stage in `test/conformance/ocr.test.ts`. */
export const OCR_ENGINES = [surya, easyocr, paddleocr, tesseract] as const satisfies readonly OcrEngine[];

/** Names that callers may give. */
export const OCR_NAMES: readonly OcrName[] = OCR_ENGINES.map(({ name }) => name);

/** The engine of a name in any case of letters. */
export function ocrEngine(name: string): OcrEngine | undefined {
  return OCR_ENGINES.find((engine) => engine.name === name.toLowerCase());
}
