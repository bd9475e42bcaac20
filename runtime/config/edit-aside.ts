import { once } from 'node:events';
import { Worker } from 'node:worker_threads';
import { editYaml } from './edit.js';
import type { JsonObject } from './values.js';

/** Longest text in characters that is edited on the event loop: a few milliseconds of work. A worker costs tens of them before it begins. */
const MAX_INLINE_CHARACTERS = 16 * 1024;

/** Large edits run one after the other, so that many at once do not start many threads. */
let lastEdit: Promise<unknown> = Promise.resolve();

/** `editYaml`, in a worker thread where the text is large, so that it does not hold up other requests. */
export async function editYamlAside(text: string, next: JsonObject): Promise<string> {
  if (Math.max(text.length, JSON.stringify(next).length) <= MAX_INLINE_CHARACTERS) return editYaml(text, next);
  const edit = lastEdit.then(() => inWorker(text, next));
  lastEdit = edit.catch(() => undefined);
  return edit;
}

async function inWorker(text: string, next: JsonObject): Promise<string> {
  const worker = new Worker(new URL('./edit-thread.js', import.meta.url), { workerData: { text, next } });
  try {
    // Rejects when the worker fails, which emits `error`.
    const [edited] = (await once(worker, 'message')) as [string];
    return edited;
  } finally {
    await worker.terminate();
  }
}
