import type { NativePcmReader } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { type AudioReader, type DecodedAudio, LISTEN_RATE, piecesOf } from './contract.js';
import { OpusStream, opusLibrary } from './opus.js';
import { VorbisStream } from './vorbis.js';

/** What stands before the header of FLAC in Ogg. */
const FLAC_IN_OGG_BYTES = 9;

const NAMES = { ogg: 'Ogg', webm: 'WebM' } as const;

/** Reads Ogg and WebM. The last samples are kept until it is known where the audio ends. */
function reader(container: 'ogg' | 'webm'): AudioReader {
  return {
    async *read(file): AsyncGenerator<DecodedAudio> {
      const library = await opusLibrary();
      const packets = loadCore().openPacketReader(container);
      let opus: OpusStream | undefined;
      let flac: NativePcmReader | undefined;
      let vorbis: VorbisStream | undefined;
      let kept: DecodedAudio | undefined;
      const losslessly = function* (source: NativePcmReader): Generator<DecodedAudio> {
        for (let samples = source.read(); samples.length > 0; samples = source.read()) yield { rate: source.facts()!.rate, samples };
      };
      for (const bytes of piecesOf(file)) {
        for (const part of packets.push(bytes)) {
          if (part.kind === 'begin') {
            vorbis = part.codec === 'vorbis' ? await VorbisStream.open() : undefined;
            opus = part.codec === 'opus' ? new OpusStream(library, part.channels, part.preSkip) : undefined;
            flac = part.codec === 'flac' ? loadCore().openPcmReader('flac') : undefined;
            flac?.push(part.bytes.subarray(FLAC_IN_OGG_BYTES));
          } else if (part.kind === 'packet') {
            if (kept?.samples.length) yield kept;
            kept = opus ? { rate: LISTEN_RATE, samples: opus.decode(part.bytes) } : vorbis?.decode(part.bytes);
            flac?.push(part.bytes);
            if (flac) yield* losslessly(flac);
          } else if (kept) {
            const beyond = (opus ?? vorbis)?.beyond(part.total) ?? 0;
            kept = { rate: kept.rate, samples: kept.samples.subarray(0, Math.max(0, kept.samples.length - beyond)) };
          }
        }
      }
      if (kept?.samples.length) yield kept;
      flac?.end();
      if (flac) yield* losslessly(flac);
      if (!opus && !flac && !vorbis)
        throw new Failure('bad_request', `The ${NAMES[container]} file holds no Opus audio, or is cut off before it begins.`);
    },
  };
}

/** Opus, Vorbis or FLAC in Ogg. */
export const ogg = reader('ogg');
/** Opus in WebM. */
export const webm = reader('webm');
