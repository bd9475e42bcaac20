import { spell } from '../../../../runtime/engines/tokenizers/byte-alphabet.js';

const START = '<|startoftext|>';
const END = '<|endoftext|>';
const WORD_END = '</w>';

/** The files of a CLIP tokenizer in which each of `words` is one token. */
export interface ClipFiles {
  /** `vocab.json`. */
  readonly vocab: Readonly<Record<string, number>>;
  /** `merges.txt`. */
  readonly merges: string;
}

/** Makes the files; words are of lower-case letters. */
export function clipFiles(words: readonly string[]): ClipFiles {
  const letters = Array.from({ length: 256 }, (_, byte) => spell(Uint8Array.of(byte)));
  const tokens = new Set([...letters, ...letters.map((letter) => letter + WORD_END)]);
  const merges: string[] = [];
  // Long words first: the merges of a short one inside them must not win.
  for (const word of [...words].sort((a, b) => b.length - a.length)) {
    let left = word[0]!;
    for (let at = 1; at < word.length; at += 1) {
      const right = word[at]! + (at === word.length - 1 ? WORD_END : '');
      if (!merges.includes(`${left} ${right}`)) merges.push(`${left} ${right}`);
      left += right;
      tokens.add(left);
    }
  }
  const vocab = Object.fromEntries([...tokens, START, END].map((token, id) => [token, id]));
  return { vocab, merges: ['#version: 0.2', ...merges, ''].join('\n') };
}
