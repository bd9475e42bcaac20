import type { Span } from './words.js';

/** Longest web address that is taken for one. */
const URL_UNITS = 2048;

// Both start at a place that cannot lie inside an earlier attempt, and their parts do not overlap: linear for any text.
const URL_LIKE = /(?<![\p{L}\p{N}_])(?:(?:https?|ftps?|wss?):\/\/|www\.)[^\s<>"`{}|\\^[\]]+/giu;
const EMAIL =
  /(?<![\p{L}\p{N}_.+%'-]|\/\/)[\p{L}\p{N}_+%][\p{L}\p{N}_.+%'-]{0,63}@(?:[\p{L}\p{N}](?:[\p{L}\p{N}-]{0,62})\.){1,8}\p{L}{2,24}(?![\p{L}\p{N}_-])/gu;
const URL_MARK = /:\/\/|www\./i;
const TRAILING = /[.,;:!?'’”»*_]/;

/** The length of an address without what belongs to the sentence around it: stops, and brackets it does not open. */
function trimmedLength(address: string): number {
  let open = 0;
  for (const letter of address) open += letter === '(' ? 1 : letter === ')' ? -1 : 0;
  let end = address.length;
  while (end > 0) {
    const last = address[end - 1]!;
    if (last === ')' && open < 0) open += 1;
    else if (!TRAILING.test(last)) break;
    end -= 1;
  }
  return end;
}

/** Web addresses of a text, with scheme or starting with `www.`, in order. */
export function* urlsIn(text: string): Generator<Span> {
  if (!URL_MARK.test(text)) return;
  for (const match of text.matchAll(URL_LIKE)) {
    if (match[0].length > URL_UNITS) continue;
    const address = match[0].slice(0, trimmedLength(match[0]));
    if (/^(?:\w+:\/\/|www\.)[\p{L}\p{N}]/iu.test(address)) {
      yield { text: address, start: match.index, end: match.index + address.length };
    }
  }
}

/** Mail addresses of a text, in order. */
export function* emailsIn(text: string): Generator<Span> {
  // Most texts have none, and the pattern is tried at every letter.
  if (!text.includes('@')) return;
  for (const match of text.matchAll(EMAIL)) yield { text: match[0], start: match.index, end: match.index + match[0].length };
}
