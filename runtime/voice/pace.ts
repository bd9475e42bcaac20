import { SPEECH_RATE, type SpokenWord } from '../speech/contract.js';
import { Changes, type Clock } from './clock.js';

/** Samples of one message: 80 ms. */
const FRAME = 1920;
/** Sent ahead of what is heard, in seconds: the network may be late by so much. */
const LEAD_S = 0.4;
/** Audio that may wait here, in seconds; speaking further ahead waits. */
const MOST_WAITING_S = 10;
/** Bytes that the network has not taken; beyond, sending waits. */
const MOST_UNSENT_BYTES = SPEECH_RATE * 2;
/** An echo may come back so late, in seconds. */
const ECHO_S = 0.5;
/** A client that takes nothing for so long is given up. */
const STALL_MS = 10_000;

/** One message: audio, or one that belongs at its place between the audio. */
type Item = { readonly message: string } | { readonly samples: Int16Array };
/** A message that is out, and where it stands in the audio, in samples. */
type SentItem = Item & { readonly at: number };

/** Where audio goes. */
export interface AudioPort {
  send(content: string | Uint8Array): void;
  /** Bytes accepted but not yet taken by the network. */
  readonly bufferedBytes: number;
}

/** What a `PacedAudio` tells. */
interface PaceEvents {
  /** All has been heard. */
  finished(): void;
  /** The client has taken nothing for a long time. */
  stalled(): void;
}

/**
 * Sends the audio of one answer at the pace at which it is heard, a little ahead, so that what is stopped is silent at once, and what was heard
 * is known to a few milliseconds. Messages between the audio keep their places.
 */
export class PacedAudio {
  readonly #port: AudioPort;
  readonly #clock: Clock;
  readonly #events: PaceEvents;
  #queue: Item[] = [];
  #waiting = 0;
  /** What is out and perhaps not heard. */
  #ahead: SentItem[] = [];
  /** How loud the frames of the last moments are, and where each ends, in samples. */
  #levels: { readonly end: number; readonly level: number }[] = [];
  #sent = 0;
  #heard = 0;
  #heardAt = 0;
  #unsentSince: number | undefined;
  #timer: { cancel(): void } | undefined;
  #isPaused = false;
  #isEnded = false;
  #isClosed = false;
  readonly #changes = new Changes();

  constructor(port: AudioPort, clock: Clock, events: PaceEvents) {
    this.#port = port;
    this.#clock = clock;
    this.#events = events;
    this.#heardAt = clock.nowMs();
  }

  /** Seconds of the answer that were heard. */
  get heardS(): number {
    this.#advance();
    return this.#heard / SPEECH_RATE;
  }

