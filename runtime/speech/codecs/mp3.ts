import { readFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { SPEECH_RATE } from '../contract.js';
import type { AudioFormat } from './contract.js';

const KBIT_PER_S = 128;

/** LAME: its bytes, and once it was compiled in this thread the module of them. */
let lame: Parameters<typeof import('wasm-media-encoders').createEncoder>[1] | undefined;

/** Where the tag stands in a frame of one channel at 24 kHz: behind its header and 9 bytes about its sound, of which it has none. */
const TAG_AT = 4 + 9;
/** In the tag: flags that say that nothing else is known, the encoder's name, and what players leave out at the beginning. */
const NAME_AT = TAG_AT + 8;
const DELAY_AT = NAME_AT + 21;
/** Bytes of a frame: 72 for each bit of a sample. */
const FRAME_BYTES = (72 * KBIT_PER_S * 1000) / SPEECH_RATE;
/** Samples that LAME puts before the sound. */
const DELAY_SAMPLES = 576;

/** A frame without sound before the first one: it tells players what to leave out at the beginning, so that the sound is as long as it was. */
function infoFrame(first: Uint8Array): Uint8Array {
  const frame = Buffer.alloc(FRAME_BYTES);
  frame.set(first.subarray(0, 4));
  // Without the padding that some frames have.
  frame[2]! &= ~2;
  frame.write('Info', TAG_AT, 'latin1');
  frame.write('LAME3.100', NAME_AT, 'latin1');
  frame.writeUIntBE(DELAY_SAMPLES << 12, DELAY_AT, 3);
  return frame;
}

/** MPEG-2 layer III by LAME, 128 kbit/s. */
export const mp3: AudioFormat = {
  name: 'mp3',
  cheap: false,
  begin: async () => {
    const { createEncoder } = await import('wasm-media-encoders');
    lame ??= await readFile(createRequire(import.meta.url).resolve('wasm-media-encoders/wasm/mp3'));
    const encoder = await createEncoder('audio/mpeg', lame, (module) => {
      lame = module;
    });
    encoder.configure({ channels: 1, sampleRate: SPEECH_RATE, bitrate: KBIT_PER_S });
    let hasBegun = false;
    const withInfo = (frames: Uint8Array): Uint8Array => {
      // What LAME gives is a view of its own memory.
      if (hasBegun || frames.length === 0) return frames.slice();
      hasBegun = true;
      return Buffer.concat([infoFrame(frames), frames]);
    };
    return {
      push: (samples) => withInfo(encoder.encode([samples])),
      end: () => withInfo(encoder.finalize()),
      close: () => {},
    };
  },
};
