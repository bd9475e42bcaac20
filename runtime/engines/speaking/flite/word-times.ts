import type { Phrase, WordTime } from '../../contracts/speaking.js';

/** `name:end` of each sound that flite made, in seconds. */
const SEGMENT = /([a-z]+):(\d+\.\d+)/g;

/**
 * When each word sounds: the sounds that flite made, dealt to the words by the lengths of their texts; its pauses belong to no word. A word may be off by a
 * sound or two.
 */
export function wordTimes(printed: string, words: Phrase['words'], seconds: number): WordTime[] {
  let before = 0;
  const sounds: { start: number; end: number }[] = [];
  for (const [, name, text] of printed.matchAll(SEGMENT)) {
    const end = Math.min(Number(text), seconds);
    if (name !== 'pau') sounds.push({ start: before, end });
    before = end;
  }
  const total = words.reduce((sum, { length }) => sum + length, 0);
  let passed = 0;
  return words.map(({ word, length }) => {
    const first = sounds[Math.min(sounds.length - 1, Math.round((passed / total) * sounds.length))];
    passed += length;
    const last = sounds[Math.max(0, Math.min(sounds.length - 1, Math.round((passed / total) * sounds.length) - 1))];
    const start = first?.start ?? 0;
    return { word, start, end: Math.max(start, last?.end ?? 0) };
  });
}
