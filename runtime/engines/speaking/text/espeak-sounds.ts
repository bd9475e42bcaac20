import type { Phrase } from '../../contracts/speaking.js';
import { planSounds } from './plan.js';
import type { Accent } from './sounds.js';

/** Symbols of a phrase at most. */
const MOST_SYMBOLS = 500;
/** Symbols that stand for two sounds, and the same written as espeak-ng does. */
const BOTH: readonly (readonly [RegExp, string])[] = [
  [/A/g, 'eɪ'],
  [/I/g, 'aɪ'],
  [/W/g, 'aʊ'],
  [/Y/g, 'ɔɪ'],
  [/ʤ/g, 'dʒ'],
  [/ʧ/g, 'tʃ'],
  [/ᵊ/g, 'ə'],
];
/** espeak-ng marks long vowels in both; "i" is long under a stress and in short words. */
const OF_ACCENT: Readonly<Record<Accent, readonly (readonly [RegExp, string])[]>> = {
  US: [
    [/O/g, 'oʊ'],
    [/T/g, 'ɾ'],
    [/ɜɹ/g, 'ɜː'],
    [/əɹ/g, 'ɚ'],
    [/([ɑɔu])/g, '$1ː'],
    [/([ˈˌ])i/g, '$1iː'],
    [/^([^aeiouæɐɑɒɔəɚɛɜɪʊʌ]*)i$/u, '$1iː'],
  ],
  GB: [
    [/Q/g, 'əʊ'],
    [/ɛː/g, 'eə'],
  ],
};

/** A word in the symbols of Kokoro, as espeak-ng writes it. */
export function espeakSounds(symbols: string, accent: Accent): string {
  return [...OF_ACCENT[accent], ...BOTH].reduce((text, [from, to]) => text.replace(from, to), symbols);
}

/** The phrases of an English text for an engine that learnt the symbols of espeak-ng. */
export function planEspeakSounds(text: string, accent: Accent): Phrase[] {
  return planSounds(text, accent, MOST_SYMBOLS).map((phrase) => {
    const symbols = [...phrase.script];
    let at = 0;
    const parts = phrase.words.map(({ word, length }) => {
      const part = symbols.slice(at, at + length).join('');
      at += length;
      const script = part.replace(/[^\s.,;:!?…—]+/g, (sounds) => espeakSounds(sounds, accent));
      return { word, script };
    });
    return {
      ...phrase,
      script: parts.map(({ script }) => script).join(''),
      words: parts.map(({ word, script }) => ({ word, length: [...script].length })),
    };
  });
}
