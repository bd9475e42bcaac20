import { type ChildProcess, spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freePort } from './ports.js';
import { until } from './until.js';

/** The program as it is delivered: packed, which starts in less time than the compiled files. */
export const MAIN = join(import.meta.dirname, '..', '..', 'bundle', 'main.js');
const PROBE = join(import.meta.dirname, '..', '..', 'bench', 'loop-probe.js');
const READY_LIMIT_MS = 120_000;

/** A whole daemon under test, in its own process and data directory. */
export interface DaemonUnderTest {
  core: string;
  runtime: string;
  dataDir: string;
  child: ChildProcess;
  /** Everything written to standard output and error so far. */
  output(): string;
  /** Sends a signal and waits for the end; resolves to the exit code (null when a signal killed it). */
  end(signal?: NodeJS.Signals): Promise<number | null>;
}

const folders: string[] = [];
process.on('exit', () => {
  for (const folder of folders) rmSync(folder, { recursive: true, force: true });
});

/** A new empty folder for a data directory, removed at the end of this process. */
export function emptyDataDir(): string {
  const folder = mkdtempSync(join(tmpdir(), 'quern-test-'));
  folders.push(folder);
  return folder;
}

/** Runs the program with the given arguments to its end; `program` is what Node is given before them. */
export function runToEnd(
  args: string[],
  env: Record<string, string> = {},
  program: readonly string[] = [MAIN],
): Promise<{ code: number | null; output: string }> {
  const child = spawn(process.execPath, [...program, ...args], { env: { ...process.env, ...env }, stdio: ['ignore', 'pipe', 'pipe'] });
  let output = '';
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  return new Promise((resolve) => child.on('close', (code) => resolve({ code, output })));
}

/** Whether something answers at an address, with an error or not; 401 is the answer of a daemon with a key. `ca` is the certificate of one that speaks https. */
function answers(url: string, ca: string | undefined): Promise<boolean> {
  if (ca === undefined)
    return fetch(url).then(
      (response) => response.ok || response.status === 401,
      () => false,
    );
  return new Promise((resolve) => {
    get(url, { ca, agent: false, checkServerIdentity: () => undefined }, (response) => resolve(response.resume().statusCode === 200)).on(
      'error',
      () => resolve(false),
    );
  });
}

/**
 * Starts a daemon on free ports (that of the core may be given) and waits until both APIs answer. One that is `probed` answers
 * the messages of `bench/loop-probe.ts`. `ca` is the certificate of one that is started with `--tls-cert`.
 */
export async function startDaemon(
  options: { dataDir?: string; args?: string[]; env?: Record<string, string>; probed?: boolean; port?: number; ca?: string } = {},
): Promise<DaemonUnderTest> {
  const dataDir = options.dataDir ?? emptyDataDir();
  const [port, runtimePort] = [options.port ?? (await freePort()), await freePort()];
  const child = spawn(
    process.execPath,
    [
      '--enable-source-maps',
      ...(options.probed ? ['--import', PROBE] : []),
      MAIN,
      'start',
      '--port',
      String(port),
      '--runtime-port',
      String(runtimePort),
      '--data-dir',
      dataDir,
      ...(options.args ?? []),
    ],
    {
      // Models come from the hub only where a test says so.
      env: { QUERN_PULL: 'never', ...process.env, ...options.env },
      stdio: ['ignore', 'pipe', 'pipe', ...(options.probed ? (['ipc'] as const) : [])],
    },
  );
  let output = '';
  for (const stream of [child.stdout!, child.stderr!]) stream.on('data', (chunk: Buffer) => (output += chunk.toString()));
  const gone = new Promise<number | null>((resolve) => child.on('close', (code) => resolve(code)));
  const scheme = options.ca === undefined ? 'http' : 'https';
  const daemon: DaemonUnderTest = {
    core: `${scheme}://127.0.0.1:${port}`,
    runtime: `${scheme}://127.0.0.1:${runtimePort}`,
    dataDir,
    child,
    output: () => output,
    end: (signal = 'SIGTERM') => {
      child.kill(signal);
      return gone;
    },
  };
  const endMs = Date.now() + READY_LIMIT_MS;
  for (const url of [`${daemon.core}/health/liveness`, `${daemon.runtime}/health`]) {
    for (;;) {
      if (child.exitCode !== null || child.signalCode !== null)
        throw new Error(`the daemon ended with ${child.exitCode ?? child.signalCode}:\n${output}`);
      if (Date.now() > endMs) throw new Error(`the daemon did not answer at ${url}:\n${output}`);
      if (await answers(url, options.ca)) break;
      await new Promise((resolve) => setTimeout(resolve, 20));
    }
  }
  // It greets before it answers, but what it writes may come behind the answers.
  await until(() => /^Try it:\n.+\n/m.test(output), 'the daemon greets');
  return daemon;
}
