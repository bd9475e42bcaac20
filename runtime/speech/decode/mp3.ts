import { MPEGDecoder } from 'mpg123-decoder';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { type AudioReader, type DecodedAudio, piecesOf } from './contract.js';

/** MPEG frames, decoded by mpg123 in the order in which they come. */
export class MpegStream {
  readonly #decoder = new MPEGDecoder();

  /** Compiles the decoder. */
  async open(): Promise<this> {
    await this.#decoder.ready;
    return this;
  }

  /** The samples of all frames that are whole; none where there are none. */
  decode(bytes: Uint8Array): DecodedAudio | undefined {
    const { channelData, samplesDecoded, sampleRate } = this.#decoder.decode(bytes);
    if (samplesDecoded === 0) return undefined;
    return { rate: sampleRate, samples: loadCore().mixChannels(channelData) };
  }

  /** Frees the decoder. */
  close(): void {
    this.#decoder.free();
  }
}

/** MPEG-1, 2 and 2.5, layers I to III. Damaged frames are passed over. */
export const mp3: AudioReader = {
  async *read(file): AsyncGenerator<DecodedAudio> {
    const stream = await new MpegStream().open();
    let heard = false;
    try {
      for (const bytes of piecesOf(file)) {
        const audio = stream.decode(bytes);
        if (!audio) continue;
        heard = true;
        yield audio;
      }
    } finally {
      stream.close();
    }
    if (!heard) throw new Failure('bad_request', 'The mp3 file is damaged or cut off: it holds no whole frame.');
  },
};
