/** How one sample lies in bytes, little-endian; `mulaw` and `alaw` are those of G.711, which are read only, as `f64` is. */
export type SampleEncoding = 'u8' | 's8' | 's16' | 's24' | 's32' | 'f32' | 'f64' | 'mulaw' | 'alaw';

/** A row of samples that becomes another one, piece by piece. Both calls are sync. */
export interface NativeSampleStream {
  /** Takes the next samples, which are borrowed, and gives what is ready. */
  push(samples: Float32Array): Float32Array;
  /** Gives what is left, as if silence followed, and begins anew. */
  flush(): Float32Array;
}

/** Of a stream of Opus packets in Ogg. */
export interface OggWriterOptions {
  /** Of the stream: 0 to 2^32 - 1, another one for each. */
  serial: number;
  /** Hz of what was encoded, as a note for the reader. */
  inputRate: number;
  channels: 1 | 2;
  /** Samples at 48 kHz that a decoder gives before the first one of the input. */
  preSkip: number;
}

/** Puts Opus packets into Ogg pages of 100 ms. Sync, some microseconds. */
export interface NativeOggWriter {
  /** Takes a packet that gives `samples` (1 to 5760) at 48 kHz and gives the pages that are complete. Throws Failure('invalid') for one that is none. */
  push(packet: Uint8Array, samples: number): Uint8Array;
  /** Gives the last page. `total` is the length of the input in samples at 48 kHz, by which players cut off what the encoder added; 0 leaves it. */
  end(total: number): Uint8Array;
}

/** Tells speech by its loudness, in frames of some 10 to 50 ms. Sync, some microseconds. */
export interface NativeVoiceActivity {
  /** For each frame that is whole how likely it is speech, from 0 to 1: 0.5 where it is as loud as the threshold, which is raised in steady noise. */
  push(samples: Float32Array): Float32Array;
  /** Forgets what it heard. */
  reset(): void;
}

/** What a file says of itself. */
export interface PcmFacts {
  /** Hz. */
  rate: number;
  channels: number;
  /** Samples of a channel, where the file says so. */
  frames?: number;
}

/** Reads a WAV or FLAC file from bytes that come in pieces. Sync; a call that reads takes up to 5 ms: not for a thread that serves others. */
export interface NativePcmReader {
  /** Takes the next bytes. */
  push(bytes: Uint8Array): void;
  /** After the last ones. */
  end(): void;
  /**
   * The next samples, each the mean of all channels: none where more bytes are needed or at the end, else up to about 2^16. Throws
   * Failure('bad_request') for what is no such file, is damaged, or is cut off.
   */
  read(): Float32Array;
  /** Missing until enough was read. */
  facts(): PcmFacts | undefined;
}

/** Decodes AAC of low complexity, 1 to 8 channels. Sync, some 0.1 ms for a frame. */
export interface NativeAacDecoder {
  /** Hz; of HE-AAC that of its core. */
  readonly rate: number;
  /** The 1,024 samples of a frame, each the mean of all channels. Throws Failure('bad_request') for a damaged one. */
  decode(frame: Uint8Array): Float32Array;
}

/** Something that stands in a stream: its beginning, a packet, or its end. */
export type StreamPart =
  | {
      kind: 'begin';
      codec: 'opus' | 'vorbis' | 'flac';
      channels: number;
      /** Samples at 48 kHz that are not to be heard. */
      preSkip: number;
      /** What the container says of the codec. */
      bytes: Uint8Array;
    }
  | { kind: 'packet'; bytes: Uint8Array }
  /** `total`: samples at 48 kHz that were to be heard; 0 where nobody says. */
  | { kind: 'end'; total: number };

/** Takes a live WebM or Ogg stream apart. Sync, about 1 us for a packet. A new header begins anew; damaged pages of Ogg are passed over. */
export interface NativePacketReader {
  /** Takes the next bytes, cut anywhere, and gives the parts that are whole. Throws Failure('bad_request') for what cannot be right. */
  push(bytes: Uint8Array): StreamPart[];
}

/**
 * Samples are numbers from -1 to 1, one channel, at most 2^20 in a call; bytes at most 4 MiB. All calls are sync and borrow their arrays; they throw
 * Failure('invalid') for bad arguments and ('too_large') beyond a limit.
 */
export interface AudioFunctions {
  /** About 3 ns a sample. Samples as bytes: clipped, whole numbers rounded to the nearest, silence for what is no number. */
  encodeSamples(samples: Float32Array, encoding: Exclude<SampleEncoding, 'f64' | 'mulaw' | 'alaw'>): Uint8Array;
  /** Bytes as samples, each the mean of its `channels` (1 to 64); a frame at the end that is not whole is left out. */
  decodeSamples(bytes: Uint8Array, encoding: SampleEncoding, channels: number): Float32Array;
  /** The mean of 1 to 64 channels of equal length. */
  mixChannels(channels: readonly Float32Array[]): Float32Array;
  /** The 44 bytes before the samples of a WAV file of one channel; without `dataBytes` of a stream, whose sizes are 0xFFFFFFFF. */
  wavHeader(rate: number, encoding: 'u8' | 's16' | 's24' | 's32' | 'f32', dataBytes?: number): Uint8Array;
  /**
   * From one rate to another, 4,000 to 192,000 Hz: some 0.2 us for a sample. Looks 32 samples of the lower rate ahead (2 ms at 16 kHz) and gives
   * ceil(n * to / from) samples in all, which are not delayed. What the lower rate cannot hold is 96 dB down.
   */
  openResampler(from: number, to: number): NativeSampleStream;
  /**
   * Speech at 0.25 to 4 times its speed with the same pitch, at a rate of 4,000 to 192,000 Hz: some 0.1 us for a sample. Looks 55 ms ahead and gives
   * round(n / speed) samples in all.
   */
  openTimeStretch(rate: number, speed: number): NativeSampleStream;
  /** Frames of 1 to 2^16 samples; `threshold` is the effective value from which on it is speech, above 0 and below 1. */
  openVoiceActivity(frameSamples: number, threshold: number): NativeVoiceActivity;
  /** Throws Failure('invalid') for another format. */
  openPcmReader(format: 'wav' | 'flac'): NativePcmReader;
  /** `config` is an AudioSpecificConfig. Throws Failure('bad_request') for other profiles. */
  openAacDecoder(config: Uint8Array): NativeAacDecoder;
  /** Throws Failure('invalid') for another container. */
  openPacketReader(container: 'webm' | 'ogg'): NativePacketReader;
  /** Throws Failure('invalid') with the option that is wrong. */
  openOggWriter(options: OggWriterOptions): NativeOggWriter;
}
