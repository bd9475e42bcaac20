import { type ChildProcess, spawn } from 'node:child_process';
import { accessSync, constants, statSync } from 'node:fs';
import { delimiter, isAbsolute, join, resolve } from 'node:path';
import type { Readable, Writable } from 'node:stream';
import type { JSONRPCMessage, Transport } from '@modelcontextprotocol/client';
import { Failure } from '../../schemas/errors.js';
import { breathe } from '../base/loop.js';
import { MAX_MESSAGE_BYTES, Noise, tooLong } from './limits.js';

/** Memory that each process of a server may take, in KiB: what it alone can write to. */
const MEMORY_KIBIBYTES = 2 * 1024 * 1024;
/** Time for an orderly end before all its processes are killed. */
const CLOSE_LIMIT_MS = 1_000;
/** Longest wait for the rest of what an ended process wrote. */
const DRAIN_LIMIT_MS = 500;
/** Characters of what a server prints to its error stream that are kept for messages. */
const TAIL_CHARACTERS = 4_096;
const TAIL_LINES = 3;
/** Bytes that wait for a server to read them. */
const MAX_WAITING_BYTES = 16 * 1024 * 1024;
/** Of each end of a line that is too long, what is looked at for the number of the request that it answers. */
const ENDS_BYTES = 256;
/** Of the range that JSON-RPC leaves to implementations. */
const TOO_LONG_CODE = -32_001;
const NEWLINE = 10;
/** Variables of the daemon that a server gets unasked: what finds and runs a program. Everything else is configured. */
const PASSED = ['HOME', 'LANG', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'TMPDIR', 'TZ', 'USER', 'SystemRoot', 'windir', 'PATHEXT', 'COMSPEC'];
/**
 * Runs the command that its arguments name, which no shell reads. The watcher before it waits at descriptor 3, whose other end the daemon holds:
 * when that closes, because the daemon closed it or died, it kills the whole process group, itself included.
 */
const LAUNCH = `ulimit -c 0; ulimit -d ${MEMORY_KIBIBYTES}; { read -r _ <&3; kill -s KILL -- -$$; } </dev/null >/dev/null 2>&1 & exec "$@" 3<&-`;

/** What to run. */
interface ProcessCommand {
  readonly command: string;
  readonly args: readonly string[];
  /** What is configured, references resolved. */
  readonly env: Readonly<Record<string, string>>;
  readonly directory: string;
}

/** The path of a program by the PATH that it will have. Throws `unavailable` where there is none. */
function programOf({ command, env, directory }: ProcessCommand): string {
  const isPath = command.includes('/');
  const path = env.PATH ?? process.env.PATH ?? '';
  const places = isPath
    ? [isAbsolute(command) ? command : resolve(directory, command)]
    : path.split(delimiter).map((folder) => join(folder, command));
  const found = places.find(isProgram);
  if (found !== undefined) return found;
  const where = isPath ? 'there is no program' : 'no folder of PATH has a program';
  const message = `cannot be started: ${where} '${command.slice(0, 200)}'. Install it, or give its full path`;
  throw new Failure('unavailable', message, { code: 'CommandNotFound' });
}

