// A worker that does one work on one large project file and ends; see `yaml-worker.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import { Failure } from '../../schemas/errors.js';
import { editYaml } from './edit.js';
import { maskedText, unmaskedText } from './masked-text.js';
import { parseProjectText, Unparsable } from './parse.js';
import type { WorkerAnswer, WorkerTask } from './yaml-worker.js';

function resultOf(task: WorkerTask): unknown {
  if (task.work === 'edit') return editYaml(task.text, task.next);
  if (task.work === 'show') return maskedText(task);
  if (task.work === 'complete') return unmaskedText(task.text, task.present, task.where);
  return parseProjectText(task.text, task.format).value;
}

function answerTo(task: WorkerTask): WorkerAnswer {
  try {
    return { result: resultOf(task) };
  } catch (cause) {
    if (cause instanceof Unparsable) return { unparsable: cause.message };
    if (!(cause instanceof Failure)) throw cause;
    const { kind, message, code, errors } = cause;
    return { failure: { kind, message, code, ...(errors ? { errors } : {}) } };
  }
}

parentPort?.postMessage(answerTo(workerData as WorkerTask));
