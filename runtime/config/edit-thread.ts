// A worker that edits one large project file and ends; see `edit-aside.ts`.
import { parentPort, workerData } from 'node:worker_threads';
import { editYaml } from './edit.js';
import type { JsonObject } from './values.js';

const { text, next } = workerData as { text: string; next: JsonObject };
parentPort?.postMessage(editYaml(text, next));
