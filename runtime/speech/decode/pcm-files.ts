import { loadCore } from '../../../native/core.js';
import { type AudioReader, type DecodedAudio, type FileBytes, LISTEN_RATE, piecesOf } from './contract.js';

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
