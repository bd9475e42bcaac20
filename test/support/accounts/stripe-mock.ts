import { type ChildProcess, spawn } from 'node:child_process';
import { existsSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { until } from '../until.js';
import type { MirroredRequest } from './stripe-stand-in.js';

const PROGRAM = resolve('build/stripe-mock/stripe-mock');

/**
 * The processor's own description of its interface as a server: it refuses paths, parameters and values that the description has not, and
 * answers with examples of what it has. It remembers nothing.
 */
export class StripeMock {
  /** Why it cannot be had here. */
  static readonly missing = existsSync(PROGRAM) ? undefined : 'stripe-mock is not there (.ci/run installs it where Go is)';
  readonly url: URL;
  readonly #child: ChildProcess;
  readonly #folder: string;

  private constructor(url: URL, child: ChildProcess, folder: string) {
    this.url = url;
    this.#child = child;
    this.#folder = folder;
  }

  static async start(): Promise<StripeMock> {
    const folder = mkdtempSync(join(tmpdir(), 'quern-stripe-mock-'));
    // Without a place of its own for HTTPS it would listen on all addresses.
    const args = ['-http-addr', '127.0.0.1:0', '-https-unix', join(folder, 'https.sock')];
    const child = spawn(PROGRAM, args, { stdio: ['ignore', 'pipe', 'inherit'] });
    let output = '';
    child.stdout.on('data', (chunk) => (output += chunk));
    const address = (): string | undefined => /HTTP at address: (\S+)\n/.exec(output)?.[1];
    await until(() => address() !== undefined || child.exitCode !== null, 'stripe-mock listens');
    if (address() === undefined) throw new Error(`stripe-mock did not start: ${output}`);
    return new StripeMock(new URL(`http://${address()}`), child, folder);
  }

  close(): void {
    this.#child.kill('SIGKILL');
    rmSync(this.#folder, { recursive: true, force: true });
  }

  /** Asks what a request of ours would be answered: undefined where it is taken, else the refusal. */
  async refusalOf({ method, path, headers, body }: MirroredRequest): Promise<string | undefined> {
    const kept = ['authorization', 'content-type', 'stripe-version'].flatMap((name) => {
      const value = headers[name];
      return typeof value === 'string' ? [[name, value] as [string, string]] : [];
    });
    const response = await fetch(new URL(path, this.url), {
      method,
      headers: kept,
      ...(body.byteLength > 0 ? { body: new Uint8Array(body) } : {}),
    });
    return response.ok ? undefined : `${method} ${path}: ${await response.text()}`;
  }
}
