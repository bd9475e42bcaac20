import { randomInt } from 'node:crypto';
import { loadCore } from '../../../native/loader.js';
import { SPEECH_RATE } from '../contract.js';
import { type OpusLibrary, opusLibrary } from '../decode/opus.js';
import type { AudioFormat, Encoding } from './contract.js';

/** Of speech with one channel; more is not heard. */
const BITS_PER_S = 64_000;
const FRAME_SAMPLES = SPEECH_RATE / 50;
/** Opus counts at 48 kHz. */
const UPWARDS = 48_000 / SPEECH_RATE;
/** Requests of libopus, which both of its builds take by number. */
const SET_BITRATE = 4002;
const GET_LOOKAHEAD = 4027;
const MOST_SERIAL = 2 ** 32;

/** Opus in Ogg, in frames of 20 ms. */
export const opus: AudioFormat = {
  name: 'opus',
  cheap: false,
  begin: async () => encoding(await opusLibrary()),
};

function encoding({ Encoder }: OpusLibrary): Encoding {
  const core = loadCore();
  const encoder = new Encoder({ channels: 1, sample_rate: SPEECH_RATE, application: 'audio' });
  encoder.ctl(SET_BITRATE, BITS_PER_S);
  const ahead = encoder.ctl(GET_LOOKAHEAD);
  const writer = core.openOggWriter({
    serial: randomInt(MOST_SERIAL),
    inputRate: SPEECH_RATE,
    channels: 1,
    preSkip: ahead * UPWARDS,
  });
  const frame = new Float32Array(FRAME_SAMPLES);
  let filled = 0;
  let taken = 0;
  const encodeFrame = (): Uint8Array => {
    filled = 0;
    return writer.push(encoder.encode(core.encodeSamples(frame, 's16')), FRAME_SAMPLES * UPWARDS);
  };
  const push = (samples: Float32Array): Uint8Array => {
    const pages: Uint8Array[] = [];
    taken += samples.length;
    for (let at = 0; at < samples.length; ) {
      const piece = samples.subarray(at, at + FRAME_SAMPLES - filled);
      frame.set(piece, filled);
      filled += piece.length;
      at += piece.length;
      if (filled === FRAME_SAMPLES) pages.push(encodeFrame());
    }
    return Buffer.concat(pages);
  };
  return {
    push,
    end: () => {
      const total = taken;
      // The last samples come out when so much silence has gone in; what is over is cut off by the number of samples on the last page.
      const silence = ahead + FRAME_SAMPLES - ((total + ahead) % FRAME_SAMPLES || FRAME_SAMPLES);
      const rest = push(new Float32Array(silence));
      return Buffer.concat([rest, writer.end(total * UPWARDS)]);
    },
    close: () => {},
  };
}
