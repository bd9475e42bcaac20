import type { Entity } from '../../contracts/encoder.js';
import { CodePoints, type Span, wordsOf } from './token-places.js';

const LEADING_MARKS = /^\p{M}*/u;
/** What may not stand between two words of one entity. */
const SEEN = /[^\s\p{Cf}]/u;

/** The most probable label of a token, by its index, and its probability. */
export interface Labelling {
  readonly label: number;
  readonly score: number;
}

/** A token's label, and where it stands in the text. */
export interface PlacedToken extends Labelling {
  readonly place: Span;
}

interface LabelledWord extends Span {
  readonly token: PlacedToken;
}

interface Open {
  readonly type: string;
  readonly words: LabelledWord[];
}

/** The label that a token's logits name, one logit per label. */
export function labelOf(logits: Float32Array): Labelling {
  let label = 0;
  for (let at = 1; at < logits.length; at += 1) if (logits[at]! > logits[label]!) label = at;
  const sum = logits.reduce((total, logit) => total + Math.exp(logit - logits[label]!), 0);
  return { label, score: 1 / sum };
}

/** Each word with its first token; words that no token begins in are left out. */
function labelWords(text: string, tokens: readonly PlacedToken[], isNamed: (token: PlacedToken) => boolean): LabelledWord[] {
  const out: LabelledWord[] = [];
  let next = 0;
  for (const word of wordsOf(text)) {
    while (next < tokens.length && tokens[next]!.place.end <= word.start) next += 1;
    if (word.isDense) pushPieces(out, text, word, tokens, next, isNamed);
    else {
      let first = next;
      while (first < tokens.length && tokens[first]!.place.start < word.start) first += 1;
      const token = tokens[first];
      if (token && token.place.start < word.end) out.push({ start: word.start, end: word.end, token });
    }
  }
  return out;
}

/** The words of a run without spaces: each token is one, but for what the token before has taken. One that came from a word before makes that longer. */
function pushPieces(
  out: LabelledWord[],
  text: string,
  run: Span,
  tokens: readonly PlacedToken[],
  from: number,
  isNamed: (token: PlacedToken) => boolean,
): void {
  let taken = run.start;
  for (let at = from; at < tokens.length && tokens[at]!.place.start < run.end; at += 1) {
    const token = tokens[at]!;
    const stop = Math.min(token.place.end, run.end);
    const before = out.at(-1);
    // A bare word mark has its piece's place: of both the one counts that names something.
    if (before && before.token.place.start === token.place.start && !isNamed(before.token)) out.splice(-1, 1, { ...before, token });
    if (stop <= taken) continue;
    const follows = Math.min(Math.max(tokens[at + 1]?.place.start ?? run.end, stop), run.end);
    // Marks that the vocabulary does not see go with their letter.
    const end = stop + LEADING_MARKS.exec(text.slice(stop, follows))![0].length;
    const last = out.at(-1);
    const start = last?.token === token ? last.start : Math.max(token.place.start, taken);
    if (last?.token === token) out.pop();
    out.push({ start, end, token });
    taken = end;
  }
}

/** A label in the usual schemes: what it names, and whether it opens or ends a run. */
function partsOfLabel(label: string): { type: string; opens: boolean; ends: boolean } | undefined {
  if (label === '' || label === 'O') return undefined;
  const match = /^([BIESLU])[-_](.+)$/.exec(label);
  if (!match) return { type: label, opens: false, ends: false };
  return { type: match[2]!, opens: 'BSU'.includes(match[1]!), ends: 'ESLU'.includes(match[1]!) };
}

/**
 * Entities of a text from its tokens' labels, by words: a word has the label of its first token, words in a row of one type are one entity
 * (`B-` begins another), its score is the mean of its words, and its places count code points. In scripts that are written without spaces
 * every token is a word.
 */
export function entitiesOf(text: string, tokens: readonly PlacedToken[], labels: readonly string[]): Entity[] {
  const found: Open[] = [];
  let open: Open | undefined;
  const labelOfToken = ({ label }: PlacedToken): ReturnType<typeof partsOfLabel> => partsOfLabel(labels[label] ?? String(label));
  for (const word of labelWords(text, tokens, (token) => labelOfToken(token) !== undefined)) {
    const label = labelOfToken(word.token);
    const goesOn = label && open && !label.opens && open.type === label.type && !SEEN.test(text.slice(open.words.at(-1)!.end, word.start));
    if (goesOn) open!.words.push(word);
    else if (label) {
      open = { type: label.type, words: [word] };
      found.push(open);
    }
    if (!label || label.ends) open = undefined;
  }
  const points = new CodePoints(text);
  return found.map(({ type, words }) => {
    const { start } = words[0]!;
    const { end } = words.at(-1)!;
    const score = words.reduce((sum, word) => sum + word.token.score, 0) / words.length;
    return { text: text.slice(start, end), label: type, start: points.at(start), end: points.at(end), score };
  });
}

/** Tokens that neighbouring windows share, as a part of a window, and at most: what a token's meaning mostly hangs on lies as near. */
const SHARED_PART = 4;
const SHARED_TOKENS = 64;

/** A part of a long text that goes through the model at once, in tokens of the text; ends are exclusive. */
export interface Window {
  readonly start: number;
  readonly end: number;
  /** The tokens that are read from this window: each token of the text is read from the window in whose middle it lies nearest. */
  readonly from: number;
  readonly to: number;
}

/** The windows of at most `room` tokens over a text of so many tokens; one that is empty for an empty text. */
export function windowsOf(tokens: number, room: number): Window[] {
  if (tokens <= room) return [{ start: 0, end: tokens, from: 0, to: tokens }];
  const shared = Math.min(SHARED_TOKENS, Math.floor(room / SHARED_PART));
  const count = Math.ceil((tokens - shared) / (room - shared));
  // The last window is as full as the others: it has the more to go by.
  const starts = Array.from({ length: count }, (_, index) => Math.min(index * (room - shared), tokens - room));
  return starts.map((start, index) => {
    const before = index === 0 ? 0 : middle(start, starts[index - 1]! + room);
    const after = index === count - 1 ? tokens : middle(starts[index + 1]!, start + room);
    return { start, end: start + room, from: before, to: after };
  });
}

const middle = (from: number, to: number): number => Math.floor((from + to) / 2);
