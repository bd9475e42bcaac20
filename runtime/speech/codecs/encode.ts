import { Worker } from 'node:worker_threads';
import { Failure } from '../../../schemas/errors.js';
import type { AudioEncoder, AudioFormat, AudioFormatName } from './contract.js';
import { aac, flac } from './mediabunny.js';
import { mp3 } from './mp3.js';
import { opus } from './opus.js';
import { pcm, wav } from './wav.js';

/** Every format that speech is written in. */
export const AUDIO_FORMATS = { mp3, opus, aac, flac, wav, pcm } as const satisfies Record<AudioFormatName, AudioFormat>;

/** What an encoding thread is asked; calls for one encoding are answered in their order. */
export type EncodeCall = { readonly call: number; readonly encoding: number } & (
  | { readonly method: 'begin'; readonly format: AudioFormatName }
  | { readonly method: 'push'; readonly samples: Float32Array }
  | { readonly method: 'end' | 'close' }
);

/** Its answer: bytes, or the reason why not, for the log. */
export type EncodeAnswer = { readonly call: number } & ({ readonly bytes: Uint8Array } | { readonly error: string });

/** Threads that encode at the same time; each runs any number of encodings. */
const MOST_THREADS = 2;
/** A thread without work is kept so long. */
const IDLE_MS = 30_000;
/** Samples of one call that are encoded in the event loop where the format is cheap: 0.2 ms. */
const SAMPLES_AT_ONCE = 65_536;

/** The calls of `EncodeCall` without their numbers. */
type Asked = EncodeCall extends infer Call ? (Call extends EncodeCall ? Omit<Call, 'call' | 'encoding'> : never) : never;

interface Waiting {
  resolve(bytes: Uint8Array): void;
  reject(reason: Failure): void;
}

/** One worker with the encodings that it runs. */
class EncodeThread {
  readonly #worker = new Worker(new URL('./encode-thread.js', import.meta.url));
  readonly #waiting = new Map<number, Waiting>();
  readonly #encodings = new Set<number>();
  #calls = 0;
  #idle: NodeJS.Timeout | undefined;
  #ended: Failure | undefined;

  constructor() {
    this.#worker.unref();
    this.#worker.on('message', (answer: EncodeAnswer) => {
      const waiting = this.#waiting.get(answer.call);
      this.#waiting.delete(answer.call);
      if (this.#waiting.size === 0) this.#worker.unref();
      if ('bytes' in answer) waiting?.resolve(answer.bytes);
      else waiting?.reject(new Failure('internal', 'The audio could not be encoded.', { cause: answer.error }));
    });
    this.#worker.on('error', (error) => this.#fail(error));
    this.#worker.on('exit', () => this.#fail(undefined));
  }

  get load(): number {
    return this.#encodings.size;
  }

  begin(encoding: number): void {
    clearTimeout(this.#idle);
    this.#encodings.add(encoding);
  }

  ask(encoding: number, asked: Asked): Promise<Uint8Array> {
    if (this.#ended) return Promise.reject(this.#ended);
    const call = ++this.#calls;
    return new Promise((resolve, reject) => {
      this.#waiting.set(call, { resolve, reject });
      this.#worker.ref();
      this.#worker.postMessage({ ...asked, call, encoding } as EncodeCall);
    });
  }

  end(encoding: number): void {
    if (!this.#encodings.delete(encoding) || this.#encodings.size > 0) return;
    this.#idle = setTimeout(() => {
      threads.delete(this);
      void this.#worker.terminate();
    }, IDLE_MS).unref();
  }

  #fail(cause: Error | undefined): void {
    threads.delete(this);
    this.#ended ??= new Failure('internal', 'The thread that encodes audio ended.', { cause });
    for (const { reject } of this.#waiting.values()) reject(this.#ended);
    this.#waiting.clear();
  }
}

const threads = new Set<EncodeThread>();
let encodings = 0;

