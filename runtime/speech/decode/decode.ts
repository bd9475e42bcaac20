import { Worker } from 'node:worker_threads';
import { Failure, type FailureKind, withOtherMessage } from '../../../schemas/errors.js';
import { Gate } from '../../base/gate.js';
import { log } from '../../base/log.js';

/** What a decoding thread is asked. */
export type DecodeCall = { readonly method: 'decode'; readonly task: DecodeTask } | { readonly method: 'more' | 'stop' };

/** A file to decode. */
export interface DecodeTask {
  /** Where it lies, or its bytes. */
  readonly input: string | Uint8Array;
  readonly isRaw: boolean;
  readonly mostSeconds: number;
}

/** Its answers: chunks, then the end or what is wrong. */
export type DecodeAnswer =
  | { readonly kind: 'samples'; readonly samples: Float32Array }
  | { readonly kind: 'end' }
  | {
      readonly kind: 'failure';
      readonly failure: FailureKind;
      readonly message: string;
      readonly code?: string | undefined;
      readonly reason?: string;
    };

/** Chunks of two seconds that a thread decodes ahead of the reader. */
export const CHUNKS_AHEAD = 8;
/** Files that are decoded at the same time, each in a thread of its own. */
const MOST_THREADS = 2;
const MAY_WAIT = 64;
/** A thread that is asked for a chunk and gives none in this time is stuck in its file. */
const STUCK_MS = 60_000;
/** A thread without work is kept so long. */
const IDLE_MS = 30_000;
/** Bytes of JavaScript's own memory that a thread may take; samples and WebAssembly lie elsewhere. */
const HEAP_MIB = 256;
/** The longest audio, unless told otherwise: twelve hours. */
const MOST_SECONDS = 12 * 3600;

/** How a file is decoded. */
interface DecodeOptions {
  readonly signal?: AbortSignal;
  /** The bytes are samples of 16 bits at 16 kHz without a header, as a file that is named `.pcm` holds. */
  readonly isRaw?: boolean;
  /** Longer audio is refused when so much was read; twelve hours unless told otherwise. */
  readonly mostSeconds?: number;
}

const gate = new Gate('audio files to decode', MOST_THREADS, MAY_WAIT);

/** A worker, which decodes one file at a time for one owner. */
class DecodeThread {
  static readonly #idle: DecodeThread[] = [];
  readonly #worker = new Worker(new URL('./decode-thread.js', import.meta.url), {
    resourceLimits: { maxOldGenerationSizeMb: HEAP_MIB },
  });
  #owner: Decoding | undefined;
  #timer: NodeJS.Timeout | undefined;
  #hasEnded = false;

  private constructor() {
    this.#worker.on('message', (answer: DecodeAnswer) => this.#owner?.take(answer));
    this.#worker.on('error', (error) => this.#owner?.die(error));
    this.#worker.on('exit', () => {
      this.#hasEnded = true;
      this.#forget();
      this.#owner?.die(undefined);
    });
  }

  /** One without work, or a new one. */
  static take(owner: Decoding): DecodeThread {
    const thread = DecodeThread.#idle.pop() ?? new DecodeThread();
    clearTimeout(thread.#timer);
    thread.#owner = owner;
    thread.#worker.ref();
    return thread;
  }

  ask(call: DecodeCall): void {
    this.#worker.postMessage(call);
  }

  /** Its file is done: it waits for the next one for a while. */
  release(): void {
    this.#owner = undefined;
    if (this.#hasEnded) return;
    this.#worker.unref();
    DecodeThread.#idle.push(this);
    this.#timer = setTimeout(() => this.end(), IDLE_MS).unref();
  }

  /** Ends it, whatever it does. */
  end(): void {
    this.#owner = undefined;
    this.#hasEnded = true;
    this.#forget();
    void this.#worker.terminate();
  }

  #forget(): void {
    const at = DecodeThread.#idle.indexOf(this);
    if (at >= 0) DecodeThread.#idle.splice(at, 1);
  }
}

/**
 * A file of any kind that `READ_FORMATS` names, by its bytes, as samples of one channel at 16 kHz in chunks of two seconds; some of them are decoded
 * ahead, so that a file of hours takes some megabytes. It runs in a worker thread. Throws Failure('bad_request') that says what is wrong with the file,
 * ('too_large') beyond `mostSeconds`, ('busy') when too many files wait, and the reason of the signal.
 */
