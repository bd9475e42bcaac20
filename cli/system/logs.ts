import { open } from 'node:fs/promises';
import { StringDecoder } from 'node:string_decoder';
import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../schemas/errors.js';
import { logFile } from '../daemon/background.js';
import { withoutControls } from '../output.js';
import { numberOf, type Run } from '../verb.js';

const LINES = 100;
const CHUNK_BYTES = 64 * 1024;
/** Lines at the end are looked for in this many bytes. */
const TAIL_BYTES = 4 * 1024 ** 2;
const LOOK_AGAIN_MS = 250;

/** Prints the end of what the daemon said, and with `--follow` what it says from then on. */
export const logs: Run = async (call) => {
  const { daemon, out, flags } = call;
  const path = logFile(daemon);
  const wanted = numberOf(call, 'lines') ?? LINES;
  const file = await open(path, 'r').catch((cause: unknown) => {
    const where = 'A daemon that runs in a terminal or under a service manager writes there instead.';
    throw new Failure('not_found', `there is no log at ${path}: it is written by daemons that a command started. ${where}`, { cause });
  });
  try {
    const { size } = await file.stat();
    let at = Math.max(0, size - TAIL_BYTES);
    const tail = Buffer.alloc(size - at);
    await file.read(tail, 0, tail.length, at);
    const said = tail.toString('utf8').trimEnd().split('\n').slice(-wanted);
    for (const line of said) print(line);
    at = size;
    const chunk = Buffer.alloc(CHUNK_BYTES);
    const decoder = new StringDecoder('utf8');
    let begun = '';
    while (flags.follow === true) {
      const { bytesRead } = await file.read(chunk, 0, CHUNK_BYTES, at);
      at += bytesRead;
      if (bytesRead === 0) await sleep(LOOK_AGAIN_MS);
      const lines = (begun + decoder.write(chunk.subarray(0, bytesRead))).split('\n');
      begun = lines.pop() ?? '';
      for (const line of lines) print(line);
    }
  } finally {
    await file.close();
  }
  return undefined;

  function print(line: string): void {
    out.line(withoutControls(line));
    out.value({ line });
  }
};
