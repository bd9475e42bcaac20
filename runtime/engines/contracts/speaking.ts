import type { LoadedEngine } from './loaded.js';

/** Samples a second of all speech that leaves an engine; mono, floats in -1..1. */
export const SPEECH_RATE = 24_000;

/** A stretch of text that is spoken at a time. */
export interface Phrase {
  /** The words of the text, as it has them. */
  readonly text: string;
  /** What the engine reads: plain words, or symbols of sounds. */
  readonly script: string;
  /** The words of the text, in order, each with the length of its part of the script; pauses count for the word before. */
  readonly words: readonly { readonly word: string; readonly length: number }[];
  /** Silence after it, in seconds at speed 1. */
  readonly pause: number;
}

/** When a word sounds, in seconds from the start of its sound. */
export interface WordTime {
  readonly word: string;
  readonly start: number;
  readonly end: number;
}

/** A phrase as it sounds. */
export interface Sound {
  /** At `SPEECH_RATE`. */
  readonly samples: Float32Array;
  /** Absent where the engine does not know. */
  readonly words?: readonly WordTime[];
}

/** What `say` is asked for. */
export interface Saying extends Phrase {
  /** As the engine knows it. */
  readonly voice: string;
  /** 0.25 to 4. */
  readonly speed: number;
}

/** An engine as it runs in its child process; it blocks the thread while it speaks. */
export interface VoiceEngine {
  readonly devices: { readonly requested: string; readonly available: string[]; readonly used: string[]; readonly why: string | null };
  /** The least and the most speed at which its speech is natural; others are made of these by stretching time. */
  readonly speeds: readonly [least: number, most: number];
  /** What is spoken of a text, phrase by phrase; none where nothing in it can be said. The first is short, so that it is heard soon. */
  plan(text: string, voice: string): Phrase[];
  /** Throws `not_found` for an unknown voice, `model_failed` where nothing was made. */
  say(saying: Saying): Promise<Sound>;
  close(): Promise<void> | void;
}

/** What an engine is opened with. */
export interface VoiceFiles {
  /** Absolute; null for an engine that brings its own. */
  readonly folder: string | null;
  /** Below the folder: the graph that is opened. */
  readonly graph: string | null;
  readonly threads: number;
  readonly device: string;
}

/** What opening gave. */
export interface VoiceOpened {
  readonly devices: VoiceEngine['devices'];
}

/** A model that speaks, loaded in a process of its own, from the daemon's side. */
export interface VoiceModel extends LoadedEngine {
  plan(text: string, voice: string, signal: AbortSignal): Promise<readonly Phrase[]>;
  say(saying: Saying, signal: AbortSignal): Promise<Sound>;
}
