import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it, test } from 'node:test';
import { setImmediate as turn } from 'node:timers/promises';
import { lockFile } from '../../../../../runtime/models/cache/layout.js';
import { Rate } from '../../../../../runtime/models/fetch/download.js';
import { Flusher, Journal, release } from '../../../../../runtime/models/fetch/unfinished-file.js';

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

it('pieces that are all of their memory are freed, others keep what they share', () => {
  const whole = new Uint8Array(65_536).fill(7);
  const shared = new ArrayBuffer(65_536);
  const views = [new Uint8Array(shared, 0, 1000), new Uint8Array(shared, 1000)];
  const pooled = Buffer.from('a few bytes of the pool');
  release([whole, ...views, pooled, new Uint8Array(0), new Uint8Array(new SharedArrayBuffer(8)), whole]);
  assert.equal(whole.byteLength, 0);
  assert.deepEqual(
    views.map(({ byteLength }) => byteLength),
    [1000, 64_536],
  );
  assert.equal(pooled.toString(), 'a few bytes of the pool');
});

it('nothing to free is no failure', () => {
  release([]);
  const freed = new Uint8Array(8);
  release([freed]);
  release([freed]);
  assert.equal(freed.byteLength, 0);
});

const root = mkdtempSync(join(tmpdir(), 'quern-journal-'));
after(() => rmSync(root, { recursive: true, force: true }));
const SIZE = 70 * 1024 * 1024;

describe('the journal of a download', () => {
  it('goes on where it was, past a line that was cut', async () => {
    const path = join(root, 'a.parts');
    const first = await Journal.open(path, SIZE);
    assert.equal(first.parts.length, 3);
    first.parts[0]!.doneBytes = first.parts[0]!.sizeBytes;
    first.parts[2]!.doneBytes = 1000;
    for (const part of first.parts) await first.note(part);
    assert.deepEqual([first.doneBytes, first.unbrokenBytes], [33_554_432 + 1000, 33_554_432]);
    await first.close();
    appendFileSync(path, '1 33');
    const second = await Journal.open(path, SIZE);
    assert.deepEqual(
      second.parts.map(({ doneBytes }) => doneBytes),
      [33_554_432, 33, 1000],
    );
    second.parts[1]!.doneBytes = 77;
    await second.note(second.parts[1]!);
    await second.close();
    const third = await Journal.open(path, SIZE);
    assert.deepEqual(
      third.parts.map(({ doneBytes }) => doneBytes),
      [33_554_432, 77, 1000],
    );
    await third.remove();
  });

  for (const [what, text] of [
    ['of another size', `${SIZE + 1} 33554432\n0 5\n`],
    ['that is damaged', '\u0000\u0001 nonsense'],
    ['that claims too much', `${SIZE} 33554432\n0 99999999999\n7 1\n0 -1\n0 x\n`],
  ] as const) {
    it(`begins anew with one ${what}`, async () => {
      const path = join(root, `${what}.parts`);
      writeFileSync(path, text);
      const journal = await Journal.open(path, SIZE);
      assert.equal(journal.doneBytes, 0);
      await journal.close();
    });
  }
});

describe('the claim on a file', () => {
  const never = new AbortController().signal;

  it('is one at a time, and given up by those who stop waiting', async () => {
    const path = join(root, 'locks', 'one');
    const release = await lockFile(path, never);
    await assert.rejects(lockFile(path, AbortSignal.timeout(50)));
    let isSecond = false;
    const second = lockFile(path, never).then((free) => {
      isSecond = true;
      return free;
    });
    await new Promise((resolve) => setTimeout(resolve, 300));
    assert.equal(isSecond, false);
    await release();
    await (await second)();
  });

  it('is taken over from a dead process', async () => {
    const path = join(root, 'dead');
    writeFileSync(path, JSON.stringify({ pid: 2 ** 22 - 1, started: '1' }));
    await (await lockFile(path, never))();
  });
});

describe('the rate of a download', () => {
  it('is that of the last seconds, and begins anew with the download', () => {
    const rate = new Rate();
    assert.equal(rate.secondsFor(10), null);
    for (let second = 0; second <= 20; second++) rate.mark(second < 10 ? second * 1000 : 10_000 + (second - 10) * 100, second * 1000);
    assert.equal(rate.bytesPerSecond, 100);
    assert.equal(rate.secondsFor(1000), 10);
    rate.mark(0, 21_000);
    assert.equal(rate.bytesPerSecond, 0);
  });
});
