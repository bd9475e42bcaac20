import { type Span, wordsOf } from '../../text/words.js';
import type { Entity, EntityType, Method } from './figures.js';
import * as lexicon from './lexicon.js';

/** Words of one name; more make no name. */
const NAME_WORDS = 8;
/** Small words inside the names of people and places. */
const PARTICLES = new Set(['de', 'van', 'von', 'der', 'la', 'du', 'da', 'del', 'di']);
const CAPITAL = /^\p{Lu}|^i[A-Z]/u;
const NUMBER = /^\d{1,4}$/;
const CLAUSES = new Set(['article', 'section', 'amendment', 'title']);

/** Capitalised words that follow each other, with what links them inside. */
interface Run {
  readonly words: readonly Span[];
  /** What stands before is a title. */
  readonly titled: boolean;
  readonly opensSentence: boolean;
}

const lower = (word: Span | undefined): string => word?.text.toLowerCase() ?? '';

/** The runs of a text: a space, a hyphen, `&` or the stop of an initial may lie between words. */
function* runsOf(text: string): Generator<Run> {
  const words = wordsOf(text);
  let at = 0;
  while (at < words.length) {
    if (!CAPITAL.test(words[at]!.text)) {
      at += 1;
      continue;
    }
    const run = runAt(text, words, at);
    at += run.length;
    const before = text.slice(Math.max(0, run[0]!.start - 3), run[0]!.start);
    yield* split(run, /^$|[.!?:\n"“•*#-]\s*$/.test(before) || run[0]!.start === 0);
  }
}

/** Whether a small word goes on with the name before it, as in "Bank of England", "Act of 1990" and "Ludwig van Beethoven". */
function links(text: string, before: Span, word: Span, after: Span | undefined): boolean {
  if (!after || text.slice(word.end, after.start) !== ' ') return false;
  if (PARTICLES.has(word.text)) return CAPITAL.test(after.text);
  const opens = lexicon.ORG_STARTS.has(lower(before)) || lexicon.LAW_ENDS.has(lower(before)) || lower(before) === 'states';
  if (word.text === 'of' || word.text === 'for')
    return opens && (after.text === 'the' || CAPITAL.test(after.text) || NUMBER.test(after.text));
  return word.text === 'the' && (before.text === 'of' || before.text === 'for') && CAPITAL.test(after.text);
}

/** Words from `at` on that make one run. */
function runAt(text: string, words: readonly Span[], at: number): Span[] {
  const run = [words[at]!];
  for (let next = at + 1; next < words.length && run.length < NAME_WORDS; next += 1) {
    const last = run.at(-1)!;
    const word = words[next]!;
    const gap = text.slice(last.end, Math.min(word.start, last.end + 4));
    const initial = gap === '. ' && (/^\p{Lu}$/u.test(last.text) || lexicon.TITLES.has(lower(last)));
    if (gap !== ' ' && gap !== ' & ' && !initial) break;
    if (!CAPITAL.test(word.text) && !NUMBER.test(word.text) && !links(text, last, word, words[next + 1])) break;
    run.push(word);
  }
  while (run.length > 1 && /^\p{Ll}/u.test(run.at(-1)!.text) && !CAPITAL.test(run.at(-1)!.text)) run.pop();
  return run;
}

/** Takes titles and words that only open a sentence off the front of a run. */
function* split(run: readonly Span[], opensSentence: boolean): Generator<Run> {
  let first = 0;
  let titled = false;
  while (
    first < run.length - 1 &&
    (lexicon.TITLES.has(lower(run[first])) || /^(?:the|a|an|in|on|at|this|that|our|we|he|she|it|but|and|if|when)$/.test(lower(run[first])))
  ) {
    titled = lexicon.TITLES.has(lower(run[first]));
    first += 1;
  }
  yield { words: run.slice(first), titled, opensSentence: opensSentence && first === 0 };
}

type Verdict = readonly [EntityType, Method] | undefined;

/** What the words themselves say of a name. */
function byWords(name: string, first: string, last: string, words: readonly Span[]): Verdict {
  const { length } = words;
  if (lexicon.COUNTRIES_AND_CITIES.has(name)) return ['GPE', 'pattern'];
  if (lexicon.ORGS.has(name)) return ['ORG', 'pattern'];
  if (lexicon.PLACES.has(name)) return ['LOC', 'pattern'];
  if (lexicon.LAWS.has(name)) return ['LAW', 'pattern'];
  if (lexicon.PRODUCTS.has(first) && words.slice(1).every((word) => NUMBER.test(word.text) || lexicon.EDITIONS.has(lower(word))))
    return ['PRODUCT', 'pattern'];
  if (CLAUSES.has(first) && length === 2 && NUMBER.test(last)) return ['LAW', 'pattern'];
  if (length === 1) return undefined;
  const has = (list: ReadonlySet<string>): boolean => list.has(last) || (NUMBER.test(last) && list.has(lower(words.at(-2))));
  if (/\bwar(?: i{1,3})?$|\bcup(?: \d{4})?$/.test(name) || has(lexicon.EVENT_ENDS)) return ['EVENT', 'pattern'];
  if (has(lexicon.LAW_ENDS) || words.some((word, index) => lexicon.LAW_ENDS.has(lower(word)) && lower(words[index + 1]) === 'of'))
    return ['LAW', 'pattern'];
  if (lexicon.ORG_STARTS.has(first) && /^(?:of|for)$/.test(lower(words[1]))) return ['ORG', 'pattern'];
  if (lexicon.PLACE_STARTS.has(first) || lexicon.PLACE_ENDS.has(last)) return ['LOC', 'pattern'];
  if (lexicon.FACILITY_ENDS.has(last)) return ['FAC', 'pattern'];
  return lexicon.ORG_ENDS.has(last) ? ['ORG', 'pattern'] : undefined;
}

function verdictOf({ words, titled, opensSentence }: Run): Verdict {
  const name = words
    .map((word) => word.text)
    .join(' ')
    .toLowerCase();
  const known = byWords(name, lower(words[0]), lower(words.at(-1)), words);
  if (known) return known;
  if (lexicon.PLAIN.has(lower(words[0])) || NUMBER.test(words.at(-1)!.text)) return undefined;
  if (titled) return ['PERSON', 'pattern'];
  if (words.length > 1 && words.length <= 4 && lexicon.GIVEN_NAMES.has(lower(words[0]))) return ['PERSON', 'pattern'];
  if (words.length === 1 && /^\p{Lu}{2,6}$/u.test(words[0]!.text)) return ['ORG', 'capitalization'];
  return words.length >= 2 && words.length <= 3 && !opensSentence ? ['PERSON', 'capitalization'] : undefined;
}

/** Entities that are names, by English word lists and capitals. */
export function* namesIn(text: string): Generator<Entity> {
  for (const run of runsOf(text)) {
    const [type, method] = verdictOf(run) ?? [];
    if (!type || !method) continue;
    const start = run.words[0]!.start;
    const end = run.words.at(-1)!.end;
    yield { type, text: text.slice(start, end), start, end, method };
  }
}
