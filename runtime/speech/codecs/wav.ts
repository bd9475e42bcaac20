import { loadCore } from '../../../native/core.js';
import { SPEECH_RATE } from '../contract.js';
import type { AudioFormat } from './contract.js';

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

/** A whole WAV file of 16-bit samples, one channel; `rate` in Hz. */
export function wavFile(samples: Float32Array, rate: number): Uint8Array {
  const bytes = loadCore().encodeSamples(samples, 's16');
  return Buffer.concat([loadCore().wavHeader(rate, 's16', bytes.length), bytes]);
}
