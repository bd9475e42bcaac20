import type { NativeSampleStream } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { type AudioReader, type DecodedAudio, type FileBytes, LISTEN_RATE, piecesOf } from './contract.js';

/** Samples of 16 bits, one channel, little-endian, from bytes that are cut anywhere: a half sample waits for its other half. */
export class PcmStream {
  #half: Uint8Array = new Uint8Array(0);

  /** The samples that are whole now, -1 to 1. */
  push(bytes: Uint8Array): Float32Array {
    const all = this.#half.length > 0 ? Buffer.concat([this.#half, bytes]) : bytes;
    const whole = all.length - (all.length % 2);
    this.#half = all.slice(whole);
    return loadCore().decodeSamples(all.subarray(0, whole), 's16', 1);
  }
}

/** Rates of recordings that are read, in Hz. */
const [LEAST_RATE, MOST_RATE] = [4_000, 192_000];

/** Turns samples of a rate into those that listening takes. Throws `bad_request` for a rate that no recording has. */
export function listenResampler(rate: number): NativeSampleStream {
  if (rate >= LEAST_RATE && rate <= MOST_RATE) return loadCore().openResampler(rate, LISTEN_RATE);
  throw new Failure('bad_request', `The audio says that it has ${rate} samples a second; ${LEAST_RATE} to ${MOST_RATE} are read.`);
}

/** Reads a file that keeps every sample. */
function reader(format: 'wav' | 'flac'): AudioReader {
  return {
    *read(file: FileBytes): Generator<DecodedAudio> {
      const source = loadCore().openPcmReader(format);
      function* ready(): Generator<DecodedAudio> {
        for (let samples = source.read(); samples.length > 0; samples = source.read()) yield { rate: source.facts()!.rate, samples };
      }
      for (const bytes of piecesOf(file)) {
        source.push(bytes);
        yield* ready();
      }
      source.end();
      yield* ready();
    },
  };
}

/** WAV of whole numbers of 8 to 32 bits, floats, A-law and mu-law. */
export const wav = reader('wav');
/** FLAC of 4 to 32 bits. */
export const flac = reader('flac');

/** Samples of 16 bits at 16 kHz, one channel, without a header. */
export const raw: AudioReader = {
  *read(file) {
    for (const bytes of piecesOf(file)) yield { rate: LISTEN_RATE, samples: loadCore().decodeSamples(bytes, 's16', 1) };
  },
};
