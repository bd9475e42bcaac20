import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { Failure, type FailureItem, type FailureKind } from '../../schemas/errors.js';
import type { JsonObject } from '../base/json.js';
import { editYaml } from './edit.js';
import { type FileText, maskedText, type ParsedText, unmaskedText } from './masked-text.js';
import { type FileFormat, Unparsable } from './parse.js';
import type { Path } from './problems.js';
import { formatOf, parseProjectFile, unreadable } from './project-file.js';

/** Longest text of a project file in characters that is worked on in the event loop: a few milliseconds. A worker costs tens of them before it begins. */
export const MAX_INLINE_CHARACTERS = 8 * 1024;

/**
 * What a worker is asked for: to say what a text says; to make a YAML text say something else; to show a text without its secrets; or to put those of the
 * present file back into one.
 */
export type WorkerTask =
  | ({ readonly work: 'parse' | 'show' } & FileText)
  | { readonly work: 'edit'; readonly text: string; readonly next: JsonObject }
  | { readonly work: 'complete'; readonly text: string; readonly present: FileText | null; readonly where: Path };

/** What a worker answers: a result, why the text is no project file, or what is wrong with it. */
export type WorkerAnswer =
  | { readonly result: unknown }
  | { readonly unparsable: string }
  | { readonly failure: { kind: FailureKind; message: string; code: string; errors?: readonly FailureItem[] } };

/** Large texts are worked on one after the other, so that many at once do not start many threads. */
let last: Promise<unknown> = Promise.resolve();

/** `editYaml`, in a worker thread where the text is large, so that it does not hold up other requests. */
export async function editLargeYaml(text: string, next: JsonObject): Promise<string> {
  if (Math.max(text.length, JSON.stringify(next).length) <= MAX_INLINE_CHARACTERS) return editYaml(text, next);
  return inTurn<string>({ work: 'edit', text, next });
}

/** What the text of a project file says, found out in a worker thread where the text is large. Throws `invalid`, beginning with `subject`, for what is no project file. */
export async function parseLargeProjectFile(fileName: string, text: string, subject: string): Promise<JsonObject> {
  if (text.length <= MAX_INLINE_CHARACTERS) return parseProjectFile(fileName, text, subject).value;
  try {
    return await parseInWorker(text, formatOf(fileName));
  } catch (cause) {
    throw cause instanceof Unparsable ? unreadable(subject, fileName, cause.message, cause) : cause;
  }
}

/** What the text of a project file says, found out in a worker thread; rejects with `Unparsable` for what is no project file. */
export function parseInWorker(text: string, format: FileFormat): Promise<JsonObject> {
  return inTurn<JsonObject>({ work: 'parse', text, format });
}

/** `maskedText`, in a worker thread where the text is large. */
export async function maskLargeText(file: FileText): Promise<string> {
  return file.text.length <= MAX_INLINE_CHARACTERS ? maskedText(file) : inTurn<string>({ work: 'show', ...file });
}

/** `unmaskedText`, in a worker thread where a text is large. */
export async function unmaskLargeText(text: string, present: FileText | null, where: Path): Promise<ParsedText> {
  if (Math.max(text.length, present?.text.length ?? 0) <= MAX_INLINE_CHARACTERS) return unmaskedText(text, present, where);
  return inTurn({ work: 'complete', text, present, where });
}

function inTurn<Result>(task: WorkerTask): Promise<Result> {
  const work = last.then(() => inWorker<Result>(task));
  last = work.catch(() => undefined);
  return work;
}

async function inWorker<Result>(task: WorkerTask): Promise<Result> {
  const worker = new Worker(new URL('./yaml-worker-thread.js', import.meta.url), { workerData: task });
  try {
    // Rejects when the worker fails, which emits `error`.
    const [answer] = (await once(worker, 'message')) as [WorkerAnswer];
    if ('unparsable' in answer) throw new Unparsable(answer.unparsable);
    if ('failure' in answer) throw new Failure(answer.failure.kind, answer.failure.message, answer.failure);
    return answer.result as Result;
  } finally {
    await worker.terminate();
  }
}
