/** A piece of an answer that is shown, and spoken unless it is code. */
export interface Phrase {
  readonly text: string;
  readonly isCode: boolean;
}

/** How an answer is cut. */
export interface PhraseOptions {
  /** Phrases end only where sentences and lines do. Absent: so from the second on; the first may end at a comma or after eight words. */
  readonly sentencesOnly?: boolean | undefined;
}

/** Characters that a phrase has at least, where it does not end with a sentence. */
const LEAST_CHARS = 12;
const LEAST_FIRST_CHARS = 5;
const LEAST_BEFORE_CONJUNCTION = 40;
const MOST_CHARS = 500;
const MOST_WORDS = 80;
const MOST_FIRST_WORDS = 8;
/** Text is taken in pieces of this size, so that the buffer that is searched stays short. */
const PIECE_CHARS = 256;
const FENCE = '```';

/** The end of a sentence and the closing marks behind it; in scripts without spaces nothing needs to follow. */
const SENTENCE_END = /(?:[.!?…]+["'”’»)\]]*(?=\s)|[。！？]+[」』”’）]*)/g;
const LINE_END = /\n/g;
const WITHIN = /[;:,](?=\s)|\s(?=[-–—]\s)|(?<=[\p{L}\p{N}])(?=—)|\)(?=\s)|[，、；：]/gu;
const CONJUNCTION = /\s(?=(?:and|or|but|so|yet)\s)/gi;
/** A full stop behind one of these ends no sentence. */
const ABBREVIATION =
  /(?:^|[\s("'“])(?:(?:mr|mrs|ms|dr|prof|sr|jr|st|mt|vs|etc|approx|dept|est|fig|inc|ltd|co|e\.g|i\.e|a\.m|p\.m)|\p{Lu}(?:\.\p{Lu})*)\.$/iu;
const SINGLE_LETTER = /(?:^|\s)\p{Lu}\.$/u;
/** The number of a list's item. */
const ITEM_NUMBER = /(?:^|\n)\s*\d{1,3}\.$/;

/**
 * Cuts the text of an answer into phrases as it streams in. A mark at the end of what has come waits for one more token, which tells whether it
 * ends a sentence.
 */
export class PhraseSplitter {
  readonly #options: PhraseOptions;
  #buffer = '';
  #first = true;
  #isCode = false;

  constructor(options: PhraseOptions = {}) {
    this.#options = options;
  }

  /** Takes the next text; returns the phrases that it completes. */
  push(text: string): Phrase[] {
    const phrases: Phrase[] = [];
    for (let from = 0; from < text.length; from += PIECE_CHARS) {
      this.#buffer += text.slice(from, from + PIECE_CHARS);
      while (this.#cut(phrases));
    }
    return phrases;
  }

  /** What is left at the end of the answer. */
  end(): Phrase[] {
    const phrases: Phrase[] = [];
    // The blank stands for the token that never comes.
    this.#buffer += ' ';
    while (this.#cut(phrases));
    this.#take(this.#buffer.length, phrases);
    return phrases;
  }

  #cut(phrases: Phrase[]): boolean {
    const fence = this.#buffer.indexOf(FENCE);
    if (fence >= 0) {
      this.#cutAtFence(fence, phrases);
      return true;
    }
    if (this.#isCode) {
      if (this.#buffer.length < MOST_CHARS) return false;
      this.#take(this.#buffer.length - FENCE.length, phrases);
      return true;
    }
    const at = this.#end();
    if (at === undefined) return false;
    this.#take(at, phrases);
    return true;
  }

  #cutAtFence(fence: number, phrases: Phrase[]): void {
    this.#take(fence, phrases);
    this.#buffer = this.#buffer.slice(FENCE.length);
    this.#isCode = !this.#isCode;
  }

  #take(length: number, phrases: Phrase[]): void {
    const text = this.#buffer.slice(0, length).trim();
    this.#buffer = this.#buffer.slice(length);
    if (text === '') return;
    phrases.push({ text, isCode: this.#isCode });
    if (!this.#isCode) this.#first = false;
  }

  /** Where the phrase at the start of the buffer ends; absent while that is not known. */
  #end(): number | undefined {
    const text = this.#buffer;
    const least = this.#first ? LEAST_FIRST_CHARS : LEAST_CHARS;
    const sentence = firstEnd(text, SENTENCE_END, 1, endsSentence);
    const line = firstEnd(text, LINE_END, least);
    const complete = earlierOf(sentence, line);
    const early = this.#splitsEarly() ? this.#earlyEnd(text, least) : undefined;
    const found = earlierOf(complete, early);
    const most = Math.min(MOST_CHARS, endOfWords(text, MOST_WORDS) ?? MOST_CHARS);
    if (found !== undefined && found <= most) return found;
    return text.length > most ? forcedEnd(text.slice(0, most)) : undefined;
  }

  #splitsEarly(): boolean {
    const { sentencesOnly } = this.#options;
    return sentencesOnly === false || (sentencesOnly === undefined && this.#first);
  }

  #earlyEnd(text: string, least: number): number | undefined {
    const within = earlierOf(firstEnd(text, WITHIN, least), firstEnd(text, CONJUNCTION, LEAST_BEFORE_CONJUNCTION));
    const words = this.#first && this.#options.sentencesOnly === undefined ? endOfWords(text, MOST_FIRST_WORDS) : undefined;
    return earlierOf(within, words);
  }
}

/** Where a phrase is cut that has no end: within the sentence, else in its middle, else nowhere. */
function forcedEnd(text: string): number {
  const within = lastEnd(text, WITHIN) ?? lastEnd(text, CONJUNCTION);
  return within ?? endOfWords(text, Math.ceil(countWords(text) / 2)) ?? text.length;
}

function earlierOf(one: number | undefined, other: number | undefined): number | undefined {
  if (one === undefined || other === undefined) return one ?? other;
  return Math.min(one, other);
}

/** The end of the first match at or behind `least` characters for which `accepts` holds. */
function firstEnd(text: string, pattern: RegExp, least: number, accepts: (head: string) => boolean = () => true): number | undefined {
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (text.slice(0, end).trim().length >= least && accepts(text.slice(0, end))) return end;
  }
  return undefined;
}

function lastEnd(text: string, pattern: RegExp): number | undefined {
  let last: number | undefined;
  for (const match of text.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (end >= LEAST_CHARS) last = end;
  }
  return last;
}

function endsSentence(head: string): boolean {
  return !(ABBREVIATION.test(head) || SINGLE_LETTER.test(head) || ITEM_NUMBER.test(head));
}

function countWords(text: string): number {
  return text.match(/\S+/g)?.length ?? 0;
}

/** Where word number `count` ends, where another blank follows it. */
function endOfWords(text: string, count: number): number | undefined {
  let found = 0;
  for (const match of text.matchAll(/\S+(?=\s)/g)) {
    found += 1;
    if (found === count) return match.index + match[0].length;
  }
  return undefined;
}
