import { LISTEN_RATE } from '../decode/contract.js';

/** A part of the audio in which somebody speaks, as it is given to an engine. */
export interface SpokenStretch {
  readonly samples: Float32Array;
  /** Where it begins, in seconds. */
  readonly start: number;
}

const FRAME = LISTEN_RATE / 50;

/**
 * The stretches of audio in which somebody may speak, of at most 28 s each; `pieces` are 16 kHz mono, of any length. No more than a stretch is in memory.
 * What is as quiet as the quietest, and clicks, are left out.
 */
export async function* spokenStretches(
  pieces: Iterable<Float32Array> | AsyncIterable<Float32Array>,
): AsyncGenerator<SpokenStretch, void, undefined> {
  const cutter = new Cutter();
  let rest = new Float32Array(0);
  for await (const piece of pieces) {
    const samples = new Float32Array(rest.length + piece.length);
    samples.set(rest);
    samples.set(piece, rest.length);
    let at = 0;
    for (; at + FRAME <= samples.length; at += FRAME) {
      const stretch = cutter.add(samples.subarray(at, at + FRAME));
      if (stretch) yield stretch;
    }
    rest = samples.slice(at);
  }
  const last = (rest.length > 0 ? cutter.add(rest) : undefined) ?? cutter.end();
  if (last) yield last;
}

interface Frame {
  readonly samples: Float32Array;
  readonly level: number;
  isSpeech: boolean;
}

/** A frame counts as speech that is this much louder than the quietest of the last seconds, and at least as loud as the second. */
const ABOVE_NOISE = 1.5;
const LEAST_LEVEL = 0.002;
/** Frames that the noise is the quietest of, in parts: 5 s. */
const NOISE_PART_FRAMES = 25;
const NOISE_PARTS = 10;

/** Silence that ends a stretch at once, and from the usual length on. */
const LONG_PAUSE_FRAMES = 100;
const SHORT_PAUSE_FRAMES = 15;
const USUAL_FRAMES = 20 * 50;
const MOST_FRAMES = 28 * 50;
/** Where nobody pauses, the quietest frame of the last seconds is cut at. */
const CUT_FRAMES = 8 * 50;

/** Kept before and after speech, in frames. */
const PAD_FRAMES = 20;

/** Fewer frames of speech are a click. */
const LEAST_SPEECH_FRAMES = 5;

/** Gathers frames into stretches: silence is left out, and long speech is cut where it pauses. */
class Cutter {
  readonly #noise = new NoiseFloor();
  #limit = Number.POSITIVE_INFINITY;
  #frames: Frame[] = [];
  /** Frames before the first of `#frames`. */
  #passed = 0;
  #spoken = 0;
  #pause = 0;

  /** Takes a frame of 20 ms; gives a stretch when one is whole. */
  add(samples: Float32Array): SpokenStretch | undefined {
    const level = levelOf(samples);
    const limit = Math.max(LEAST_LEVEL, this.#noise.add(level) * ABOVE_NOISE);
    this.#frames.push({ samples, level, isSpeech: level > limit });
    // What was taken for noise may turn out to be speech when it pauses.
    if (limit < this.#limit) for (const frame of this.#frames) frame.isSpeech ||= frame.level > limit;
    this.#limit = limit;
    this.#count();
    const { length } = this.#frames;
    if (this.#spoken === 0) {
      if (length > NOISE_PARTS * NOISE_PART_FRAMES) this.#drop(NOISE_PART_FRAMES);
      return undefined;
    }
    const isPaused = this.#pause >= (length >= USUAL_FRAMES ? SHORT_PAUSE_FRAMES : LONG_PAUSE_FRAMES);
    if (isPaused) return this.#take(length);
    return length >= MOST_FRAMES ? this.#take(this.#quietest()) : undefined;
  }

  /** What is left at the end. */
  end(): SpokenStretch | undefined {
    return this.#take(this.#frames.length);
  }

  #count(): void {
    this.#spoken = 0;
    this.#pause = 0;
    for (const { isSpeech } of this.#frames) {
      if (isSpeech) this.#spoken += 1;
      this.#pause = isSpeech ? 0 : this.#pause + 1;
    }
  }

  /** The frame of the last seconds after which cutting harms least. */
  #quietest(): number {
    let best = this.#frames.length;
    for (let at = this.#frames.length - CUT_FRAMES; at < this.#frames.length; at += 1)
      if (this.#frames[at]!.level <= (this.#frames[best - 1]?.level ?? 0)) best = at + 1;
    return best;
  }

  #take(count: number): SpokenStretch | undefined {
    const taken = this.#frames.slice(0, count);
    const first = Math.max(0, taken.findIndex(({ isSpeech }) => isSpeech) - PAD_FRAMES);
    const last = taken.findLastIndex(({ isSpeech }) => isSpeech);
    const start = ((this.#passed + first) * FRAME) / LISTEN_RATE;
    this.#drop(count);
    if (taken.filter(({ isSpeech }) => isSpeech).length < LEAST_SPEECH_FRAMES) return undefined;
    const kept = taken.slice(first, last + 1 + PAD_FRAMES);
    const samples = new Float32Array(kept.reduce((sum, frame) => sum + frame.samples.length, 0));
    let at = 0;
    for (const frame of kept) {
      samples.set(frame.samples, at);
      at += frame.samples.length;
    }
    return { samples, start };
  }

  #drop(count: number): void {
    this.#frames = this.#frames.slice(count);
    this.#passed += count;
  }
}

/** The quietest frame of the last seconds. */
class NoiseFloor {
  readonly #parts: number[] = [];
  #part = Number.POSITIVE_INFINITY;
  #count = 0;

  add(level: number): number {
    this.#part = Math.min(this.#part, level);
    const quietest = Math.min(this.#part, ...this.#parts);
    this.#count += 1;
    if (this.#count === NOISE_PART_FRAMES) {
      this.#parts.push(this.#part);
      if (this.#parts.length > NOISE_PARTS) this.#parts.shift();
      this.#part = Number.POSITIVE_INFINITY;
      this.#count = 0;
    }
    return quietest;
  }
}

function levelOf(frame: Float32Array): number {
  let squares = 0;
  for (const sample of frame) squares += sample * sample;
  const level = Math.sqrt(squares / frame.length);
  return Number.isFinite(level) ? level : 0;
}
