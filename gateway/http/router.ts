/** A route that fits a path, with the path's decoded parameters. */
export interface Match<Value> {
  /** What is served there, by method. */
  readonly methods: ReadonlyMap<string, Value>;
  readonly params: Readonly<Record<string, string>>;
}

interface Node<Value> {
  readonly fixed: Map<string, Node<Value>>;
  parameter?: Node<Value>;
  /** Of a parameter that takes slashes, by the elements that follow it; the longest first. */
  tails?: Map<string, Leaf<Value>>;
  leaf?: Leaf<Value>;
}

interface Leaf<Value> {
  readonly names: readonly string[];
  readonly methods: Map<string, Value>;
}

const NO_PARAMS: Readonly<Record<string, string>> = Object.freeze({});
/** Path elements beyond this are no route of ours. */
const MAX_SEGMENTS = 64;
/** Remembered matches; the memory is dropped when full, so that a client asking for ever new paths cannot fill it. */
const MAX_REMEMBERED = 1_000;
const MAX_REMEMBERED_CHARS = 256;
// biome-ignore lint/suspicious/noControlCharactersInRegex: control characters are what is refused here
const UNSAFE = /[\u0000-\u001f\u007f\\]/;

/**
 * Finds a route by path: fixed elements win over `{name}`, which wins over `{name+}`; only fixed elements may follow that. One trailing
 * slash makes no difference.
 * Parameters are percent-decoded exactly once; `.`, `..`, NUL, backslashes and hidden slashes fit nothing (threat T1).
 */
export class Router<Value> {
  readonly #root: Node<Value> = { fixed: new Map() };
  readonly #static = new Map<string, Match<Value>>();
  /** Recent matches of paths with parameters: clients ask for the same few again and again. */
  readonly #recent = new Map<string, Match<Value>>();

  /** Adds a route; throws when the same method and path are there already. */
  add(method: string, path: string, value: Value): void {
    const names: string[] = [];
    let node = this.#root;
    let leaf: Leaf<Value> | undefined;
    const segments = path.split('/').slice(1);
    for (const [index, segment] of path === '/' ? [] : segments.entries()) {
      const name = /^\{(\w+)(\+?)\}$/.exec(segment);
      if (name) names.push(name[1]!);
      if (name?.[2] === '+') {
        leaf = tailOf(node, segments.slice(index + 1).join('/'), names);
        break;
      }
      if (name) node = node.parameter ??= { fixed: new Map() };
      else node = child(node, segment);
    }
    leaf ??= node.leaf ??= { names: [...names], methods: new Map() };
    if (leaf.methods.has(method) || leaf.names.join() !== names.join()) throw new Error(`two routes for ${method} ${path}`);
    leaf.methods.set(method, value);
    if (names.length === 0) {
      const match = { methods: leaf.methods, params: NO_PARAMS };
      this.#static.set(path, match);
      this.#static.set(path === '/' ? path : `${path}/`, match);
    }
  }

  match(path: string): Match<Value> | undefined {
    const known = this.#static.get(path) ?? this.#recent.get(path);
    if (known) return known;
    const match = this.#search(path);
    if (match === undefined || path.length > MAX_REMEMBERED_CHARS) return match;
    if (this.#recent.size >= MAX_REMEMBERED) this.#recent.clear();
    this.#recent.set(path, match);
    return match;
  }

  #search(path: string): Match<Value> | undefined {
    const segments = path.split('/', MAX_SEGMENTS + 1);
    if (segments.length > MAX_SEGMENTS || segments[0] !== '') return undefined;
    if (segments.length > 2 && segments.at(-1) === '') segments.pop();
    const values: string[] = [];
    const leaf = find(this.#root, segments, 1, values);
    if (leaf === undefined) return undefined;
    const params: Record<string, string> = {};
    for (let index = 0; index < values.length; index += 1) params[leaf.names[index]!] = values[index]!;
    return { methods: leaf.methods, params: Object.freeze(params) };
  }
}

function child<Value>(node: Node<Value>, segment: string): Node<Value> {
  let next = node.fixed.get(segment);
  if (!next) {
    next = { fixed: new Map() };
    node.fixed.set(segment, next);
  }
  return next;
}

function find<Value>(node: Node<Value>, segments: readonly string[], at: number, values: string[]): Leaf<Value> | undefined {
  if (at === segments.length) return node.leaf;
  const segment = segments[at]!;
  const fixed = node.fixed.get(segment);
  const kept = values.length;
  if (fixed) {
    const leaf = find(fixed, segments, at + 1, values);
    if (leaf) return leaf;
    values.length = kept;
  }
  if (node.parameter) {
    const value = decoded(segment);
    if (value !== undefined && !value.includes('/')) {
      values.push(value);
      const leaf = find(node.parameter, segments, at + 1, values);
      if (leaf) return leaf;
      values.length = kept;
    }
  }
  for (const [ending, leaf] of node.tails ?? []) {
    const end = ending === '' ? segments.length : segments.length - ending.split('/').length;
    if (end <= at || segments.slice(end).join('/') !== ending) continue;
    const tail = decoded(segments.slice(at, end).join('/'));
    if (tail === undefined) continue;
    values.push(tail);
    return leaf;
  }
  return undefined;
}

/** The leaf behind a parameter that takes slashes and the fixed elements after it. */
function tailOf<Value>(node: Node<Value>, ending: string, names: readonly string[]): Leaf<Value> {
  const leaf = node.tails?.get(ending) ?? { names: [...names], methods: new Map<string, Value>() };
  node.tails = new Map([...(node.tails ?? []), [ending, leaf] as const].sort(([a], [b]) => b.length - a.length));
  return leaf;
}

/** The decoded text, or `undefined` where it is empty, wrongly encoded or could lead elsewhere in a file system. */
function decoded(text: string): string | undefined {
  let value = text;
  if (text.includes('%')) {
    try {
      value = decodeURIComponent(text);
    } catch {
      return undefined;
    }
  }
  if (UNSAFE.test(value)) return undefined;
  for (const part of value.includes('/') ? value.split('/') : [value]) if (part === '' || part === '.' || part === '..') return undefined;
  return value;
}
