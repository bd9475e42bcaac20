/** How a transcriber is set up. */
export interface NativeTranscriberOptions {
  /** 1 to 1024. */
  threads: number;
  /** Whether it may use a GPU that is there. */
  gpu: boolean;
}

/** How one piece of audio is written down. */
export interface NativeTranscribeOptions {
  /** ISO 639-1, or the English name; empty = the model listens for it, which costs a pass of its encoder. */
  language: string;
  /** Into English instead of the language that is spoken. */
  translate: boolean;
  /** What was said before, or names that may come; the last 2,000 bytes count. Empty = none. */
  prompt: string;
  /** 0 to 1; 0 = the likeliest text, tried again warmer by 0.2 where it is not believable. */
  temperature: number;
  /** Asks for the times of words. */
  words: boolean;
  /** Frames of 20 ms that a pass looks at, for audio that is shorter than 30 s; 0 = all 1500. */
  audioContext: number;
}

/** Something that was said; times in seconds from the start of the audio, which never run backwards. */
export interface NativeSegment {
  start: number;
  end: number;
  text: string;
  /** Mean over the tokens, natural logarithm. */
  meanLogProbability: number;
  noSpeechProbability: number;
  /** Null unless asked for. A word has the space before it that the model writes. */
  words: { word: string; start: number; end: number; probability: number }[] | null;
}

/** An opened Whisper model. */
export interface NativeTranscriber {
  /** False = English only. */
  readonly multilingual: boolean;
  readonly audioLayers: number;
  readonly textLayers: number;
  /**
   * Async on a thread of its own, one at a time. `samples` (16 kHz mono, -1 to 1) are copied. `onSegment` is called in order, before the promise
   * gives the language as ISO 639-1. Rejects with `bad_request` for a language that the model does not know, `unavailable` once stopped.
   */
  transcribe(samples: Float32Array, options: NativeTranscribeOptions, onSegment: (segment: NativeSegment) => void): Promise<string>;
  /** Sync. Ends the last call of `transcribe` within a step of its graph; no segment of it comes any more. */
  stop(): void;
  /** Ends the work that runs, and frees the weights. */
  close(): Promise<void>;
}
