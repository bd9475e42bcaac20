import type { SpokenWord } from '../speech/contract.js';

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
    return joined(this.#phrases.map(({ text }) => text));
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
    return joined(heard);
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

function joined(texts: readonly string[]): string {
  return texts.join(' ');
}
