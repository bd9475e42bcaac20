import type { Conversation } from '../../schemas/generated/core/conversations.js';
import { breathe } from '../base/loop.js';
import { type ConversationRecords, type Place, shownHead } from './records.js';

/** What one request looks through, in characters; the next page goes on behind it. */
const LOOKED_THROUGH = 32 * 1024 * 1024;
/** Of a text at a time, so that others get their turn. */
const STRETCH = 64 * 1024;
const MOST_WORDS = 8;
/** Around what was found. */
const EXCERPT_CHARACTERS = 80;
const WORD = /[\p{L}\p{N}]+/gu;
const IN_WORD = /[\p{L}\p{N}]/u;
/** Written without blanks between words. */
const RUNNING_SCRIPT = /[\p{Script=Han}\p{Script=Hiragana}\p{Script=Katakana}\p{Script=Thai}\p{Script=Lao}\p{Script=Khmer}]/u;
const ASCII = /^[\0-\x7f]*$/;

/** A page of what a search found. */
export interface FoundPage {
  readonly conversations: Conversation[];
  /** The cursor behind what was looked through; null at the end. */
  readonly next: string | null;
}

/** Letters without marks and case, so that `Äpfel` is found by `apfel`. */
function foldLetters(text: string): string {
  return (ASCII.test(text) ? text : text.normalize('NFD').replaceAll(/\p{M}/gu, '')).toLowerCase();
}

/** Looks through titles and texts for words, each of which a word there must begin with, all of them in one title or message. */
export async function searchConversations(
  records: ConversationRecords,
  place: Place,
  asked: { search: string; archived: boolean; limit: number; cursor: string | undefined },
): Promise<FoundPage> {
  const words = [...new Set(foldLetters(asked.search).match(WORD) ?? [])].slice(0, MOST_WORDS);
  const conversations: Conversation[] = [];
  if (words.length === 0) return { conversations, next: null };
  let left = LOOKED_THROUGH;
  let { cursor } = asked;
  for (;;) {
    const [next] = records.ids(place, asked.archived, cursor, 1);
    if (!next) return { conversations, next: null };
    const head = records.head(place, next.id);
    const spend = (characters: number): void => {
      left -= characters;
    };
    const titled = await foundIn(head.title, words, spend);
    const found = titled ? { message: null, ...titled } : await foundInMessages(records, next.id, words, spend);
    if (found) conversations.push({ ...shownHead(head), found });
    cursor = next.cursor;
    if (conversations.length >= asked.limit || left <= 0) return { conversations, next: cursor };
    await breathe();
  }
}

async function foundInMessages(
  records: ConversationRecords,
  conversation: string,
  words: readonly string[],
  spend: (characters: number) => void,
): Promise<{ message: string; excerpt: string } | undefined> {
  for await (const { message } of records.messages(conversation)) {
    const found = await foundIn(message.content, words, spend);
    if (found) return { message: message.id, ...found };
  }
  return undefined;
}

/** Where a text has all the words: what stands around the first that was found. Linear in the text. */
async function foundIn(
  text: string,
  words: readonly string[],
  spend: (characters: number) => void,
): Promise<{ excerpt: string } | undefined> {
  spend(text.length + 100);
  const missing = new Set(words);
  let excerpt: string | undefined;
  // A word that lies across two stretches is looked for in both.
  const overlap = Math.max(...words.map((word) => word.length)) * 2;
  for (let from = 0; from < text.length && missing.size > 0; from += STRETCH) {
    const stretch = text.slice(Math.max(0, from - overlap), from + STRETCH);
    const plain = foldLetters(stretch);
    for (const word of missing) {
      const at = placeOf(plain, word);
      if (at < 0) continue;
      missing.delete(word);
      excerpt ??= excerptAt(stretch, plain, at);
    }
    await breathe();
  }
  return missing.size === 0 ? { excerpt: excerpt! } : undefined;
}

/** Where a word of the text begins with `word`; -1 where none does. */
function placeOf(plain: string, word: string): number {
  const isPart = RUNNING_SCRIPT.test(word);
  for (let at = plain.indexOf(word); at >= 0; at = plain.indexOf(word, at + word.length))
    if (isPart || at === 0 || !IN_WORD.test(plain[at - 1]!)) return at;
  return -1;
}

/** The surroundings of a place of the folded text in the text itself, whose marks may make it longer. */
function excerptAt(text: string, plain: string, at: number): string {
  const share = plain.length === text.length ? at : originOf(text, at);
  const [from, to] = [Math.max(0, share - EXCERPT_CHARACTERS), share + EXCERPT_CHARACTERS];
  const cut = text
    .slice(from, to)
    .replaceAll(/\s+/g, ' ')
    .replaceAll(/\p{Surrogate}/gu, '')
    .trim();
  return `${from > 0 ? '…' : ''}${cut}${to < text.length ? '…' : ''}`;
}

/** The length of the beginning of a text that folds to `length` characters. */
function originOf(text: string, length: number): number {
  let [low, high] = [0, text.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if (foldLetters(text.slice(0, middle)).length < length) low = middle + 1;
    else high = middle;
  }
  return low;
}
