/** Project files as YAML text: where a setting stands, and how one is changed without touching the rest. */
import { type Document, isMap, isScalar, isSeq, LineCounter, type Node, type ParsedNode, parse, parseDocument, stringify } from 'yaml';

/** Keys and positions from the top of a file. */
export type Path = readonly (string | number)[];

/** A text that was read. */
export interface ReadYaml {
  readonly value: unknown;
  /** Why it is no YAML, and at which line. */
  readonly problem: { readonly message: string; readonly line: number } | undefined;
  /** The line, from 1, of a setting, or of the nearest one above it that is written. */
  lineOf(path: Path): number;
}

/** Reads a text; never throws. */
export function readYaml(text: string): ReadYaml {
  const lines = new LineCounter();
  const document = parseDocument(text, { merge: true, lineCounter: lines, logLevel: 'silent' });
  const [error] = document.errors;
  const lineAt = (offset: number): number => Math.max(1, lines.linePos(offset).line);
  if (error) return { value: undefined, problem: { message: error.message.split('\n')[0]!, line: lineAt(error.pos[0]) }, lineOf: () => 1 };
  const lineOf = (path: Path): number => {
    let [node, offset] = [document.contents as ParsedNode | null, document.contents?.range[0] ?? 0];
    for (const part of path) {
      let next: ParsedNode | null | undefined;
      if (isMap(node)) {
        const pair = node.items.find(({ key }) => String((key as { value?: unknown }).value) === String(part));
        if (pair) offset = (pair.key as ParsedNode).range[0];
        next = pair?.value as ParsedNode | null | undefined;
      } else if (isSeq(node)) {
        next = node.items[Number(part)] as ParsedNode | undefined;
        if (next) offset = next.range[0];
      }
      if (!next) break;
      node = next;
    }
    return lineAt(offset);
  };
  try {
    return { value: document.toJS({ maxAliasCount: 100 }), problem: undefined, lineOf };
  } catch (failure) {
    return { value: undefined, problem: { message: (failure as Error).message, line: 1 }, lineOf };
  }
}

/** The value of a YAML text that stands alone. Throws for what is no YAML. */
export const saidBy = (text: string): unknown => parse(text);

/** A value as YAML text that stands alone. */
export const textOf = (value: unknown): string => (value === undefined ? '' : stringify(value, { lineWidth: 0 }));

/**
 * A text that has another value at a path; undefined takes the setting out, and groups that are empty then. A single value is changed in its place; for others the
 * text is written again with its comments.
 */
export function withValue(text: string, path: Path, value: unknown): string {
  const document = parseDocument(text, { merge: true, logLevel: 'silent' });
  const found = document.getIn(path, true) as Node | undefined;
  const isSingle =
    value !== undefined && (typeof value !== 'object' || value === null) && !(typeof value === 'string' && value.includes('\n'));
  // What is empty has no place of its own: it can stand behind a comment, or on the line below.
  const isWritten = isScalar(found) && found.range && found.range[0] < found.range[1] && !found.tag && !found.anchor;
  if (isSingle && isWritten && found.type !== 'BLOCK_LITERAL' && found.type !== 'BLOCK_FOLDED') {
    const [from, to] = found.range!;
    return text.slice(0, from) + wordOf(value) + text.slice(to);
  }
  if (value === undefined) remove(document, path);
  else put(document, path, value);
  return document.toString(layoutOf(text));
}

/** A text whose list at a path has one entry at another place, with its comments. */
export function withMoved(text: string, path: Path, from: number, to: number): string {
  const document = parseDocument(text, { merge: true, logLevel: 'silent' });
  const list = document.getIn(path, true);
  if (!isSeq(list)) return text;
  list.items.splice(to, 0, ...list.items.splice(from, 1));
  return document.toString(layoutOf(text));
}

function put(document: Document, path: Path, value: unknown): void {
  // What is empty says nothing of how its entries would be written.
  for (let length = 1; length < path.length; length += 1) {
    const node = document.getIn(path.slice(0, length), true);
    if ((isMap(node) || isSeq(node)) && node.items.length === 0) node.flow = false;
    if (isScalar(node)) document.deleteIn(path.slice(0, length));
  }
  // A single value takes the place of one with its comments.
  document.setIn(path, typeof value === 'object' && value !== null ? document.createNode(value) : value);
}

function remove(document: Document, path: Path): void {
  document.deleteIn(path);
  const above = path.slice(0, -1);
  const node = above.length > 0 ? document.getIn(above, true) : undefined;
  if (isMap(node) && node.items.length === 0 && typeof above.at(-1) === 'string') remove(document, above);
}

/** A single value as it stands in a text, in groups of braces too. */
function wordOf(value: unknown): string {
  const isPlain = typeof value === 'string' && /^[A-Za-z_][\w ./-]*$/.test(value) && parse(value) === value && !value.endsWith(' ');
  return isPlain ? value : JSON.stringify(value);
}

/** The layout of a text that was written by hand, for what is written again. */
function layoutOf(text: string): { lineWidth: 0; indent: number; indentSeq: boolean; flowCollectionPadding: boolean } {
  const indent = /^( {1,8})[^\s#-]/m.exec(text)?.[1]?.length ?? 2;
  return {
    lineWidth: 0,
    indent,
    indentSeq: !/^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text),
    flowCollectionPadding: /[{[] \S/.test(text),
  };
}
