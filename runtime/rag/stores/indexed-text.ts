import type { Chunk } from '../contract.js';

/** Titles weigh more than the words below them. */
const TITLE_TIMES = 2;

/** What of a chunk its words are found by: its text, after the titles above it that it does not show itself. */
export function indexedText({ text, metadata }: Pick<Chunk, 'text' | 'metadata'>): string {
  const { headings } = metadata;
  if (!Array.isArray(headings)) return text;
  const titles = headings.filter((title): title is string => typeof title === 'string' && !text.includes(title)).join('\n');
  return titles === '' ? text : `${`${titles}\n`.repeat(TITLE_TIMES)}${text}`;
}
