import type { OcrBox, OcrPage } from '../contracts/ocr.js';

/** A page of its pieces: its confidence is their mean. */
export function pageOf(text: string, boxes: readonly OcrBox[]): OcrPage {
  const sum = boxes.reduce((total, { confidence }) => total + confidence, 0);
  return { text, confidence: boxes.length === 0 ? 0 : sum / boxes.length, boxes };
}
