import { closeSync, fstatSync, openSync, readSync } from 'node:fs';
import { parentPort } from 'node:worker_threads';
import type { NativeSampleStream } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import { type FileBytes, LISTEN_RATE } from './contract.js';
import { CHUNKS_AHEAD, type DecodeAnswer, type DecodeCall, type DecodeTask } from './decode.js';
import { AUDIO_READERS } from './index.js';
import { listenResampler } from './pcm.js';
import { sniff } from './sniff.js';

// A worker that decodes one audio file after another; see `decode.ts`.

/** Samples of a chunk: two seconds. */
const CHUNK_SAMPLES = 2 * LISTEN_RATE;
/** Samples that the resampler takes at a time. */
const PIECE_SAMPLES = 1 << 16;

// Some libraries print what is wrong with a file. A stream that the daemon empties would keep its process alive.
process.stderr.write = () => true;

let credit = 0;
let stopped = false;
let waiting: (() => void) | undefined;

const answer = (message: DecodeAnswer, moved: ArrayBuffer[] = []): void => parentPort!.postMessage(message, moved);

/** A file on disk, or bytes that were sent along. */
function openBytes({ input }: DecodeTask): FileBytes & { close(): void } {
  if (typeof input !== 'string')
    return { size: input.length, read: (at, length) => input.slice(at, Math.min(input.length, at + length)), close: () => {} };
  const file = openSync(input, 'r');
  return {
    size: fstatSync(file).size,
    read: (at, length) => {
      const bytes = new Uint8Array(length);
      let filled = 0;
      while (filled < length) {
        const count = readSync(file, bytes, filled, length - filled, at + filled);
        if (count === 0) break;
        filled += count;
      }
      return bytes.subarray(0, filled);
    },
    close: () => closeSync(file),
  };
}

/** The part of a file behind its tags. */
const from = (file: FileBytes, at: number): FileBytes =>
  at === 0 ? file : { size: Math.max(0, file.size - at), read: (place, length) => file.read(at + place, length) };

/** Sends samples in chunks, when they are wanted. */
class Chunks {
  readonly #mostSamples: number;
  #chunk = new Float32Array(CHUNK_SAMPLES);
  #filled = 0;
  #sent = 0;

  constructor(mostSeconds: number) {
    this.#mostSamples = mostSeconds * LISTEN_RATE;
  }

  async add(samples: Float32Array): Promise<void> {
    for (let at = 0; at < samples.length; ) {
      const piece = samples.subarray(at, at + CHUNK_SAMPLES - this.#filled);
      this.#chunk.set(piece, this.#filled);
      this.#filled += piece.length;
      at += piece.length;
      if (this.#filled === CHUNK_SAMPLES) await this.send();
    }
  }

  async send(): Promise<void> {
    if (this.#filled === 0) return;
    this.#sent += this.#filled;
    if (this.#sent > this.#mostSamples)
      throw new Failure('too_large', `The audio is longer than ${this.#mostSamples / LISTEN_RATE} s; send it in shorter files.`);
    while (credit === 0 && !stopped) await new Promise<void>((resolve) => (waiting = resolve));
    if (stopped) return;
    credit -= 1;
    const samples = this.#chunk.slice(0, this.#filled);
    this.#filled = 0;
    answer({ kind: 'samples', samples }, [samples.buffer]);
    // Lets in what was sent to this thread.
    await new Promise(setImmediate);
  }
}

async function decode(task: DecodeTask): Promise<void> {
  const file = openBytes(task);
  try {
    const { kind, at } = task.isRaw ? { kind: 'raw' as const, at: 0 } : sniff(file);
    const chunks = new Chunks(task.mostSeconds);
    let resampler: NativeSampleStream | undefined;
    let rate = 0;
    for await (const audio of AUDIO_READERS[kind].read(from(file, at))) {
      if (stopped) return;
      if (audio.rate !== rate) {
        if (resampler) await chunks.add(resampler.flush());
        rate = audio.rate;
        resampler = listenResampler(rate);
      }
      for (let place = 0; place < audio.samples.length; place += PIECE_SAMPLES)
        await chunks.add(resampler!.push(audio.samples.subarray(place, place + PIECE_SAMPLES)));
    }
    if (resampler) await chunks.add(resampler.flush());
    await chunks.send();
  } finally {
    file.close();
  }
}

/** Anything that a library throws is a fault of the file, as far as the caller is concerned. */
function failureOf(error: unknown): DecodeAnswer {
  if (error instanceof Failure) {
    // Bounds of the core, such as those of a rate, are met by what the file says.
    const kind = error.kind === 'invalid' ? 'bad_request' : error.kind;
    return { kind: 'failure', failure: kind, message: error.message, code: error.code };
  }
  const reason = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { kind: 'failure', failure: 'bad_request', message: 'The audio file is damaged or cut off.', code: 'damaged_audio', reason };
}

parentPort!.on('message', (call: DecodeCall) => {
  if (call.method === 'more') credit += 1;
  if (call.method === 'stop') stopped = true;
  waiting?.();
  if (call.method !== 'decode') return;
  credit = CHUNKS_AHEAD;
  stopped = false;
  decode(call.task).then(
    () => answer({ kind: 'end' }),
    (error: unknown) => answer(failureOf(error)),
  );
});
