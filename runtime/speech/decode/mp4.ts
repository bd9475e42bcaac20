import type { InputAudioTrack } from 'mediabunny';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { type AudioReader, type DecodedAudio, type FileBytes, LISTEN_RATE } from './contract.js';
import { MpegStream } from './mp3.js';
import { OpusStream, opusLibrary } from './opus.js';

/** Decodes packets of one codec. */
interface PacketDecoder {
  decode(packet: Uint8Array): DecodedAudio | undefined;
  close?(): void;
}

const bytesOf = (source: ArrayBufferView | ArrayBufferLike): Uint8Array =>
  ArrayBuffer.isView(source) ? new Uint8Array(source.buffer, source.byteOffset, source.byteLength) : new Uint8Array(source);

async function decoderOf(track: InputAudioTrack): Promise<PacketDecoder> {
  const codec = await track.getCodec();
  const config = await track.getDecoderConfig();
  if (codec === 'aac' && config?.description) {
    const decoder = loadCore().openAacDecoder(bytesOf(config.description));
    return { decode: (packet) => ({ rate: decoder.rate, samples: decoder.decode(packet) }) };
  }
  if (codec === 'opus') {
    const stream = new OpusStream(await opusLibrary(), config?.numberOfChannels ?? 1, 0);
    return { decode: (packet) => ({ rate: LISTEN_RATE, samples: stream.decode(packet) }) };
  }
  if (codec === 'mp3') {
    const stream = await new MpegStream().open();
    return { decode: (packet) => stream.decode(packet), close: () => stream.close() };
  }
  throw new Failure(
    'bad_request',
    `The MP4 file holds audio of the codec ${codec ?? 'that it does not name'}; AAC, Opus and mp3 are read.`,
  );
}

/** The first sound track of MP4, M4A and QuickTime files. */
export const mp4: AudioReader = {
  async *read(file: FileBytes): AsyncGenerator<DecodedAudio> {
    const { CustomSource, EncodedPacketSink, Input, MP4, QTFF } = await import('mediabunny');
    const source = new CustomSource({
      getSize: () => file.size,
      read: (start, end) => file.read(start, end - start),
      prefetchProfile: 'fileSystem',
    });
    const input = new Input({ source, formats: [MP4, QTFF] });
    let decoder: PacketDecoder | undefined;
    try {
      const track = await input.getPrimaryAudioTrack();
      if (!track) throw new Failure('bad_request', 'The MP4 file has no sound.');
      decoder = await decoderOf(track);
      for await (const packet of new EncodedPacketSink(track).packets()) {
        const audio = decoder.decode(packet.data);
        if (!audio) continue;
        // What lies before the beginning is there to start the decoder.
        const before = Math.min(audio.samples.length, Math.max(0, Math.round(-packet.timestamp * audio.rate)));
        if (before < audio.samples.length) yield { rate: audio.rate, samples: audio.samples.subarray(before) };
      }
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure('bad_request', 'The MP4 file is damaged or cut off.', { cause: error });
    } finally {
      decoder?.close?.();
      input.dispose();
    }
  },
};
