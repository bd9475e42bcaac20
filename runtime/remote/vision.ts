import { Failure, withOtherMessage } from '../../schemas/errors.js';
import type { DocumentItem } from '../../schemas/generated/universal/documents.js';
import type { OcrItem, OcrReply } from '../../schemas/generated/universal/ocr.js';
import { base64Length } from '../base/base64.js';
import { isObject } from '../base/json.js';
import type { DocumentAnswer } from '../engines/contracts/documents.js';
import { type Bases, RoundRobin, RUNTIME_TIMEOUT_MS, runtimeBase, sameBaseFirst } from '../net/ask/bases.js';
import { postToOne } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';
import { type Picture, readPicture, sizeOfPicture } from '../pictures/picture.js';
import { checkPrompts, type ExtractRequest, type OcrRequest, type OcrResult, promptFor, type VisionService } from '../vision/contract.js';

/** For a runtime that has no room or whose engine died; once, since an image that makes a model fail does so again. */
const RETRIES = 1;
/**
 * Bytes in base64 of pictures that are sent together, unless one alone has more. A runtime takes bodies of 96 MiB with 512 pictures, and those of more than
 * 16 MiB only while it has room for them.
 */
const GROUP_BYTES = 15 * 1024 * 1024;
/** Pictures that are read in one request: all of them have to be read before its time is up, and a page may take ten seconds. */
const GROUP_PICTURES = 16;

/** Pictures in their order, as many together as one request may bring. */
async function* groupsOf(pictures: readonly Picture[]): AsyncGenerator<readonly Picture[], void, undefined> {
  let group: Picture[] = [];
  let bytes = 0;
  for (const picture of pictures) {
    const size = base64Length(await sizeOfPicture(picture));
    if (group.length === GROUP_PICTURES || (group.length > 0 && bytes + size > GROUP_BYTES)) {
      yield group;
      group = [];
      bytes = 0;
    }
    group.push(picture);
    bytes += size;
  }
  if (group.length > 0) yield group;
}

async function encodePicture(picture: Picture): Promise<string> {
  const { buffer, byteOffset, length } = await readPicture(picture);
  return Buffer.from(buffer, byteOffset, length).toString('base64');
}

/** What a runtime says of the images of its request, in the names that they have here. */
function withOurNames(error: unknown, pictures: readonly Picture[]): unknown {
  if (!(error instanceof Failure)) return error;
  const message = error.message.replace(/\bimages\[(\d{1,3})\]/g, (name, index: string) => pictures[Number(index)]?.name ?? name);
  return message === error.message ? error : withOtherMessage(error, message);
}

/**
 * Asks universal runtimes over HTTP, in turn, and the next where one does not answer; the pictures of one request go to one runtime, in groups. What they refuse
 * is refused with their words.
 */
export class RemoteVision implements VisionService {
  readonly #outbound: Outbound;
  readonly #bases: RoundRobin;

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#outbound = outbound;
    this.#bases = new RoundRobin(urls.map(runtimeBase));
  }

  async ocr({ model, pictures, languages }: OcrRequest, signal: AbortSignal): Promise<OcrResult> {
    const bases = sameBaseFirst(this.#bases);
    const replies: OcrReply[] = [];
    for await (const group of groupsOf(pictures)) {
      const body = { model, languages, return_boxes: true };
      replies.push(await this.#post<OcrReply>('/v1/ocr', bases, body, group, signal));
    }
    const items: readonly OcrItem[] = replies.flatMap(({ data }) => data);
    return {
      // More than one only where another runtime had to go on.
      model: [...new Set(replies.map((reply) => reply.model))].join(', '),
      pages: items.map(({ text, confidence, boxes = [] }) => ({ text, confidence, boxes })),
      notes: [...new Set(replies.flatMap(({ notes = [] }) => notes))],
    };
  }

  /** One document at a time, as in this process: each may take as long as a request may. */
  async extract(request: ExtractRequest, signal: AbortSignal): Promise<readonly DocumentAnswer[]> {
    checkPrompts(request);
    const { model, task, pictures } = request;
    const bases = sameBaseFirst(this.#bases);
    const answers: DocumentAnswer[] = [];
    for (const [index, picture] of pictures.entries()) {
      const prompt = promptFor(request, index);
      const body = { model, task, prompts: prompt === null ? null : [prompt] };
      const { data } = await this.#post<{ data: [DocumentItem] }>('/v1/documents/extract', bases, body, [picture], signal);
      const { index: _index, classification_scores: scores, ...rest } = data[0];
      answers.push({ ...(rest as DocumentAnswer), ...(scores === undefined ? {} : { classificationScores: scores }) });
    }
    return answers;
  }

  async #post<Reply extends { data: readonly unknown[] }>(
    path: string,
    bases: Bases,
    rest: { readonly model: string },
    pictures: readonly Picture[],
    signal: AbortSignal,
  ): Promise<Reply> {
    const body = { ...rest, images: await Promise.all(pictures.map(encodePicture)) };
    const call = { path, body, model: rest.model, ours: true, timeoutMs: RUNTIME_TIMEOUT_MS, retries: RETRIES };
    const { base, answer } = await postToOne(this.#outbound, bases, call, signal).catch((error: unknown) => {
      throw withOurNames(error, pictures);
    });
    const data: unknown = isObject(answer) ? answer.data : undefined;
    if (Array.isArray(data) && data.length === pictures.length) return answer as Reply;
    const came = Array.isArray(data) ? data.length : 'no';
    throw new Failure('model_failed', `${base} answered nothing usable: ${came} answers came for ${pictures.length} images.`, {
      code: 'BadVisionAnswer',
    });
  }
}
