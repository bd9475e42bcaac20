import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import type { JsonObject } from '../base/json.js';
import { editYaml } from './edit.js';
import { type FileFormat, Unparsable } from './parse.js';
import { formatOf, parseProjectFile, unreadable } from './project-file.js';

/** Longest text of a project file in characters that is worked on in the event loop: a few milliseconds. A worker costs tens of them before it begins. */
export const MAX_INLINE_CHARACTERS = 8 * 1024;

/** What a worker is asked for: to say what a text says, or, with `next`, to make a YAML text say that. */
export interface WorkerTask {
  readonly text: string;
  /** `yaml` unless given. */
  readonly format?: FileFormat;
  readonly next?: JsonObject;
}

/** What a worker answers: a result, or why the text is no project file. */
export type WorkerAnswer = { readonly result: unknown } | { readonly unparsable: string };

/** Large texts are worked on one after the other, so that many at once do not start many threads. */
let last: Promise<unknown> = Promise.resolve();

/** `editYaml`, in a worker thread where the text is large, so that it does not hold up other requests. */
export async function editLargeYaml(text: string, next: JsonObject): Promise<string> {
  if (Math.max(text.length, JSON.stringify(next).length) <= MAX_INLINE_CHARACTERS) return editYaml(text, next);
  return inTurn<string>({ text, next });
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
  return inTurn<JsonObject>({ text, format });
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
    return answer.result as Result;
  } finally {
    await worker.terminate();
  }
}
