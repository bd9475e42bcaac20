import type { NativeAacDecoder } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import type { AudioReader, DecodedAudio } from './contract.js';

const HEADER_BYTES = 7;

const damagedAac = (reason: string) => new Failure('bad_request', `The AAC file ${reason}.`);

/** AAC in ADTS frames. */
export const aac: AudioReader = {
  *read(file): Generator<DecodedAudio> {
    let decoder: NativeAacDecoder | undefined;
    let config = '';
    for (let at = 0; at < file.size; ) {
      const head = file.read(at, HEADER_BYTES);
      // A tag at the end is no frame.
      if (Buffer.from(head.subarray(0, 3)).toString('latin1') === 'TAG') return;
      if (head.length < HEADER_BYTES) throw damagedAac('is cut off');
      if (head[0] !== 0xff || (head[1]! & 0xf6) !== 0xf0) throw damagedAac('is damaged');
      const size = ((head[3]! & 3) << 11) | (head[4]! << 3) | (head[5]! >> 5);
      const from = (head[1]! & 1) === 1 ? HEADER_BYTES : HEADER_BYTES + 2;
      if (size <= from) throw damagedAac('is damaged');
      const frame = file.read(at + from, size - from);
      if (frame.length < size - from) throw damagedAac('is cut off');
      const profile = (head[2]! >> 6) + 1;
      const rate = (head[2]! >> 2) & 15;
      const channels = ((head[2]! & 1) << 2) | (head[3]! >> 6);
      const described = Uint8Array.of((profile << 3) | (rate >> 1), ((rate & 1) << 7) | (channels << 3));
      if (!decoder || config !== described.join()) {
        decoder = loadCore().openAacDecoder(described);
        config = described.join();
      }
      yield { rate: decoder.rate, samples: decoder.decode(frame) };
      at += size;
    }
  },
};
