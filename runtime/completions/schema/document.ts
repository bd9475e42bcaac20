import { Failure } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import type { WorkLimit } from '../work-limit.js';

/** A JSON Schema object. */
export type SchemaObject = Record<string, unknown>;

/** A schema that cannot be used; `reason` completes "The schema cannot be used: …". */
export function unusable(reason: string): Failure {
  return new Failure('invalid', `The schema cannot be used: ${reason}.`, { code: 'unsupported_schema' });
}

/** Keywords whose value is data or a list of names, in which no schema stands. */
const DATA: ReadonlySet<string> = new Set(['enum', 'const', 'default', 'examples', 'example', 'required', 'type', 'dependentRequired']);
/** Keywords whose members are schemas by names that mean nothing else. */
const BY_NAME: ReadonlySet<string> = new Set([
  'properties',
  'patternProperties',
  '$defs',
  'definitions',
  'dependentSchemas',
  'dependencies',
]);

/** Where schemas without an `$id` stand. */
const NOWHERE = 'schema:///';

/** One JSON Schema with all that references may name in it: `$id`, `$anchor`, and places by JSON pointer (2020-12, and draft-07's `definitions` and `$id: "#name"`). */
export class SchemaDocument {
  readonly #bases = new Map<object, string>();
  readonly #resources = new Map<string, unknown>();
  readonly #anchors = new Map<string, unknown>();

  /** Throws what `work` throws for a schema that is too large. */
  constructor(
    readonly root: unknown,
    readonly work: WorkLimit,
  ) {
    this.#resources.set(NOWHERE, root);
    this.#walk(root, NOWHERE);
  }

  #walk(from: unknown, base: string): void {
    const rest: { node: unknown; base: string; byName: boolean }[] = [{ node: from, base, byName: false }];
    while (rest.length > 0) {
      const { node, base: outer, byName } = rest.pop()!;
      if (typeof node !== 'object' || node === null || this.#bases.has(node)) continue;
      this.work.spend();
      const own = isObject(node) && !byName ? this.#named(node, outer) : outer;
      this.#bases.set(node, own);
      for (const key in node) {
        const value: unknown = (node as SchemaObject)[key];
        const isData = !byName && DATA.has(key);
        this.work.spend(sizeOf(value, isData));
        if (typeof value === 'object' && (Array.isArray(node) || !isData))
          rest.push({ node: value, base: own, byName: !byName && isObject(node) && BY_NAME.has(key) });
      }
    }
  }

  /** Notes what a schema is called; the base of the references in it. */
  #named(node: SchemaObject, outer: string): string {
    let base = outer;
    if (typeof node.$id === 'string') {
      const [place = '', name] = node.$id.split('#');
      if (place !== '') {
        base = address(place, outer) ?? outer;
        this.#resources.set(base, node);
      }
      if (name) this.#anchors.set(`${base}#${name}`, node);
    }
    for (const name of [node.$anchor, node.$dynamicAnchor]) if (typeof name === 'string') this.#anchors.set(`${base}#${name}`, node);
    return base;
  }

  /** What a reference that stands in `node` names. Throws `Failure('invalid')` that says the reference, where it names nothing here. */
  resolve(node: SchemaObject, ref: string): unknown {
    this.work.spend(1 + ref.length / 64);
    const base = this.#bases.get(node) ?? NOWHERE;
    const hash = ref.indexOf('#');
    const place = hash < 0 ? ref : ref.slice(0, hash);
    const url = place === '' ? base : address(place, base);
    if (url === undefined || !this.#resources.has(url))
      throw unusable(`$ref "${cut(ref)}" is not local: no part of the schema has it as its $id, and nothing is fetched`);
    const resource = this.#resources.get(url);
    let fragment: string;
    try {
      fragment = decodeURIComponent(hash < 0 ? '' : ref.slice(hash + 1));
    } catch {
      throw unusable(`$ref "${cut(ref)}" is not encoded as a URI`);
    }
    if (fragment === '') return resource;
    const target = fragment.startsWith('/') ? this.#pointed(resource, fragment, url) : this.#anchors.get(`${url}#${fragment}`);
    if (target !== undefined) return target;
    const lacking = fragment.startsWith('/')
      ? 'there is no such place in the schema'
      : `no part of the schema has the $anchor "${cut(fragment)}"`;
    throw unusable(`$ref "${cut(ref)}" points to nothing; ${lacking}`);
  }

  #pointed(resource: unknown, pointer: string, base: string): unknown {
    let node = resource;
    for (const step of pointer.split('/').slice(1)) {
      this.work.spend();
      const key = step.replaceAll('~1', '/').replaceAll('~0', '~');
      if (typeof node !== 'object' || node === null || !Object.hasOwn(node, key)) return undefined;
      node = (node as SchemaObject)[key];
    }
    // A place under a keyword that is no part of the language was not walked yet.
    this.#walk(node, base);
    return node;
  }
}

/** Units of work that a member takes: lists and texts have more. */
function sizeOf(value: unknown, isData: boolean): number {
  if (typeof value === 'string') return 0.2 + value.length / 256;
  return isData && Array.isArray(value) ? value.length : 0.2;
}

function address(place: string, base: string): string | undefined {
  try {
    return new URL(place, base).href;
  } catch {
    return undefined;
  }
}

/** A text of a request as it may stand in a message. */
export function cut(text: string): string {
  return text.length > 100 ? `${text.slice(0, 100)}…` : text;
}
