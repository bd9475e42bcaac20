import type { AudioFormat } from './contract.js';
import { mediabunnyEncoding } from './mediabunny-encoding.js';

/** AAC-LC in ADTS frames, 128 kbit/s. */
export const aac: AudioFormat = {
  name: 'aac',
  cheap: false,
  begin: () =>
    mediabunnyEncoding({
      codec: 'aac',
      bitsPerS: 128_000,
      frameSamples: 1024,
      priming: 1024,
      container: ({ AdtsOutputFormat }) => new AdtsOutputFormat(),
      register: async () => (await import('@mediabunny/aac-encoder')).registerAacEncoder(),
    }),
};
