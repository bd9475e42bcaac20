import { PassThrough, Readable } from 'node:stream';
import { runProgram } from '../../cli/program.js';

/** How a command line ended, and what it wrote. */
export interface Ran {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

/** Runs a command line in this process, with a text on its standard input, which may pass for a terminal. It writes to a terminal of so many columns, or to none. */
export async function ranProgram(
  args: readonly string[],
  {
    input = '',
    env = {},
    isTerminal = false,
    columns,
  }: { input?: string; env?: Record<string, string>; isTerminal?: boolean; columns?: number } = {},
): Promise<Ran> {
  const screen = columns === undefined ? {} : { isTTY: true, columns };
  const [stdout, stderr] = [Object.assign(new PassThrough(), screen), Object.assign(new PassThrough(), screen)];
  const written = { stdout: '', stderr: '' };
  stdout.setEncoding('utf8').on('data', (text: string) => (written.stdout += text));
  stderr.setEncoding('utf8').on('data', (text: string) => (written.stderr += text));
  const stdin = Object.assign(Readable.from(input === '' ? [] : [Buffer.from(input)]), { isTTY: isTerminal });
  const code = await runProgram(args, { stdin, stdout, stderr, env });
  await new Promise(setImmediate);
  return { code, ...written };
}
