import type { Document, Node, Pair, Scalar, ToStringOptions, YAMLMap, YAMLSeq } from 'yaml';
import { isObject, type JsonObject, sameJson } from '../base/json.js';
import { parseYamlDocument, yaml } from './parse.js';

/**
 * Writes `next` as the text of a YAML file whose current text is `text`, changing only what differs, so that comments, key order and
 * quoting of the rest stay. Where that cannot be done faithfully (anchors, merge keys, a broken file) the file is written anew.
 */
export function editYaml(text: string, next: JsonObject): string {
  let document: Document;
  let previous: unknown;
  try {
    document = parseYamlDocument(text);
    previous = document.toJS();
    if (sameJson(previous, next)) return text;
    document.contents = editNode(document, document.contents, previous, next) as typeof document.contents;
    const out = document.toString(layoutOf(text));
    if (sameJson(parseYamlDocument(out).toJS(), next)) return out;
  } catch {
    // A file that did not parse, or aliases that cannot be resolved any more after the edit.
  }
  return freshYaml(next);
}

/** Writes a configuration as YAML text without regard to an earlier file. */
export function freshYaml(config: JsonObject): string {
  return new (yaml().Document)(config, { aliasDuplicateObjects: false }).toString({ lineWidth: 0 });
}

/** The layout choices of a hand-written file that the writer can follow. */
function layoutOf(text: string): ToStringOptions {
  const firstIndent = /^( {1,8})[^\s#-]/m.exec(text)?.[1]?.length ?? 2;
  const flushList = /^( *)[^\s#-][^\n]*:[ \t]*\n\1- /m.test(text);
  return { lineWidth: 0, indent: firstIndent, indentSeq: !flushList, flowCollectionPadding: /[{[] \S/.test(text) };
}

/** The node for `next`, made from `node` (which now says `previous`) with as few changes as possible. */
function editNode(document: Document, node: unknown, previous: unknown, next: unknown): unknown {
  if (sameJson(previous, next)) return node;
  if (yaml().isMap(node) && isObject(previous) && isObject(next)) return editMap(document, node, previous, next);
  if (yaml().isSeq(node) && Array.isArray(previous) && Array.isArray(next)) return editSequence(document, node, previous, next);
  const created = document.createNode(next, { aliasDuplicateObjects: false });
  if (yaml().isScalar(node) && yaml().isScalar(created)) keepStyle(node, created);
  return created;
}

function editMap(document: Document, map: YAMLMap, previous: JsonObject, next: JsonObject): YAMLMap {
  for (const key of Object.keys(previous)) {
    if (!Object.hasOwn(next, key)) map.delete(key);
  }
  for (const [key, value] of Object.entries(next)) {
    const pair = map.items.find((item) => (yaml().isScalar(item.key) ? String(item.key.value) : item.key) === key);
    if (pair) pair.value = editNode(document, pair.value, previous[key], value);
    else if (!Object.hasOwn(previous, key) || !sameJson(previous[key], value)) map.items.push(newPair(document, key, value));
  }
  return map;
}

function newPair(document: Document, key: string, value: unknown): Pair {
  return new (yaml().Pair)(document.createNode(key), document.createNode(value, { aliasDuplicateObjects: false }));
}

/** Entries with a `name` are followed by it, so that inserting or moving one keeps the comments of the others; the rest go by position. */
function editSequence(document: Document, sequence: YAMLSeq, previous: unknown[], next: unknown[]): YAMLSeq {
  const left = new Set(previous.keys());
  const items = sequence.items;
  const matches = next.map((value, index) => {
    const name = nameOf(value);
    const found = name === undefined ? index : previous.findIndex((entry, place) => left.has(place) && nameOf(entry) === name);
    const isFree = left.has(found) && nameOf(previous[found]) === name;
    if (isFree) left.delete(found);
    return isFree ? found : -1;
  });
  sequence.items = next.map((value, index) => {
    const from = matches[index]!;
    return from < 0 ? document.createNode(value, { aliasDuplicateObjects: false }) : editNode(document, items[from], previous[from], value);
  });
  return sequence;
}

function nameOf(value: unknown): string | undefined {
  return isObject(value) && typeof value.name === 'string' ? value.name : undefined;
}

/** Gives a new scalar the comments of the old one, and its quoting where both are text. */
function keepStyle(old: Scalar, created: Scalar): void {
  const { comment, commentBefore, spaceBefore } = old as Node;
  Object.assign(created, { comment, commentBefore, spaceBefore });
  if (typeof old.value === 'string' && typeof created.value === 'string' && old.type !== undefined) created.type = old.type;
}
