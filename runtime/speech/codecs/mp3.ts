import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { type AudioFormat, SPEECH_RATE } from './contract.js';

const KBIT_PER_S = 128;

/** LAME: its bytes, and once it was compiled in this thread the module of them. */
let lame: Parameters<typeof import('wasm-media-encoders').createEncoder>[1] | undefined;

/** MPEG-2 layer III by LAME, 128 kbit/s. */
export const mp3: AudioFormat = {
  name: 'mp3',
  contentType: 'audio/mpeg',
  cheap: false,
  begin: async () => {
    const { createEncoder } = await import('wasm-media-encoders');
    lame ??= await readFile(createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3'));
    const encoder = await createEncoder('audio/mpeg', lame, (module) => {
      lame = module;
    });
    encoder.configure({ channels: 1, sampleRate: SPEECH_RATE, bitrate: KBIT_PER_S });
    return {
      // What it gives is a view of its own memory.
      push: (samples) => encoder.encode([samples]).slice(),
      end: () => encoder.finalize().slice(),
      close: () => {},
    };
  },
};
