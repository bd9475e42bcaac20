import type { AudioFormat } from './contract.js';
import { mediabunnyEncoding } from './mediabunny-encoding.js';

/** FLAC of 16 bits, whose length nobody knows yet. */
export const flac: AudioFormat = {
  name: 'flac',
  cheap: false,
  begin: () =>
    mediabunnyEncoding({
      codec: 'flac',
      container: ({ FlacOutputFormat }) => new FlacOutputFormat({ appendOnly: true }),
      register: async () => (await import('@mediabunny/flac-encoder')).registerFlacEncoder(),
    }),
};
