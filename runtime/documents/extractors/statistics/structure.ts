import { emailsIn, urlsIn } from '../../text/addresses.js';
import type { Counted } from './basic.js';

const COUNTED_MARKS = '.,;:!?-–—…"\'“”‘’()[]{}/';

const COUNTED_UNITS = new Set([...COUNTED_MARKS].map((mark) => mark.charCodeAt(0)));

function countOf(found: Iterable<unknown>): number {
  let total = 0;
  for (const _ of found) total += 1;
  return total;
}

/** Marks, lists and addresses by number. `punctuation_counts` holds the marks that occur. */
export function structureOf({ text, known, lines }: Counted) {
  const marks = new Map<string, number>();
  for (let at = 0; at < text.length; at += 1) {
    if (!COUNTED_UNITS.has(text.charCodeAt(at))) continue;
    const mark = text[at]!;
    marks.set(mark, (marks.get(mark) ?? 0) + 1);
  }
  return {
    punctuation_counts: Object.fromEntries([...marks].sort((a, b) => (a[0] < b[0] ? -1 : 1))),
    questions: text.match(/[?？]+/g)?.length ?? 0,
    exclamations: text.match(/[!！]+/g)?.length ?? 0,
    uppercase_words: known.filter((word) => word.isUpper && word.lower.length > 1).length,
    numbers: known.filter((word) => word.isNumber).length,
    urls: countOf(urlsIn(text)),
    emails: countOf(emailsIn(text)),
    bullet_points: lines.filter((line) => /^\s*[-*+•‣◦–]\s+\S/.test(line.text.slice(0, 256))).length,
    numbered_lists: lines.filter((line) => /^\s*(?:\d{1,4}|[a-zA-Z])[.)]\s+\S/.test(line.text.slice(0, 256))).length,
  };
}
