// A worker that reads one file behind its writer and ends with its digest; see `digest.ts`.
import { createHash } from 'node:crypto';
import { closeSync, openSync, readSync } from 'node:fs';
import { parentPort, workerData } from 'node:worker_threads';
import type { DigestTask } from './unfinished-file.js';

const { path, kind, sizeBytes } = workerData as DigestTask;
const hash = createHash(kind === 'git' ? 'sha1' : 'sha256');
if (kind === 'git') hash.update(`blob ${sizeBytes}\0`);
const piece = Buffer.allocUnsafe(1024 * 1024);
const file = openSync(path, 'r');
let read = 0;

function readTo(end: number): void {
  while (read < end) {
    const count = readSync(file, piece, 0, Math.min(piece.length, end - read), read);
    if (count === 0) throw new Error(`${path} ends after ${read} bytes`);
    hash.update(piece.subarray(0, count));
    read += count;
  }
  if (read < sizeBytes) return;
  closeSync(file);
  parentPort!.postMessage(hash.digest('hex'));
  parentPort!.close();
}

parentPort!.on('message', readTo);
if (sizeBytes === 0) readTo(0);
