import assert from 'node:assert/strict';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, it } from 'node:test';
import { byLetters, lookUp, phonesOf } from '../../runtime/engines/speaking/text/pronounce.js';
import { type Accent, symbolsOf } from '../../runtime/engines/speaking/text/sounds.js';

/** The dictionaries of the text-to-sound program that Kokoro was trained with. */
const FOLDER = join(import.meta.dirname, '..', '..', 'speech-kit', 'models--hexgrad--misaki', 'snapshots', '0'.repeat(40));
const SKIP = existsSync(FOLDER) ? false : 'build/speech-kit has no dictionaries: run scripts/speech-kit.mjs';
/** Every so manieth word is compared. */
const STEP = 7;

type Entry = string | Readonly<Record<string, string | null>>;

/** The ways a word is said, without stress, and with the two sounds that Kokoro's first version writes in another way. */
const saidIn = (entry: Entry): string[] =>
  (typeof entry === 'string' ? [entry] : Object.values(entry)).flatMap((said) => (said === null ? [] : [bare(said)]));
const bare = (symbols: string): string => symbols.replace(/ɾ/g, 'T').replace(/ʔ/g, 't').replace(/[ˈˌ]/g, '');

function distance(first: string, second: string): number {
  const other = [...second];
  let row = Array.from({ length: other.length + 1 }, (_none, at) => at);
  for (const [index, symbol] of [...first].entries()) {
    const next = [index + 1];
    for (const [at, one] of other.entries()) next.push(Math.min(row[at]! + Number(symbol !== one), row[at + 1]! + 1, next[at]! + 1));
    row = next;
  }
  return row.at(-1)!;
}

/** The shares of words that are the same and of symbols that are wrong. */
function compared(accent: Accent, phones: (word: string) => readonly string[] | undefined): { same: number; wrong: number } {
  const file = join(FOLDER, accent === 'US' ? 'us_gold.json' : 'gb_gold.json');
  const entries = Object.entries(JSON.parse(readFileSync(file, 'utf8')) as Record<string, Entry>);
  let [words, same, symbols, wrong] = [0, 0, 0, 0];
  for (const [index, [word, entry]] of entries.entries()) {
    const sounds = index % STEP === 0 && /^[a-z']+$/.test(word) ? phones(word) : undefined;
    if (!sounds) continue;
    const ours = bare(symbolsOf(sounds, word, accent));
    const best = saidIn(entry)
      .map((theirs) => ({ theirs, errors: distance(ours, theirs) }))
      .sort((one, other) => one.errors - other.errors)[0]!;
    words += 1;
    same += Number(best.errors === 0);
    symbols += [...best.theirs].length;
    wrong += best.errors;
  }
  return { same: same / words, wrong: wrong / symbols };
}

describe('how words are said, beside the dictionaries that Kokoro was trained with', { skip: SKIP }, () => {
  for (const [accent, least, most] of [
    ['US', 0.68, 0.06],
    ['GB', 0.66, 0.075],
  ] as const)
    it(`words of our dictionary, ${accent}`, () => {
      const { same, wrong } = compared(accent, (word) => lookUp(word) && phonesOf(word));
      assert.ok(same >= least && wrong <= most, `${same} of the words are the same, ${wrong} of the symbols are wrong`);
    });

  it('words that our dictionary lacks', () => {
    const { wrong } = compared('US', (word) => (lookUp(word) ? undefined : phonesOf(word)));
    assert.ok(wrong <= 0.18, `${wrong} of the symbols are wrong`);
  });

  it('words by their letters alone', () => {
    const { wrong } = compared('US', (word) => lookUp(word) && byLetters(word));
    assert.ok(wrong <= 0.2, `${wrong} of the symbols are wrong`);
  });
});
