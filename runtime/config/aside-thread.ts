// A worker that edits or parses one large project file and ends; see `aside.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import type { AsideTask } from './aside.js';
import { editYaml } from './edit.js';
import { parseProjectText } from './parse.js';

const { text, format = 'yaml', next } = workerData as AsideTask;
parentPort?.postMessage(next ? editYaml(text, next) : parseProjectText(text, format).value);