/** The thread with the least to do; a new one while there are few. */
function thread(): EncodeThread {
  const least = [...threads].sort((one, other) => one.load - other.load)[0];
  if (least && (least.load === 0 || threads.size >= MOST_THREADS)) return least;
  const started = new EncodeThread();
  threads.add(started);
  return started;
}

/** An encoder of a format: cheap ones work in the caller's thread, all others in one of a few worker threads. Nothing runs until the first call. */
export function openEncoder(name: AudioFormatName): AudioEncoder {
  return AUDIO_FORMATS[name].cheap ? new CheapEncoder(name) : new ThreadEncoder(name);
}

const closedFailure = () => new Failure('unavailable', 'The audio encoder is closed.');

class CheapEncoder implements AudioEncoder {
  readonly #encoding;
  #open = true;

  constructor(name: AudioFormatName) {
    this.#encoding = Promise.resolve(AUDIO_FORMATS[name].begin());
  }

  async push(samples: Float32Array): Promise<Uint8Array> {
    if (!this.#open) throw closedFailure();
    const encoding = await this.#encoding;
    const pieces: Uint8Array[] = [];
    for (let at = 0; at < samples.length || at === 0; at += SAMPLES_AT_ONCE) {
      if (at > 0) await new Promise(setImmediate);
      pieces.push(await encoding.push(samples.subarray(at, at + SAMPLES_AT_ONCE)));
    }
    return pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces);
  }

  async end(): Promise<Uint8Array> {
    if (!this.#open) throw closedFailure();
    this.#open = false;
    return (await this.#encoding).end();
  }

  close(): void {
    this.#open = false;
  }
}

class ThreadEncoder implements AudioEncoder {
  readonly #name: AudioFormatName;
  readonly #id = ++encodings;
  #thread: EncodeThread | undefined;
  #begun: Promise<Uint8Array> | undefined;
  #open = true;

  constructor(name: AudioFormatName) {
    this.#name = name;
  }

  async push(samples: Float32Array): Promise<Uint8Array> {
    const thread = await this.#begin();
    // A view would take all of what it is a view of along.
    const sent = samples.byteLength === samples.buffer.byteLength ? samples : samples.slice();
    return this.#orClosed(thread.ask(this.#id, { method: 'push', samples: sent }));
  }

  async end(): Promise<Uint8Array> {
    const thread = await this.#begin();
    try {
      return await this.#orClosed(thread.ask(this.#id, { method: 'end' }));
    } finally {
      this.#open = false;
      thread.end(this.#id);
    }
  }

  close(): void {
    if (!this.#open) return;
    this.#open = false;
    this.#thread?.ask(this.#id, { method: 'close' }).catch(() => undefined);
    this.#thread?.end(this.#id);
  }

  async #begin(): Promise<EncodeThread> {
    if (!this.#open) throw closedFailure();
    if (!this.#thread) {
      this.#thread = thread();
      this.#thread.begin(this.#id);
      this.#begun = this.#thread.ask(this.#id, { method: 'begin', format: this.#name });
    }
    await this.#orClosed(this.#begun!);
    return this.#thread;
  }

  async #orClosed(answer: Promise<Uint8Array>): Promise<Uint8Array> {
    const bytes = await answer;
    if (!this.#open) throw closedFailure();
    return bytes;
  }
}

/**
 * Audio as bytes of a format, as soon as there are some. Ends with the input; when the reader stops, or `signal` is aborted, the encoder is closed.
 * Throws what the input throws, the reason of the signal, and what `AudioEncoder` rejects with.
 */
export async function* encodeAudio(
  name: AudioFormatName,
  audio: AsyncIterable<Float32Array>,
  signal?: AbortSignal,
): AsyncGenerator<Uint8Array, void, undefined> {
  const encoder = openEncoder(name);
  try {
    for await (const samples of audio) {
      signal?.throwIfAborted();
      const bytes = await encoder.push(samples);
      if (bytes.length > 0) yield bytes;
    }
    signal?.throwIfAborted();
    const last = await encoder.end();
    if (last.length > 0) yield last;
  } finally {
    encoder.close();
  }
}
