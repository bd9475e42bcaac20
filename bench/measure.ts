import { type ChildProcess, fork, spawn } from 'node:child_process';
import { join } from 'node:path';
import { emptyDataDir } from '../test/support/daemon.js';

/** The folder of the compiled benchmarks' project. */
export const ROOT = join(import.meta.dirname, '..', '..');

/** The middle of a list (the mean of both middles for an even length). */
export function median(values: number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const middle = sorted.length >> 1;
  return sorted.length % 2 ? sorted[middle]! : (sorted[middle - 1]! + sorted[middle]!) / 2;
}

/** The value below which the share `fraction` of a list lies. */
export function quantile(values: number[], fraction: number): number {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * fraction))] ?? Number.NaN;
}

/** Polls an address until it answers 200; rejects after `limitMs`. */
export async function answers(url: string, limitMs = 60_000): Promise<void> {
  const until = performance.now() + limitMs;
  for (;;) {
    try {
      if ((await fetch(url)).ok) return;
    } catch {}
    if (performance.now() > until) throw new Error(`${url} did not answer within ${limitMs} ms`);
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

/** Starts a program that is killed with the benchmark; its output is shown only when it dies. `asked`: it answers `ask`. */
export function program(command: string, args: string[], env: Record<string, string> = {}, asked = false): ChildProcess {
  const child = spawn(command, args, {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'pipe', 'pipe', ...(asked ? ['ipc' as const] : [])],
  });
  let tail = '';
  for (const stream of [child.stdout!, child.stderr!])
    stream.on('data', (chunk: Buffer) => {
      tail = (tail + chunk.toString()).slice(-4000);
    });
  child.on('exit', (code) => {
    if (code) process.stderr.write(`${command} ended with ${code}:\n${tail}\n`);
  });
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}

/** Resolves when the program answers at a URL. Throws when it ends before. */
export async function started(child: ChildProcess, url: string): Promise<void> {
  const gone = new Promise<never>((_, reject) => {
    child.once('exit', (code, signal) => reject(new Error(`${child.spawnfile} ended with ${code ?? signal} before it answered`)));
  });
  await Promise.race([answers(url), gone]);
}

/** Ends a program and waits until it is gone. */
export function ended(child: ChildProcess): Promise<void> {
  return new Promise((resolve) => {
    if (child.exitCode !== null || child.signalCode !== null) return resolve();
    child.on('exit', () => resolve());
    child.kill('SIGTERM');
  });
}

/** Sends one message to a forked benchmark part and waits for its `{result}`. */
export function ask<Result>(child: ChildProcess, message: object): Promise<Result> {
  return new Promise((resolve, reject) => {
    child.once('message', (reply: { result?: Result; error?: string }) =>
      reply.error === undefined ? resolve(reply.result as Result) : reject(new Error(reply.error)),
    );
    child.send(message);
  });
}

/** Forks a compiled benchmark part by its name. */
export function part(name: string): ChildProcess {
  const child = fork(join(ROOT, 'build/bench', `${name}.js`));
  process.on('exit', () => child.kill('SIGKILL'));
  return child;
}

/**
 * Starts our daemon on a core port (`start`) or a runtime port (`runtime`), with a data directory of its own unless one is given. `probed`:
 * it can be asked for its `LoopDelay`. `start` has a runtime port as well where one is given.
 */
export function quern(verb: 'start' | 'runtime', port: number, dataDir = emptyDataDir(), probed = false, runtimePort = 0): ChildProcess {
  const ports = verb === 'start' ? ['--port', String(port), '--runtime-port', String(runtimePort)] : ['--runtime-port', String(port)];
  const probe = probed ? ['--import', join(ROOT, 'build/bench/loop-probe.js')] : [];
  return program(process.execPath, [...probe, join(ROOT, 'build/bundle/main.js'), verb, ...ports, '--data-dir', dataDir], {}, probed);
}

/** Event-loop delay as the probe of a daemon reports it, in milliseconds. */
export interface LoopDelay {
  p50Ms: number;
  p99Ms: number;
  maxMs: number;
  /** The p99 of what the loop's own work takes between two turns, by processor time: a loaded machine does not lengthen it. */
  ownP99Ms: number;
  /** The longest such time. */
  ownMaxMs: number;
}

/** One row of the report. */
export interface Row {
  what: string;
  ours: string;
  peer: string;
  ratio: string;
  goal: string;
}

/** A table of the report. */
export interface Table {
  readonly title: string;
  readonly rows: readonly Row[];
}

let printed: Table[] = [];

/** Prints a table as Markdown, and keeps it for docs/benchmarks.md. */
export function table(title: string, rows: Row[]): void {
  printed.push({ title, rows });
  process.stdout.write(`\n### ${title}\n\n| measure | Quern | peer | ratio | goal |\n|---|---|---|---|---|\n`);
  for (const row of rows) process.stdout.write(`| ${row.what} | ${row.ours} | ${row.peer} | ${row.ratio} | ${row.goal} |\n`);
}

/** The tables that were printed since this was called last. */
export function takeTables(): Table[] {
  const tables = printed;
  printed = [];
  return tables;
}
