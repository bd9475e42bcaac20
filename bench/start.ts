import { spawnSync } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from '../test/support/ports.js';
import { answers, ended, median, quern, table } from './measure.js';

const ROUNDS = 9;
const SETTLE_MS = 5_000;

/** Proportional set size of a process and all its descendants, in MB: pages that processes share count once. */
export function treeMemoryMb(pid: number): number {
  const parents = new Map<number, number>();
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    try {
      const stat = readFileSync(`/proc/${name}/stat`, 'utf8');
      parents.set(Number(name), Number(stat.slice(stat.lastIndexOf(')') + 2).split(' ')[1]));
    } catch {}
  }
  const belongs = (one: number): boolean => one === pid || (parents.has(one) && belongs(parents.get(one)!));
  let total = 0;
  for (const one of parents.keys()) {
    if (!belongs(one)) continue;
    try {
      total += Number(/^Pss:\s+(\d+)/m.exec(readFileSync(`/proc/${one}/smaps_rollup`, 'utf8'))?.[1] ?? 0);
    } catch {}
  }
  return total / 1024;
}

/** Measures start to first healthy answer and the idle memory of the process tree, and prints the table. */
export async function benchStart(): Promise<void> {
  const startMs: number[] = [];
  const emptyMs: number[] = [];
  const memoryMb: number[] = [];
  const dataDir = mkdtempSync(join(tmpdir(), 'quern-bench-'));
  for (let round = -1; round < ROUNDS; round++) {
    const before = performance.now();
    spawnSync(process.execPath, ['-e', '0']);
    if (round >= 0) emptyMs.push(performance.now() - before);
    const port = await freePort();
    const started = performance.now();
    const daemon = quern('start', port, dataDir);
    await answers(`http://127.0.0.1:${port}/health`);
    if (round >= 0) startMs.push(performance.now() - started);
    if (round >= ROUNDS - 3) {
      await new Promise((resolve) => setTimeout(resolve, SETTLE_MS));
      memoryMb.push(treeMemoryMb(daemon.pid!));
    }
    await ended(daemon);
  }
  table(`Start and idle, medians of ${ROUNDS} starts`, [
    {
      what: 'start to first healthy answer, ms (peer: an empty Node process)',
      ours: median(startMs).toFixed(0),
      peer: median(emptyMs).toFixed(0),
      ratio: `${(median(startMs) / median(emptyMs)).toFixed(2)}x`,
      goal: '<= 400',
    },
    { what: 'idle memory of the process tree (PSS), MB', ours: median(memoryMb).toFixed(0), peer: '', ratio: '', goal: '<= 130' },
  ]);
}
