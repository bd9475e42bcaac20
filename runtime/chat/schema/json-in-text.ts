/** A fenced block of Markdown, its language told or not. */
const FENCE = /```[a-zA-Z]*[ \t]*\r?\n/g;

/** A JSON value and the text that it was read from. */
export interface FoundJson {
  readonly text: string;
  readonly value: unknown;
}

/** The JSON value that a text is, or that stands in its first fenced block, or between its first and last bracket; undefined where there is none. */
export function jsonIn(text: string): FoundJson | undefined {
  return parsed(text) ?? parsed(fenced(text)) ?? parsed(between(text, '{', '}')) ?? parsed(between(text, '[', ']'));
}

function fenced(text: string): string {
  FENCE.lastIndex = 0;
  const open = FENCE.exec(text);
  if (!open) return '';
  const from = open.index + open[0].length;
  const close = text.indexOf('```', from);
  return text.slice(from, close < 0 ? undefined : close);
}

function between(text: string, open: string, close: string): string {
  const from = text.indexOf(open);
  return from < 0 ? '' : text.slice(from, text.lastIndexOf(close) + 1);
}

function parsed(text: string): FoundJson | undefined {
  const trimmed = text.trim();
  if (trimmed === '') return undefined;
  try {
    return { text: trimmed, value: JSON.parse(trimmed) };
  } catch {
    return undefined;
  }
}
