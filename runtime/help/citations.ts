import { sourceOf } from '../chat/passages.js';
import type { Hit } from '../rag/contract.js';

/** Pages that an answer names. */
const MAX_PAGES = 3;
const MAX_EXCERPT_CHARS = 240;
/** Shorter words say little of what a sentence is about. */
const LEAST_WORD_CHARS = 4;

/** What stands behind an answer: the pages that it is made from, the best first, each with what comes nearest to the question. Empty without passages. */
export function citations(hits: readonly Hit[], question: string): string {
  const asked = wordsOf(question);
  const pages = new Map<string, string>();
  for (const hit of hits) {
    const page = sourceOf(hit);
    if (page !== undefined && !pages.has(page) && pages.size < MAX_PAGES) pages.set(page, nearest(hit.text, asked));
  }
  const lines = [...pages].map(([page, text]) => `- ${page === 'README.md' ? page : `docs/${page}`}: ${text}`);
  return lines.length === 0 ? '' : `\n\nSources:\n${lines.join('\n')}`;
}

/** The sentence or line of a passage that shares most words with the question; of several the longest. */
function nearest(text: string, asked: ReadonlySet<string>): string {
  const rated = sentencesOf(text).map((sentence) => ({
    sentence,
    shared: [...wordsOf(sentence)].filter((word) => asked.has(word)).length,
  }));
  const [best] = rated.sort((a, b) => b.shared - a.shared || b.sentence.length - a.sentence.length);
  const { sentence } = best ?? { sentence: '' };
  return sentence.length > MAX_EXCERPT_CHARS ? `${sentence.slice(0, MAX_EXCERPT_CHARS - 3)}...` : sentence;
}

/** Sentences of Markdown; a row of a table, a heading and an item of a list are one each. */
function sentencesOf(text: string): string[] {
  const lines = text.replaceAll(/\n(?![\n|#*`-]|\d+\.)/g, ' ').split('\n');
  const sentences = lines.flatMap((line) => (line.startsWith('|') ? [line] : line.split(/(?<=[.!?]) (?=\p{Lu})/u)));
  return sentences.map((one) => one.replaceAll(/\s+/g, ' ').trim()).filter((one) => one !== '');
}

function wordsOf(text: string): Set<string> {
  return new Set((text.toLowerCase().match(/[\p{L}\p{N}_-]+/gu) ?? []).filter((word) => word.length >= LEAST_WORD_CHARS));
}
