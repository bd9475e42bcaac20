import { LISTEN_RATE } from '../speech/decode/contract.js';

/** Kept from before the first sound of an utterance, in seconds: a word begins more softly than a detector notices. */
const PRE_ROLL_S = 0.3;
/** Speech without a gap that begins an utterance, in seconds; a click is shorter. */
const ONSET_S = 0.06;
/** A gap of so many seconds in what begins an utterance starts the count again. */
const ONSET_GAP_S = 0.1;
/** Less speech in all is a noise, in seconds; where the client says that it was an utterance, less is enough. */
const LEAST_SPEECH_S = 0.25;
const LEAST_SAID_S = 0.1;
/** The soft sounds of a word are so close to its loud ones, in seconds. */
const SYLLABLE_S = 0.15;
/** A longer utterance is taken as complete, in seconds. */
const MOST_S = 90;

/** A short stretch of sound, some 10 to 100 ms at 16 kHz, and whether somebody speaks in it. */
export interface SoundFrame {
  readonly samples: Float32Array;
  readonly isSpeech: boolean;
}

/** Follows what comes in, in its own time: counts speech and silence, and keeps an utterance with a little of what was before it. */
export class Ear {
  /** Seconds of the utterance in which somebody speaks. */
  speechS = 0;
  /** Seconds since somebody spoke; in an utterance that has begun. */
  silenceS = 0;
  /** Seconds without an utterance. */
  quietS = 0;
  #frames: Float32Array[] = [];
  #lengthS = 0;
  #before: Float32Array[] = [];
  #beforeS = 0;
  /** Speech without a gap that has not begun an utterance yet. */
  #onsetS = 0;
  #gapS = 0;
  #hasBegun = false;

  /** Whether an utterance has begun and is not over. */
  get hasBegun(): boolean {
    return this.#hasBegun;
  }

  /** Whether nothing more fits into the utterance. */
  get isFull(): boolean {
    return this.#lengthS >= MOST_S;
  }

  /** Whether what was said is more than a noise; less is enough where the client says that it was an utterance. */
  holdsSpeech(isSaid: boolean): boolean {
    return this.#hasBegun && this.speechS >= (isSaid ? LEAST_SAID_S : LEAST_SPEECH_S);
  }

  /** Takes the next frame; true when an utterance begins with it. `onsetS`: seconds of speech that begin one, least `ONSET_S`. */
  hear(frame: SoundFrame, onsetS = ONSET_S): boolean {
    const seconds = frame.samples.length / LISTEN_RATE;
    if (this.#hasBegun) {
      this.#append(frame, seconds);
      return false;
    }
    this.quietS += seconds;
    this.#before.push(frame.samples);
    this.#beforeS += seconds;
    if (frame.isSpeech) {
      this.#onsetS += seconds;
      this.#gapS = 0;
    } else {
      this.#gapS += seconds;
      if (this.#gapS > ONSET_GAP_S) this.#onsetS = 0;
    }
    if (frame.isSpeech && this.#onsetS >= onsetS - 0.001) {
      this.#begin();
      return true;
    }
    this.#dropOld();
    return false;
  }

  /** The utterance so far, with what was kept from before it. */
  samples(): Float32Array {
    const all = new Float32Array(this.#frames.reduce((sum, { length }) => sum + length, 0));
    let at = 0;
    for (const frame of this.#frames) {
      all.set(frame, at);
      at += frame.length;
    }
    return all;
  }

  /** Forgets the utterance, and listens for the next one. */
  clear(): void {
    this.#frames = [];
    this.#lengthS = 0;
    this.#before = [];
    this.#beforeS = 0;
    this.#onsetS = 0;
    this.#gapS = 0;
    this.#hasBegun = false;
    this.speechS = 0;
    this.silenceS = 0;
    this.quietS = 0;
  }

  #append(frame: SoundFrame, seconds: number): void {
    if (this.isFull) return;
    this.#frames.push(frame.samples);
    this.#lengthS += seconds;
    if (frame.isSpeech) {
      this.speechS += seconds;
      this.silenceS = 0;
    } else {
      this.silenceS += seconds;
    }
  }

  #begin(): void {
    this.#hasBegun = true;
    this.#frames = this.#before;
    this.#lengthS = this.#beforeS;
    this.speechS = this.#onsetS;
    this.silenceS = 0;
    this.quietS = 0;
    this.#before = [];
    this.#beforeS = 0;
  }

  /** What lies before a possible beginning is kept for as long as the pre-roll. */
  #dropOld(): void {
    for (;;) {
      const first = this.#before[0];
      if (!first) return;
      const seconds = first.length / LISTEN_RATE;
      if (this.#beforeS - seconds < PRE_ROLL_S + this.#onsetS + this.#gapS) return;
      this.#before.shift();
      this.#beforeS -= seconds;
    }
  }
}

/** How loud somebody speaks: the soft sounds of a word count as its loud ones. */
export class HeldLevel {
  #recent: { readonly level: number; readonly seconds: number }[] = [];

  /** The loudest of this frame and those of the last moment. */
  of({ samples, level }: { readonly samples: Float32Array; readonly level: number }): number {
    this.#recent.push({ level, seconds: samples.length / LISTEN_RATE });
    let seconds = this.#recent.reduce((sum, frame) => sum + frame.seconds, 0);
    while (seconds - this.#recent[0]!.seconds >= SYLLABLE_S) seconds -= this.#recent.shift()!.seconds;
    return Math.max(...this.#recent.map((frame) => frame.level));
  }
}
