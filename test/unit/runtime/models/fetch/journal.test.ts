import assert from 'node:assert/strict';
import { appendFileSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { claim } from '../../../../../runtime/models/cache/lock.js';
import { Rate } from '../../../../../runtime/models/fetch/download.js';
import { Journal } from '../../../../../runtime/models/fetch/journal.js';

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
    const release = await claim(path, never);
    await assert.rejects(claim(path, AbortSignal.timeout(50)));
    let isSecond = false;
    const second = claim(path, never).then((free) => {
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
    await (await claim(path, never))();
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
