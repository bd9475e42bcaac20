/** The media type of each format that speech is written in, by the name that requests give. */
export const AUDIO_MEDIA_TYPES = {
  mp3: 'audio/mpeg',
  opus: 'audio/opus',
  aac: 'audio/aac',
  flac: 'audio/flac',
  wav: 'audio/wav',
  pcm: 'audio/pcm',
} as const;

/** The names of the formats that speech is written in, as requests give them. */
export type AudioFormatName = keyof typeof AUDIO_MEDIA_TYPES;

/** One encoding that goes on, inside one thread. Samples are numbers from -1 to 1, one channel, at `SPEECH_RATE` of the contract of speech. */
export interface Encoding {
  /** Takes the next samples and gives the bytes that are ready, often none. */
  push(samples: Float32Array): Uint8Array | Promise<Uint8Array>;
  /** Gives the last bytes. */
  end(): Uint8Array | Promise<Uint8Array>;
  /** Frees everything, at any time. */
  close(): void;
}

/** A format that speech is written in: one file in this folder each. */
export interface AudioFormat {
  readonly name: AudioFormatName;
  /** Whether it is so cheap that it needs no thread of its own: some nanoseconds a sample. */
  readonly cheap: boolean;
  /** Begins an encoding. */
  begin(): Encoding | Promise<Encoding>;
}

/** Writes one utterance in a format. */
export interface AudioEncoder {
  /**
   * Takes samples (-1 to 1, one channel, 24 kHz; any number of them) and resolves to the bytes that are ready, often none. The array is the caller's
   * again when it resolves. Awaiting it is the back-pressure. Rejects with Failure('internal') where the encoder failed, ('unavailable') after `close`.
   */
  push(samples: Float32Array): Promise<Uint8Array>;
  /** Resolves to the last bytes; the encoder is closed then. */
  end(): Promise<Uint8Array>;
  /** Gives up: frees everything at once and refuses what still waits. Does nothing after `end`. */
  close(): void;
}