export async function* decodeAudio(input: string | Uint8Array, options: DecodeOptions = {}): AsyncGenerator<Float32Array, void, undefined> {
  const { signal = new AbortController().signal, isRaw = false, mostSeconds = MOST_SECONDS } = options;
  let leave = (): void => {};
  const left = new Promise<void>((resolve) => {
    leave = resolve;
  });
  await new Promise<void>((enter, refuse) => {
    gate
      .run(signal, () => {
        enter();
        return left;
      })
      .catch(refuse);
  });
  try {
    const decoding = new Decoding({ input, isRaw, mostSeconds }, signal);
    try {
      for (let samples = await decoding.next(); samples; samples = await decoding.next()) yield samples;
    } finally {
      decoding.close();
    }
  } finally {
    leave();
  }
}

/** The whole of a file, by `decodeAudio`: 64 kB for each second. */
export async function decodeWhole(input: string | Uint8Array, options: DecodeOptions = {}): Promise<Float32Array> {
  const chunks: Float32Array[] = [];
  for await (const chunk of decodeAudio(input, options)) chunks.push(chunk);
  const whole = new Float32Array(chunks.reduce((sum, { length }) => sum + length, 0));
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return whole;
}

/** One file in one thread. */
class Decoding {
  readonly #thread = DecodeThread.take(this);
  readonly #signal: AbortSignal;
  readonly #chunks: Float32Array[] = [];
  readonly #wake = () => this.#waiting?.();
  #waiting: (() => void) | undefined;
  /** Nothing while it goes on, then null, or what is wrong. */
  #outcome: null | { readonly failure: unknown } | undefined;

  constructor(task: DecodeTask, signal: AbortSignal) {
    this.#signal = signal;
    signal.addEventListener('abort', this.#wake);
    const { input } = task;
    // A view would take all of what it is a view of along.
    const isView = typeof input !== 'string' && input.byteLength < input.buffer.byteLength;
    this.#thread.ask({ method: 'decode', task: isView ? { ...task, input: new Uint8Array(input) } : task });
  }

  /** The next chunk; undefined at the end. */
  async next(): Promise<Float32Array | undefined> {
    for (;;) {
      this.#signal.throwIfAborted();
      const chunk = this.#chunks.shift();
      if (chunk) {
        this.#thread.ask({ method: 'more' });
        return chunk;
      }
      if (this.#outcome === null) return undefined;
      if (this.#outcome) throw this.#outcome.failure;
      await this.#something();
    }
  }

  /** Gives the thread back. One that has not come to its end is ended: it may be stuck. */
  close(): void {
    this.#signal.removeEventListener('abort', this.#wake);
    if (this.#outcome === undefined) this.#thread.end();
    else this.#thread.release();
  }

  take(answer: DecodeAnswer): void {
    if (answer.kind === 'samples') this.#chunks.push(answer.samples);
    else if (answer.kind === 'end') this.#outcome = null;
    else {
      if (answer.reason !== undefined) log('debug', 'an audio file could not be decoded', { reason: answer.reason });
      const { failure, message, code } = answer;
      this.#outcome = { failure: new Failure(failure, message, code === undefined ? {} : { code }) };
    }
    this.#wake();
  }

  die(cause: Error | undefined): void {
    this.#fail('its decoder failed', cause);
  }

  #fail(reason: string, cause?: Error): void {
    this.#thread.end();
    this.#outcome ??= { failure: new Failure('bad_request', `The audio file cannot be read: ${reason}.`, cause ? { cause } : {}) };
    this.#wake();
  }

  async #something(): Promise<void> {
    let timer: NodeJS.Timeout | undefined;
    await new Promise<void>((resolve) => {
      this.#waiting = resolve;
      timer = setTimeout(() => this.#fail('its decoder does not come to an end'), STUCK_MS);
    });
    this.#waiting = undefined;
    clearTimeout(timer);
  }
}

/** Names of files that hold samples of 16 bits at 16 kHz and nothing else. */
const RAW = /\.(?:pcm|raw)$/i;

/** Audio of any kind, a file or its bytes, as 16 kHz mono in pieces; what is wrong with it is told by its name. Throws as `decodeAudio` does. */
export async function* decodedAudio(
  input: string | Uint8Array,
  name: string,
  signal: AbortSignal,
): AsyncGenerator<Float32Array, void, undefined> {
  try {
    yield* decodeAudio(input, { signal, isRaw: RAW.test(name) });
  } catch (error) {
    if (error instanceof Failure && (error.kind === 'bad_request' || error.kind === 'too_large'))
      throw withOtherMessage(error, `${name}: ${error.message}`);
    throw error;
  }
}
