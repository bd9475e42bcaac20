import { loadCore } from '../../../native/loader.js';
import { SPEECH_RATE } from '../contract.js';
import type { AudioFormat } from './contract.js';

/** Samples of 16 bits without a header, little-endian. */
export const pcm: AudioFormat = {
  name: 'pcm',
  cheap: true,
  begin: () => ({
    push: (samples) => loadCore().encodeSamples(samples, 's16'),
    end: () => new Uint8Array(0),
    close: () => {},
  }),
};

/** The 44 bytes before the samples of a WAV file with whole numbers. */
export function wavHead(
  dataBytes: number,
  { rate, channels, sampleBytes }: { rate: number; channels: number; sampleBytes: number },
): Buffer {
  const head = Buffer.alloc(44);
  head.write('RIFF', 0, 'latin1');
  head.writeUInt32LE(36 + dataBytes, 4);
  head.write('WAVEfmt ', 8, 'latin1');
  head.writeUInt32LE(16, 16);
  head.writeUInt16LE(1, 20);
  head.writeUInt16LE(channels, 22);
  head.writeUInt32LE(rate, 24);
  head.writeUInt32LE(rate * channels * sampleBytes, 28);
  head.writeUInt16LE(channels * sampleBytes, 32);
  head.writeUInt16LE(8 * sampleBytes, 34);
  head.write('data', 36, 'latin1');
  head.writeUInt32LE(dataBytes, 40);
  return head;
}

/** A WAV file of 16-bit samples whose length nobody knows yet: its sizes are 0xFFFFFFFF, which players take for "to the end". */
export const wav: AudioFormat = {
  name: 'wav',
  cheap: true,
  begin: () => {
    let header: Uint8Array | undefined = loadCore().wavHeader(SPEECH_RATE, 's16');
    const withHeader = (bytes: Uint8Array): Uint8Array => {
      const all = header ? Buffer.concat([header, bytes]) : bytes;
      header = undefined;
      return all;
    };
    return {
      push: (samples) => withHeader(loadCore().encodeSamples(samples, 's16')),
      end: () => withHeader(new Uint8Array(0)),
      close: () => {},
    };
  },
};

/** Samples that are encoded at a time. */
const PIECE_SAMPLES = 1 << 16;

/** A whole WAV file of 16-bit samples, one channel; `rate` in Hz. */
export function wavFile(samples: Float32Array, rate: number): Buffer {
  const pieces: Uint8Array[] = [loadCore().wavHeader(rate, 's16', 2 * samples.length)];
  for (let at = 0; at < samples.length; at += PIECE_SAMPLES)
    pieces.push(loadCore().encodeSamples(samples.subarray(at, at + PIECE_SAMPLES), 's16'));
  return Buffer.concat(pieces);
}
