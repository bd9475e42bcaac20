import { readFile } from 'node:fs/promises';
import type { ExtractReply } from '../../schemas/generated/universal/documents.js';
import type { OcrReply } from '../../schemas/generated/universal/ocr.js';
import type { DocumentAnswer } from '../engines/documents/contract.js';
import type { Outbound } from '../net/outbound.js';
import type { Picture } from '../pictures/picture.js';
import { RUNTIME_TIMEOUT_MS } from '../providers/compat/limits.js';
import { RoundRobin, runtimeBase } from '../providers/remote-universal.js';
import { postToOne } from '../rag/json-hosts.js';
import type { ExtractRequest, OcrRequest, OcrResult, VisionSource } from './contract.js';

async function encoded(pictures: readonly Picture[]): Promise<string[]> {
  return Promise.all(pictures.map(async ({ bytes, path }) => Buffer.from(bytes ?? (await readFile(path!))).toString('base64')));
}

/** For a runtime that has no room or whose engine died; once, since an image that makes a model fail does so again. */
const RETRIES = 1;

/** Asks universal runtimes over HTTP, in turn. What they refuse is refused with their words. */
export class RemoteVision implements VisionSource {
  readonly #outbound: Outbound;
  readonly #bases: RoundRobin;

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#outbound = outbound;
    this.#bases = new RoundRobin(urls.map(runtimeBase));
  }

  async ocr({ model, pictures, languages }: OcrRequest, signal: AbortSignal): Promise<OcrResult> {
    const body = { model, images: await encoded(pictures), languages, return_boxes: true };
    const reply = (await this.#post('/v1/ocr', model, body, signal)) as OcrReply;
    const pages = reply.data.map(({ text, confidence, boxes = [] }) => ({ text, confidence, boxes }));
    return { model: reply.model, pages, notes: reply.notes ?? [] };
  }

  async extract({ model, task, pictures, prompts }: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
    const body = { model, task, images: await encoded(pictures), prompts: prompts.length === 0 ? null : prompts };
    const reply = (await this.#post('/v1/documents/extract', model, body, signal)) as ExtractReply;
    return reply.data.map(({ index: _index, classification_scores: scores, ...rest }) => ({
      ...(rest as DocumentAnswer),
      ...(scores === undefined ? {} : { classificationScores: scores }),
    }));
  }

  async #post(path: string, model: string, body: unknown, signal: AbortSignal): Promise<unknown> {
    const call = { path, body, model, ours: true, timeoutMs: RUNTIME_TIMEOUT_MS, retries: RETRIES };
    return (await postToOne(this.#outbound, this.#bases, call, signal)).answer;
  }
}
