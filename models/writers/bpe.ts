import { BYTE_CHARS, spell } from '../../runtime/engines/tokenizers/byte-alphabet.js';

/**
 * Words as the `qwen2` pre-tokeniser of llama.cpp cuts them: contractions, a run of letters with one leading
 * other character, single digits, punctuation with its line breaks, white space.
 */
const WORDS = /'(?:[sdmt]|re|ve|ll)|[^\r\n\p{L}\p{N}]?\p{L}+|\p{N}| ?[^\s\p{L}\p{N}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|\s+/giu;

/** The value of `tokenizer.ggml.pre` that the vocabularies made here go with. */
export const PRE_TOKENIZER = 'qwen2';

/** Cuts text into the words inside which merges happen. */
export function splitWords(source: string): string[] {
  return source.match(WORDS) ?? [];
}

const pairKey = (left: string, right: string): string => `${left} ${right}`;

function mergeAll(symbols: readonly string[], left: string, right: string): string[] {
  const out: string[] = [];
  for (let index = 0; index < symbols.length; index += 1) {
    if (symbols[index] === left && symbols[index + 1] === right) {
      out.push(left + right);
      index += 1;
    } else out.push(symbols[index]!);
  }
  return out;
}

/**
 * A byte-level BPE vocabulary under construction: the 256 bytes first, then one token per merge.
 * A merge added later has a lower priority, so it never changes how earlier whole words are cut.
 */
export class Bpe {
  readonly #ranks = new Map<string, number>();
  readonly #tokens: string[] = [...BYTE_CHARS];
  readonly #known = new Set<string>(BYTE_CHARS);

  /** Token texts, spelled in the byte alphabet; the position is the token id. */
  get tokens(): readonly string[] {
    return this.#tokens;
  }

  /** Merges in order of priority, each `left right`. */
  get merges(): string[] {
    return [...this.#ranks.keys()];
  }

  /** Adds one merge of two tokens; false where it or its result exists already. */
  addMerge(left: string, right: string): boolean {
    if (this.#known.has(left + right)) return false;
    this.#ranks.set(pairKey(left, right), this.#ranks.size);
    this.#known.add(left + right);
    this.#tokens.push(left + right);
    return true;
  }

  /** Adds the merges that make `word` (plain text, one word of `splitWords`) a single token; returns its spelling. */
  addWord(word: string): string {
    for (let symbols = this.cut(spell(word)); symbols.length > 1; symbols = this.cut(spell(word))) {
      if (!this.addMerge(symbols[0]!, symbols[1]!)) throw new RangeError(`"${word}" cannot become one token: ${symbols.join(' ')}`);
    }
    return spell(word);
  }

  /**
   * Learns up to `count` merges from a text: each time the most frequent pair, ties to the one first in code unit order.
   * The tokens in `whole` are never merged into longer ones.
   */
  train(source: string, count: number, whole: ReadonlySet<string> = new Set()): void {
    const frequency = new Map<string, number>();
    for (const word of splitWords(source)) frequency.set(word, (frequency.get(word) ?? 0) + 1);
    let words = [...frequency].map(([word, times]) => ({ symbols: this.cut(spell(word)), times }));
    const refused = new Set<string>();
    for (let learned = 0; learned < count; ) {
      const best = bestPair(words, refused, whole);
      if (best === undefined) return;
      const [left, right] = best;
      if (!this.addMerge(left, right)) {
        refused.add(pairKey(left, right));
        continue;
      }
      learned += 1;
      words = words.map(({ symbols, times }) => ({ symbols: mergeAll(symbols, left, right), times }));
    }
  }

  /** One spelled word as tokens, lowest rank first, leftmost first among equals. */
  cut(spelled: string): string[] {
    let symbols = Array.from(spelled);
    for (;;) {
      let best = Number.POSITIVE_INFINITY;
      let at = -1;
      for (let index = 0; index + 1 < symbols.length; index += 1) {
        const rank = this.#ranks.get(pairKey(symbols[index]!, symbols[index + 1]!));
        if (rank !== undefined && rank < best) {
          best = rank;
          at = index;
        }
      }
      if (at < 0) return symbols;
      symbols = [...symbols.slice(0, at), symbols[at]! + symbols[at + 1]!, ...symbols.slice(at + 2)];
    }
  }

  /** Plain text as token spellings. */
  encode(source: string): string[] {
    return splitWords(source).flatMap((word) => this.cut(spell(word)));
  }
}

function bestPair(
  words: readonly { symbols: string[]; times: number }[],
  refused: ReadonlySet<string>,
  whole: ReadonlySet<string>,
): [string, string] | undefined {
  const counts = new Map<string, number>();
  for (const { symbols, times } of words) {
    for (let index = 0; index + 1 < symbols.length; index += 1) {
      if (whole.has(symbols[index]!) || whole.has(symbols[index + 1]!)) continue;
      const key = pairKey(symbols[index]!, symbols[index + 1]!);
      counts.set(key, (counts.get(key) ?? 0) + times);
    }
  }
  let best: string | undefined;
  let most = 1;
  for (const [key, times] of counts) {
    if (times > most || (times === most && best !== undefined && key < best)) {
      if (refused.has(key)) continue;
      best = key;
      most = times;
    }
  }
  return best?.split(' ') as [string, string] | undefined;
}
