import assert from 'node:assert/strict';
import { test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { Flusher } from '../../../../../runtime/models/fetch/flusher.js';

const ENOUGH_BYTES = 64 * 1024 * 1024;

/** A file whose flushes end when the test says so. */
function file() {
  const waiting: { done: () => void; lost: (error: Error) => void }[] = [];
  const datasync = (): Promise<void> => new Promise((done, lost) => waiting.push({ done, lost }));
  return { waiting, datasync };
}

test('a file is flushed while it is written, one flush at a time, and once more at its end', async () => {
  const { waiting, datasync } = file();
  const flusher = new Flusher({ datasync });
  flusher.written(ENOUGH_BYTES - 1);
  assert.equal(waiting.length, 0);
  flusher.written(1);
  flusher.written(ENOUGH_BYTES);
  assert.equal(waiting.length, 1);
  waiting[0]!.done();
  await turn();
  flusher.written(1);
  assert.equal(waiting.length, 2);
  const ended = flusher.end();
  waiting[1]!.done();
  await turn();
  assert.equal(waiting.length, 3);
  waiting[2]!.done();
  await ended;
  assert.equal(await flusher.failed(), false);
});

test('what a flush lost ends the writing, and is told once more at the end', async () => {
  const { waiting, datasync } = file();
  const flusher = new Flusher({ datasync });
  flusher.written(ENOUGH_BYTES);
  waiting[0]!.lost(new Error('EIO'));
  await turn();
  assert.throws(() => flusher.written(1), /EIO/);
  const ended = flusher.end();
  await turn();
  waiting[1]!.done();
  await assert.rejects(ended, /EIO/);
  assert.equal(await flusher.failed(), true);
});

test('the last flush counts as well', async () => {
  const { waiting, datasync } = file();
  const flusher = new Flusher({ datasync });
  const ended = flusher.end();
  await turn();
  waiting[0]!.lost(new Error('EIO'));
  await assert.rejects(ended, /EIO/);
  assert.equal(await flusher.failed(), true);
});

test('whether a flush failed is known when the one under way has ended', async () => {
  const { waiting, datasync } = file();
  const flusher = new Flusher({ datasync });
  flusher.written(ENOUGH_BYTES);
  const failed = flusher.failed();
  waiting[0]!.lost(new Error('EIO'));
  assert.equal(await failed, true);
});
