import type { DocumentAnswer, DocumentTask } from '../../runtime/engines/contracts/documents.js';
import type { OcrPage } from '../../runtime/engines/contracts/ocr.js';
import type { OcrResult } from '../../runtime/vision/contract.js';
import { Failure } from '../../schemas/errors.js';
import type { DocumentItem, ExtractReply } from '../../schemas/generated/universal/documents.js';
import type { OcrItem, OcrReply } from '../../schemas/generated/universal/ocr.js';

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
