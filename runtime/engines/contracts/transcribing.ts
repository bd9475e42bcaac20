import type { LoadedEngine } from './loaded.js';

/** Samples a second of all speech that is listened to; mono, -1 to 1. */
export const LISTEN_RATE = 16_000;

/** A stretch of audio that is heard at once: at most 30 s, so that no call is long and no more is in memory. */
export interface Stretch {
  /** 16 kHz mono, -1 to 1. */
  readonly samples: Float32Array;
  /** ISO 639-1; empty = the engine listens for it. */
  readonly language: string;
  /** Into English, whatever is spoken. */
  readonly translate: boolean;
  /** What was said before, or names that may come; empty = none. */
  readonly prompt: string;
  /** 0 to 1; 0 = the likeliest text, with warmer ones where that is not believable. */
  readonly temperature: number;
  readonly words: boolean;
}

/** A word that was heard; times in seconds from the start of its stretch. */
export interface HeardWord {
  readonly word: string;
  readonly start: number;
  readonly end: number;
  readonly probability: number;
}

/** A sentence or so that was heard; times in seconds from the start of its stretch. */
export interface HeardSegment {
  readonly start: number;
  readonly end: number;
  readonly text: string;
  readonly meanLogProbability: number;
  readonly noSpeechProbability: number;
  readonly words: readonly HeardWord[] | null;
}

/** What was heard in a stretch. */
export interface Heard {
  /** ISO 639-1. */
  readonly language: string;
  readonly segments: readonly HeardSegment[];
}

/** A model of speech to text in memory. */
export interface Transcriber extends LoadedEngine {
  /** False = English only. */
  readonly multilingual: boolean;
  /** Throws `bad_request` for a language that it does not know, `unavailable` when its process dies. Aborting frees the engine within a step. */
  hear(stretch: Stretch, signal: AbortSignal): Promise<Heard>;
}
