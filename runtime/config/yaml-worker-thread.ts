// A worker that edits or parses one large project file and ends; see `yaml-worker.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import { editYaml } from './edit.js';
import { parseProjectText, Unparsable } from './parse.js';
import type { WorkerAnswer, WorkerTask } from './yaml-worker.js';

function work({ text, format = 'yaml', next }: WorkerTask): WorkerAnswer {
  if (next) return { result: editYaml(text, next) };
  try {
    return { result: parseProjectText(text, format).value };
  } catch (cause) {
    if (cause instanceof Unparsable) return { unparsable: cause.message };
    throw cause;
  }
}

parentPort?.postMessage(work(workerData as WorkerTask));
