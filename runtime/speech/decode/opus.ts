import { isMainThread } from 'node:worker_threads';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { LISTEN_RATE } from './contract.js';

/** What libopus offers. */
export type OpusLibrary = typeof import('@evan/opus');

const WASM = '@evan/opus/wasm/index.mjs';

/**
 * libopus: the native one in the main thread, the one in WebAssembly (half as fast) in worker threads. The native one leaves a destructor behind in each
 * thread that has used it, which is called when its code is unloaded already: the process would end with the thread.
 */
export function opusLibrary(): Promise<OpusLibrary> {
  return isMainThread ? import('@evan/opus') : import(WASM);
}

/** Opus counts at 48 kHz. */
const DOWNWARDS = 48_000 / LISTEN_RATE;
/** Packets that cannot be decoded are passed over, as they are when they get lost on the way; so many in a row are no Opus. */
const MOST_BAD = 50;

/** Opus packets to samples of one channel at 16 kHz. */
export class OpusStream {
  readonly #decoder: InstanceType<OpusLibrary['Decoder']>;
  #skip: number;
  #bad = 0;
  #made = 0;

  /** `preSkip`: samples at 48 kHz at the beginning that are not to be heard. Throws Failure('bad_request') for more than two channels. */
  constructor({ Decoder }: OpusLibrary, channels: number, preSkip: number) {
    if (channels > 2) throw new Failure('bad_request', `The Opus audio has ${channels} channels; one or two are read.`);
    this.#decoder = new Decoder({ channels: 1, sample_rate: LISTEN_RATE });
    this.#skip = Math.round(preSkip / DOWNWARDS);
  }

  /** The samples of a packet. Throws Failure('bad_request') when it is one of many that are no Opus. */
  decode(packet: Uint8Array): Float32Array {
    let bytes: Uint8Array;
    try {
      bytes = this.#decoder.decode(packet);
    } catch (error) {
      this.#bad += 1;
      if (this.#bad >= MOST_BAD) throw new Failure('bad_request', 'The Opus audio is damaged.', { cause: error });
      return new Float32Array(0);
    }
    this.#bad = 0;
    const samples = loadCore().decodeSamples(bytes, 's16', 1);
    const skipped = Math.min(this.#skip, samples.length);
    this.#skip -= skipped;
    this.#made += samples.length - skipped;
    return samples.subarray(skipped);
  }

  /** How many of the samples so far lie behind the end; `total` at 48 kHz, 0 where nobody says. */
  beyond(total: number): number {
    return total === 0 ? 0 : Math.max(0, this.#made - Math.round(total / DOWNWARDS));
  }
}