function isProgram(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/**
 * A server as a process of its own process group: messages are lines of JSON on its standard streams. What is no message is passed over; what is
 * too long, or too much, ends the process. Its memory is bounded on Linux. No process of its group outlives the daemon.
 */
export class ProcessTransport implements Transport {
  readonly #command: ProcessCommand;
  readonly #lines = new Lines();
  readonly #noise = new Noise();
  #child: ChildProcess | undefined;
  #errors = '';
  #killedFor: string | undefined;
  #ending: string | undefined;
  #exited: Promise<void> = Promise.resolve();
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: (message: JSONRPCMessage) => void;
  /** The client library tells by these two members that this is a process. */
  readonly stderr = null;

  constructor(command: ProcessCommand) {
    this.#command = command;
  }

  get pid(): number | null {
    return this.#child?.pid ?? null;
  }

  /** How the process ended, as the rest of a sentence about it; undefined while it lives. */
  get ending(): string | undefined {
    return this.#ending;
  }

  async start(): Promise<void> {
    const program = programOf(this.#command);
    const { args, env, directory } = this.#command;
    const inherited = Object.fromEntries(PASSED.flatMap((name) => (process.env[name] === undefined ? [] : [[name, process.env[name]]])));
    const child = spawn('/bin/sh', ['-c', LAUNCH, 'sh', program, ...args], {
      cwd: directory,
      env: { ...inherited, ...env },
      detached: true,
      stdio: ['pipe', 'pipe', 'pipe', 'pipe'],
    });
    this.#child = child;
    this.#exited = new Promise((done) => {
      const end = (): void => done(this.#end());
      child.once('exit', (code, signal) => {
        this.#kill(signal ? `was ended by ${signal}` : `exited with code ${code}`);
        // What it wrote last is still read; a process that left the group may hold the stream open.
        setTimeout(end, DRAIN_LIMIT_MS).unref();
      });
      child.once('close', end);
      child.once('error', (error) => {
        this.#kill(`could not be started: ${error.message}`);
        end();
      });
    });
    // A closed pipe is told by the end of the process.
    for (const stream of child.stdio) stream?.on('error', () => {});
    child.stderr!.setEncoding('utf8').on('data', (text: string) => {
      this.#errors = (this.#errors + text).slice(-TAIL_CHARACTERS);
    });
    void this.#read(child.stdout!);
    await new Promise<void>((started, failed) => {
      child.once('spawn', started);
      child.once('error', failed);
    });
  }

  async send(message: JSONRPCMessage): Promise<void> {
    const stdin = this.#child?.stdin;
    if (!stdin || this.#killedFor !== undefined) throw new Failure('unavailable', 'the server has ended.');
    if (stdin.writableLength > MAX_WAITING_BYTES) throw new Failure('busy', 'the server does not read what it is sent.');
    stdin.write(`${JSON.stringify(message)}\n`);
  }

  /** Closes its input, waits a moment for an orderly end, and kills what is left. */
  async close(): Promise<void> {
    const child = this.#child;
    if (!child) return;
    child.stdin?.end();
    const timer = setTimeout(() => this.#kill('was closed'), CLOSE_LIMIT_MS);
    await this.#exited;
    clearTimeout(timer);
  }

  /** Ends all its processes at once; `reason` continues a sentence about the server, and the first one counts. */
  #kill(reason: string): void {
    this.#killedFor ??= reason;
    (this.#child?.stdio[3] as Writable | undefined)?.destroy();
  }

  #end(): void {
    if (!this.#child) return;
    const last = this.#errors
      .split('\n')
      .map((line) => line.trim())
      .filter((line) => line !== '')
      .slice(-TAIL_LINES)
      .join(' / ');
    this.#ending = `${this.#killedFor ?? 'ended'}${last === '' ? '' : `; it said last: ${last}`}`;
    for (const stream of this.#child.stdio) stream?.destroy();
    this.#child = undefined;
    this.onclose?.();
  }

  async #read(stdout: Readable): Promise<void> {
    try {
      for await (const chunk of stdout as AsyncIterable<Buffer>) {
        this.#noise.add(chunk.length);
        for (const line of this.#lines.add(chunk)) {
          this.#take(line);
          await breathe();
        }
      }
    } catch (error) {
      this.#kill(error instanceof Failure ? error.message : 'could not be read');
    }
  }

  #take(line: Line): void {
    const message = line.bytes > MAX_MESSAGE_BYTES ? refusal(line) : messageOf(line.start);
    if (!message) return;
    if (!('method' in message)) this.#noise.forget();
    try {
      this.onmessage?.(message);
    } catch (error) {
      this.onerror?.(error as Error);
    }
  }
}

/** What a line says; undefined where that is no message. */
function messageOf(line: Buffer): JSONRPCMessage | undefined {
  // Most of what is no message is seen at once.
  if (!/^\s*\{/.test(line.toString('latin1', 0, 16))) return undefined;
  try {
    const value = JSON.parse(line.toString('utf8')) as JSONRPCMessage | null;
    return typeof value === 'object' && value?.jsonrpc === '2.0' ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What stands for an answer that is too long. Throws `too_large` where the line does not tell what it answers. */
function refusal({ start, end, bytes }: Line): JSONRPCMessage {
  const [, id] =
    /"id"\s*:\s*(\d{1,15})\s*\}?\s*$/.exec(end.toString('latin1')) ??
    /^\s*\{(?:"jsonrpc"\s*:\s*"2\.0"\s*,\s*)?"id"\s*:\s*(\d{1,15})\s*,/.exec(start.subarray(0, ENDS_BYTES).toString('latin1')) ??
    [];
  const failure = tooLong(bytes);
  if (id === undefined) throw failure;
  return { jsonrpc: '2.0', id: Number(id), error: { code: TOO_LONG_CODE, message: failure.message } };
}

/** A line of a stream. Of one that is longer than a message may be only the start and the end are kept. */
interface Line {
  readonly bytes: number;
  readonly start: Buffer;
  readonly end: Buffer;
}

/** Cuts a stream into lines, and keeps no more than a message of each. */
class Lines {
  #pieces: Buffer[] = [];
  #bytes = 0;
  #end: Buffer = Buffer.alloc(0);

  /** The lines that end in this chunk, those without content left out. */
  *add(chunk: Buffer): Generator<Line, void, undefined> {
    let from = 0;
    for (let at = chunk.indexOf(NEWLINE); at >= 0; at = chunk.indexOf(NEWLINE, from)) {
      this.#keep(chunk.subarray(from, at));
      from = at + 1;
      const line = {
        bytes: this.#bytes,
        start: this.#pieces.length === 1 ? this.#pieces[0]! : Buffer.concat(this.#pieces),
        end: this.#end,
      };
      this.#pieces = [];
      this.#bytes = 0;
      this.#end = Buffer.alloc(0);
      if (line.bytes > 0) yield line;
    }
    if (from < chunk.length) this.#keep(chunk.subarray(from));
  }

  #keep(piece: Buffer): void {
    if (this.#bytes <= MAX_MESSAGE_BYTES) this.#pieces.push(piece);
    this.#bytes += piece.length;
    this.#end = Buffer.concat([this.#end, piece.subarray(-ENDS_BYTES)]).subarray(-ENDS_BYTES);
  }
}