  /** The loudest that sounds in the client's room about now, as a root mean square in 0..1: what its microphone hears of it is no louder. */
  get loudness(): number {
    this.#advance();
    return Math.max(0, ...this.#levels.map(({ level }) => level));
  }

  /** A message whose place is behind the audio so far. */
  message(text: string): void {
    this.#queue.push({ message: text });
    this.#step();
  }

  /** More audio. */
  audio(samples: Int16Array): void {
    for (let from = 0; from < samples.length; from += FRAME) this.#queue.push({ samples: samples.subarray(from, from + FRAME) });
    this.#waiting += samples.length;
    this.#step();
  }

  /** Resolves when there is room for more audio, or none is wanted. */
  async room(): Promise<void> {
    while (!this.#isClosed && this.#waiting > MOST_WAITING_S * SPEECH_RATE) await this.#changes.next();
  }

  /** Nothing more comes. */
  end(): void {
    this.#isEnded = true;
    this.#step();
  }

  /** Falls silent; what the client has and did not play counts as not heard. */
  pause(): void {
    if (this.#isPaused) return;
    this.#advance();
    this.#isPaused = true;
    this.#timer?.cancel();
    // The client throws away what it has not played, so that goes out once more.
    const unheard = this.#ahead.flatMap((item): Item[] => {
      if ('message' in item) return [item];
      const heard = Math.max(0, Math.round(this.#heard) - item.at);
      return [{ samples: item.samples.subarray(heard) }];
    });
    for (const item of unheard) if ('samples' in item) this.#waiting += item.samples.length;
    this.#queue = [...unheard, ...this.#queue];
    this.#ahead = [];
    this.#heard = Math.round(this.#heard);
    this.#sent = this.#heard;
  }

  /** Goes on where it was paused. */
  resume(): void {
    if (!this.#isPaused) return;
    this.#isPaused = false;
    this.#heardAt = this.#clock.nowMs();
    this.#step();
  }

  /** Sends nothing more, ever. */
  close(): void {
    this.#advance();
    this.#isClosed = true;
    this.#timer?.cancel();
    this.#queue = [];
    this.#waiting = 0;
    this.#changes.tell();
  }

  /** Moves the place that is heard: never beyond what has left for the client. */
  #advance(): void {
    const now = this.#clock.nowMs();
    const passed = ((now - this.#heardAt) / 1000) * SPEECH_RATE;
    this.#heardAt = now;
    if (this.#isPaused || this.#isClosed) return;
    const left = this.#sent - this.#port.bufferedBytes / 2;
    this.#heard = Math.max(this.#heard, Math.min(left, this.#heard + passed));
    while (this.#ahead.length > 0 && endOf(this.#ahead[0]!) <= this.#heard) this.#ahead.shift();
    while (this.#levels.length > 0 && this.#levels[0]!.end <= this.#heard - ECHO_S * SPEECH_RATE) this.#levels.shift();
  }

  #step(): void {
    if (this.#isPaused || this.#isClosed) return;
    this.#timer?.cancel();
    this.#advance();
    while (this.#queue.length > 0 && this.#maySend(this.#queue[0]!)) this.#send(this.#queue.shift()!);
    if (this.#waiting <= MOST_WAITING_S * SPEECH_RATE) this.#changes.tell();
    if (this.#isStalled()) {
      this.#events.stalled();
      return;
    }
    if (this.#isEnded && this.#queue.length === 0 && this.#heard >= this.#sent) {
      this.close();
      this.#events.finished();
      return;
    }
    if (this.#queue.length > 0 || this.#heard < this.#sent)
      this.#timer = this.#clock.after((FRAME / SPEECH_RATE) * 500, () => this.#step());
  }

  #maySend(item: Item): boolean {
    if ('message' in item) return true;
    if (this.#port.bufferedBytes > MOST_UNSENT_BYTES) return false;
    return this.#sent - this.#heard < LEAD_S * SPEECH_RATE;
  }

  #send(item: Item): void {
    this.#ahead.push({ ...item, at: this.#sent });
    if ('message' in item) {
      this.#port.send(item.message);
      return;
    }
    const { samples } = item;
    this.#port.send(new Uint8Array(samples.buffer, samples.byteOffset, samples.byteLength));
    this.#sent += samples.length;
    this.#levels.push({ end: this.#sent, level: rootMeanSquare(samples) });
    this.#waiting -= samples.length;
  }

  #isStalled(): boolean {
    if (this.#port.bufferedBytes <= MOST_UNSENT_BYTES) {
      this.#unsentSince = undefined;
      return false;
    }
    this.#unsentSince ??= this.#clock.nowMs();
    return this.#clock.nowMs() - this.#unsentSince >= STALL_MS;
  }
}

function endOf(item: SentItem): number {
  return item.at + ('samples' in item ? item.samples.length : 0);
}

function rootMeanSquare(samples: Int16Array): number {
  let sum = 0;
  for (const sample of samples) sum += sample * sample;
  return Math.sqrt(sum / Math.max(1, samples.length)) / 32768;
}

/** Words a second, where nothing else tells how fast a phrase is spoken. */
const USUAL_PACE = 2.6;

/** A phrase counts as heard to its end when so little of it is missing, in seconds. */
const END_TOLERANCE_S = 0.05;

interface SpokenPhrase {
  readonly text: string;
  /** Where it begins in the audio of the answer, in seconds. */
  readonly start: number;
  /** Seconds so far. */
  length: number;
  isWhole: boolean;
  readonly words: SpokenWord[];
}

/** Which text of an answer belongs to which second of its audio, so that the history can hold what was heard and no more. */
export class SpokenText {
  readonly #phrases: SpokenPhrase[] = [];
  #length = 0;

  /** `speed`: of the voice; 1 is its own pace. */
  constructor(private readonly speed: number) {}

  /** A phrase whose audio comes next; one that is not spoken has none. */
  begin(text: string): void {
    this.#phrases.push({ text, start: this.#length, length: 0, isWhole: false, words: [] });
  }

  /** More audio of the last phrase. Times of words count from the start of the phrase. */
  add(seconds: number, words: readonly SpokenWord[] = []): void {
    const phrase = this.#phrases.at(-1)!;
    phrase.length += seconds;
    phrase.words.push(...words);
    this.#length += seconds;
  }

  /** The last phrase has all its audio. */
  complete(): void {
    this.#phrases.at(-1)!.isWhole = true;
  }

  /** All the text, spoken or not. */
  get text(): string {
    return joinTexts(this.#phrases.map(({ text }) => text));
  }

  /** The text that was heard after so many seconds of audio. */
  until(seconds: number): string {
    const heard: string[] = [];
    for (const phrase of this.#phrases) {
      const part = this.#partOf(phrase, seconds - phrase.start);
      if (part === '') break;
      heard.push(part);
      if (part !== phrase.text) break;
    }
    return joinTexts(heard);
  }

  #partOf({ text, length, isWhole, words }: SpokenPhrase, seconds: number): string {
    if (isWhole && seconds >= length - END_TOLERANCE_S) return text;
    if (seconds <= 0) return '';
    const shown = [...text.matchAll(/\S+/g)];
    const count =
      words.length > 0
        ? wordsHeard(words, seconds, isWhole, shown.length)
        : this.#guess(seconds, isWhole ? length : undefined, shown.length);
    const last = shown[Math.min(count, shown.length) - 1];
    return last ? text.slice(0, last.index + last[0].length) : '';
  }

  /** Words that were heard where their times are not known. */
  #guess(seconds: number, length: number | undefined, words: number): number {
    const share = length === undefined ? (seconds * USUAL_PACE * this.speed) / words : seconds / length;
    return Math.floor(share * words);
  }
}

/** Of the words as they are shown, those that were heard; numbers and signs are spoken as more words than are shown. */
function wordsHeard(words: readonly SpokenWord[], seconds: number, isWhole: boolean, shown: number): number {
  const heard = words.filter(({ start, end }) => (start + end) / 2 <= seconds).length;
  return isWhole && words.length !== shown ? Math.floor((heard / words.length) * shown) : heard;
}

function joinTexts(texts: readonly string[]): string {
  return texts.join(' ');
}
