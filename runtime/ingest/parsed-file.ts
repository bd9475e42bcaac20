import { setImmediate as turn } from 'node:timers/promises';
import type { Passage } from '../rag/contract.js';
import type { Parsed } from '../rag/parsing/parsing.js';

/** Passages that are written or read before others may run. */
const PASSAGES_PER_TURN = 8;
const LINE_END = 0x0a;

/** Passes on each of `items`, and lets others run between stretches of them. */
export async function* inTurns<T>(items: readonly T[]): AsyncGenerator<readonly T[], void, undefined> {
  for (let from = 0; from < items.length; from += PASSAGES_PER_TURN) {
    if (from > 0) await turn();
    yield items.slice(from, from + PASSAGES_PER_TURN);
  }
}

/** What parsing found, as lines of JSON: the document without its text, then one line per passage. */
export async function writeParsed({ passages, ...document }: Parsed): Promise<Buffer[]> {
  const pieces = [Buffer.from(`${JSON.stringify({ ...document, text: '' })}\n`)];
  for await (const some of inTurns(passages)) pieces.push(Buffer.from(some.map((passage) => `${JSON.stringify(passage)}\n`).join('')));
  return pieces;
}

/** The reverse of `writeParsed`; the text of the document as a whole is not among it. */
export async function readParsed(bytes: Buffer): Promise<Parsed> {
  const lines: [from: number, to: number][] = [];
  for (let from = 0; from < bytes.length; ) {
    const to = bytes.indexOf(LINE_END, from);
    lines.push([from, to]);
    from = to + 1;
  }
  const [head, ...rest] = lines;
  const text = ([from, to]: [number, number]): string => bytes.toString('utf8', from, to);
  const passages: Passage[] = [];
  for await (const some of inTurns(rest)) passages.push(...some.map((line) => JSON.parse(text(line)) as Passage));
  return { ...(JSON.parse(text(head!)) as Omit<Parsed, 'passages'>), passages };
}
