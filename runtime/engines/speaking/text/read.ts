import { addressWords, dateWords, fractionWords, moneyWords, numberWords, timeWords } from './figures.js';
import { withoutMarkdown } from './markdown.js';
import { ABBREVIATIONS, COUNTED, NUMBERED_NAMES, SHORT_WORDS, STARTERS, UNITS } from './tables.js';
import type { Chunk, Mark, Reading, Rule, Token } from './token.js';
import { cardinal, ordinal, plainWords, roman } from './words.js';

const OPENING = /^["'“”‘’«([{<*_|]+/;
const CLOSING = /["'“”’»)\]}>*_|.,;:!?…—–-]+$/;

function chunkOf(source: string): Chunk {
  const opened = source.replace(OPENING, '');
  const end = CLOSING.exec(opened)?.[0] ?? '';
  let core = opened.slice(0, opened.length - end.length);
  // A sign alone stays what it is.
  if (core === '' && /[+&=<>-]/.test(source) && source.length === 1) core = source;
  const ellipsis = end.includes('...') || end.includes('…');
  const mark = ellipsis
    ? '…'
    : ((/[!?]/.exec(end)?.[0] ?? /[.;:,]/.exec(end)?.[0] ?? (/[—–]/.test(end) || end === '--' ? '—' : '')) as Mark);
  return { source, core, hasPoint: end.startsWith('.') && !ellipsis, mark };
}

/** Letters that are read: accents are dropped, and curly apostrophes straightened. What is no Latin letter, digit or sign is left out. */
function latin(text: string): string {
  return text
    .normalize('NFKD')
    .replace(/[\u0300-\u036f]/g, '')
    .replace(/[’‘ʼ`´]/g, "'")
    .replaceAll('ß', 'ss')
    .replace(/[æÆ]/g, 'ae')
    .replace(/[øØ]/g, 'o')
    .replace(/[œŒ]/g, 'oe')
    .replace(/[łŁ]/g, 'l')
    .replace(/−/g, '-')
    .replace(/⁄/g, '/')
    .replace(/([^\s])([—…])(?=[^\s])/g, '$1$2 ')
    .replace(/[^\x20-\x7e\n£€¥₹°×÷≤≥±≈→√§©µ“”«»—–…•]/gu, ' ');
}

/** The text as tokens: each with what is said for it. */
export function readText(text: string): Token[] {
  const lines = withoutMarkdown(text.normalize('NFC').replace(/([²³])/g, (one) => (one === '²' ? '2' : '3'))).split('\n');
  return lines.flatMap((line) =>
    readLine(
      latin(line)
        .split(/\s+/)
        .filter((one) => one !== '')
        .map(chunkOf),
    ),
  );
}

const RULES: readonly Rule[] = [addressWords, moneyWords, timeWords, dateWords, abbreviation, romanNumber, fractionWords, numberWords];

function readLine(chunks: readonly Chunk[]): Token[] {
  const tokens: Token[] = [];
  const isLoud = chunks.filter(isCapital).length * 2 > chunks.length + 2;
  for (let at = 0; at < chunks.length; ) {
    const { core } = chunks[at]!;
    let reading: Reading | undefined;
    for (const rule of RULES) {
      reading ??= rule(core, chunks, at);
    }
    reading ??= { words: plainWords(core, isLoud || isBesideLoud(chunks, at)) };
    const took = reading.took ?? 1;
    const source = chunks
      .slice(at, at + took)
      .map((chunk) => chunk.source)
      .join(' ');
    tokens.push({ source, words: reading.words, mark: markOf(chunks, at + took - 1) });
    at += took;
  }
  return tokens;
}

/** The point of a short form ends a sentence only at the end of the line or where another one begins behind it, and never behind a title. */
function markOf(chunks: readonly Chunk[], at: number): Mark {
  const { core, mark, hasPoint } = chunks[at]!;
  const next = chunks[at + 1];
  if (mark !== '.' || !hasPoint || next === undefined) return mark;
  const beginsAnother = /^[A-Z]/.test(next.core);
  if (/^[A-Z]$/.test(core) && core !== 'I') return beginsAnother ? '' : mark;
  if (UNITS[core]) return beginsAnother ? mark : '';
  const short = ABBREVIATIONS[core.toLowerCase()];
  if (short === undefined || !isShort(core, next)) return mark;
  if (short.mid === true || !beginsAnother) return '';
  return core !== core.toUpperCase() || STARTERS.has(next.core.toLowerCase()) ? mark : '';
}

/** Some short forms are words too: "no" and "co" stand for others only before a number or with a capital letter. */
function isShort(core: string, next: Chunk | undefined): boolean {
  const name = core.toLowerCase();
  if (['no', 'p', 'pp'].includes(name)) return next !== undefined && /^\d/.test(next.core);
  if (['co', 'est', 'mt', 'st', 'fig', 'sen', 'gen'].includes(name)) return /^[A-Z]/.test(core) || (name === 'fig' && next !== undefined);
  return true;
}

function abbreviation(core: string, chunks: readonly Chunk[], at: number): Reading | undefined {
  const short = ABBREVIATIONS[core.toLowerCase()];
  const { hasPoint } = chunks[at]!;
  const isTitle = /^(?:Mr|Mrs|Ms|Dr|Prof)$/.test(core) || /^(?:vs|etc)$/.test(core);
  if (short === undefined || !(hasPoint || core.includes('.') || isTitle) || !isShort(core, chunks[at + 1])) return undefined;
  const before = chunks[at - 1];
  // "Elm St." is a street, "St. Ives" a saint; "Dr." behind a name is a drive.
  const isBehindName =
    before !== undefined && /^[A-Z][a-z]/.test(before.core) && before.mark === '' && !/^[A-Z]/.test(chunks[at + 1]?.core ?? '');
  if (core === 'St' && isBehindName) return { words: ['street'] };
  if (core === 'Dr' && isBehindName) return { words: ['drive'] };
  return { words: short.words.split(' ') };
}

function romanNumber(core: string, chunks: readonly Chunk[], at: number): Reading | undefined {
  const bare = core.replace(/'s$/, '');
  if (!/^[IVX]{1,6}$/.test(bare)) return undefined;
  const value = roman(bare);
  const before = chunks[at - 1]?.core.toLowerCase() ?? '';
  if (value === undefined) return undefined;
  const own = bare === core ? [] : ["'s"];
  const end = (words: string[]): Reading => ({ words: own.length === 0 ? words : [...words.slice(0, -1), `${words.at(-1)}'s`] });
  if (COUNTED.has(before)) return end(cardinal(String(value)));
  if (NUMBERED_NAMES.has(before) && bare !== 'I') return end(['the', ...ordinal(String(value))]);
  return undefined;
}

const isCapital = (chunk: Chunk | undefined): boolean => chunk !== undefined && /^[A-Z]{2,}$/.test(chunk.core);

/** Whether a word beside it is an ordinary one in capitals, so that its own capitals tell nothing. */
const isBesideLoud = (chunks: readonly Chunk[], at: number): boolean =>
  [chunks[at - 1], chunks[at + 1]].some((chunk) => isCapital(chunk) && (chunk!.core.length > 4 || SHORT_WORDS.has(chunk!.core)));
