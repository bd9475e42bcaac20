import assert from 'node:assert/strict';
import { fork } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { run } from '../../../support/run.js';

const CHILD = join(import.meta.dirname, 'filling-child.js');

interface Report {
  written: number;
  kind?: string;
  readable?: boolean;
  unhandled?: number;
}

/** Fills a store in a child until it fails, calls `makeRoom`, and returns what the child saw before and after. */
async function fill(dir: string, makeRoom: (pid: number) => void, before: (pid: number) => void = () => {}): Promise<Report[]> {
  const child = fork(CHILD, [dir], { stdio: ['ignore', 'ignore', 'ignore', 'ipc'] });
  const reports: Report[] = [];
  const ended = new Promise<void>((resolve, reject) => {
    child.on('message', (report: Report) => {
      reports.push(report);
      if (reports.length === 1) before(child.pid!);
      if (reports.length === 2) makeRoom(child.pid!);
      child.send('go on');
    });
    child.once('exit', (code, signal) => (code === 0 ? resolve() : reject(new Error(`child ended with ${code ?? signal}`))));
  });
  await ended;
  return reports;
}

describe('store on a full disk', () => {
  it('refuses with disk_full on a small file system, keeps what it had, and goes on when there is room', async (context) => {
    const dir = mkdtempSync(join(tmpdir(), 'quern-full-'));
    if (!run('mount', '-t', 'tmpfs', '-o', 'size=4m', 'tmpfs', dir)) {
      context.skip('needs the right to mount a file system');
      rmSync(dir, { recursive: true });
      return;
    }
    try {
      const [, full, after] = await fill(dir, () => run('mount', '-o', 'remount,size=32m', dir));
      assert.equal(full?.kind, 'disk_full');
      assert.ok(full.written > 0);
      assert.equal(full.readable, true);
      assert.deepEqual(after, { written: 1, readable: true, unhandled: 0 });
    } finally {
      run('umount', dir);
      rmSync(dir, { recursive: true, force: true });
    }
  });

  it('survives a file size limit, keeps what it had, and goes on when it is lifted', async (context) => {
    if (!run('prlimit', '--version')) return context.skip('needs prlimit');
    const dir = mkdtempSync(join(tmpdir(), 'quern-limit-'));
    const limit = (bytes: string) => (pid: number) => run('prlimit', '--pid', String(pid), `--fsize=${bytes}:unlimited`);
    try {
      const [, full, after] = await fill(dir, limit('unlimited'), limit('1500000'));
      assert.equal(full?.kind, 'disk_full');
      assert.ok(full.written > 0);
      assert.equal(full?.readable, true);
      assert.deepEqual(after, { written: 1, readable: true, unhandled: 0 });
    } finally {
      rmSync(dir, { recursive: true, force: true });
    }
  });
});
