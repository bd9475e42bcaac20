import { loadCore } from '../../../native/core.js';
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
