// A worker that edits or parses one large project file and ends; see `yaml-worker.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import { editYaml } from './edit.js';
import { parseProjectText } from './parse.js';
import type { WorkerTask } from './yaml-worker.js';

const { text, format = 'yaml', next } = workerData as WorkerTask;
parentPort?.postMessage(next ? editYaml(text, next) : parseProjectText(text, format).value);
