import { isObject } from '../../base/json.js';
import { type SchemaDocument, type SchemaObject, unusable } from './document.js';

/** Most schemas inside one another, references included. */
const MAX_DEPTH = 64;

/** Members that say nothing about which values are valid, and those that are followed before a schema's own keywords are read. */
export const NO_OWN: ReadonlySet<string> = new Set(
  (
    '$ref $dynamicRef allOf anyOf oneOf nullable title description default examples example $schema $id id $comment $defs definitions $anchor ' +
    '$dynamicAnchor $vocabulary deprecated readOnly writeOnly discriminator contentMediaType contentEncoding contentSchema'
  ).split(' '),
);

/** What of a schema object a part stands for: its own keywords, or a choice that it leaves. */
type Role = 'own' | 'anyOf' | 'oneOf' | 'nullable';

/** One part of a conjunction. */
export interface Part {
  readonly node: SchemaObject;
  readonly role: Role;
}

const NULL_SCHEMA: SchemaObject = { type: 'null' };

/** Schemas that a value must fit all together, with `$ref` and `allOf` resolved: each part stands in it once, however often it is named. */
export class Conjunction {
  /** True when one of the schemas is `false`. */
  impossible = false;
  readonly parts: readonly Part[];
  readonly #seen = new Set<SchemaObject>();
  readonly #open = new Set<SchemaObject>();
  readonly #found = new Map<string, Part>();

  /** `place` says where the schemas stand. Throws `Failure('invalid')` for references to nothing and circles. */
  constructor(
    readonly numbers: NodeNumbers,
    schemas: readonly unknown[],
    kept: readonly Part[],
    readonly place: string,
  ) {
    numbers.document.work.spend(5);
    for (const part of kept) this.#add(part);
    for (const schema of schemas) this.#flatten(schema, 0);
    this.parts = [...this.#found.values()];
  }

  /** The same for conjunctions of the same parts. */
  get key(): string {
    return [...this.#found.keys()].sort().join(' ');
  }

  /** The schemas of the parts that have keywords of their own, in the order in which they stand. */
  get own(): SchemaObject[] {
    return this.parts.filter((part) => part.role === 'own').map((part) => part.node);
  }

  /** What becomes of the conjunction with each alternative of one of its choices, and without the parts that are `dropped`. */
  alternatives(choice: Part, dropped: readonly Part[]): Conjunction[] {
    const rest = this.parts.filter((part) => part !== choice && !dropped.includes(part));
    if (choice.role !== 'nullable') {
      const schemas = choice.node[choice.role] as unknown[];
      const tag = tagOf(choice.node);
      const beside = tag === undefined ? [] : [this.numbers.requiring(tag)];
      return schemas.map((schema) => new Conjunction(this.numbers, [schema, ...beside], rest, this.place));
    }
    const valued = new Conjunction(this.numbers, [], rest, this.place);
    return [valued.#with(choice.node), new Conjunction(this.numbers, [NULL_SCHEMA], rest, this.place)];
  }

  /** This, with what a nullable schema says about values that are not null. */
  #with(nullable: SchemaObject): Conjunction {
    const inner = new Conjunction(this.numbers, [], this.parts, this.place);
    inner.#inside(nullable, 0);
    const out = new Conjunction(this.numbers, [], [...inner.#found.values()], this.place);
    out.impossible = inner.impossible;
    return out;
  }

  #add(part: Part): void {
    this.numbers.document.work.spend();
    this.#found.set(`${this.numbers.of(part.node)}${part.role}`, part);
  }

  #flatten(schema: unknown, depth: number): void {
    this.numbers.document.work.spend();
    if (schema === true) return;
    if (schema === false) {
      this.impossible = true;
      return;
    }
    if (!isObject(schema)) throw unusable(`${this.place} is ${JSON.stringify(schema)?.slice(0, 100)}, which is no schema`);
    if (this.#open.has(schema)) throw unusable(`the references at ${this.place} go in a circle`);
    if (this.#seen.has(schema)) return;
    if (depth > MAX_DEPTH) throw unusable(`the references at ${this.place} are nested deeper than ${MAX_DEPTH}`);
    this.#seen.add(schema);
    this.#open.add(schema);
    if (schema.nullable === true) this.#add({ node: schema, role: 'nullable' });
    else this.#inside(schema, depth);
    this.#open.delete(schema);
  }

  #inside(schema: SchemaObject, depth: number): void {
    if (Object.keys(schema).some((key) => !NO_OWN.has(key))) this.#add({ node: schema, role: 'own' });
    for (const ref of [schema.$ref, schema.$dynamicRef])
      if (typeof ref === 'string') this.#flatten(this.numbers.document.resolve(schema, ref), depth + 1);
    if (Array.isArray(schema.allOf)) for (const part of schema.allOf) this.#flatten(part, depth + 1);
    for (const role of ['anyOf', 'oneOf'] as const) {
      const choices = schema[role];
      if (!Array.isArray(choices)) continue;
      if (choices.length === 0) throw unusable(`${role} at ${this.place} is empty`);
      if (choices.length === 1) this.#flatten(choices[0], depth + 1);
      else this.#add({ node: schema, role });
    }
  }
}

/** The property that tells alternatives apart, as OpenAPI's `discriminator` names it. Readers want it even where its schema has a default. */
export function tagOf({ discriminator }: SchemaObject): string | undefined {
  return isObject(discriminator) && typeof discriminator.propertyName === 'string' ? discriminator.propertyName : undefined;
}

/** Numbers the objects of a schema, so that conjunctions can be told apart. */
export class NodeNumbers {
  readonly #numbers = new Map<SchemaObject, number>();
  readonly #requiring = new Map<string, SchemaObject>();

  constructor(readonly document: SchemaDocument) {}

  of(node: SchemaObject): number {
    let number = this.#numbers.get(node);
    if (number === undefined) {
      number = this.#numbers.size;
      this.#numbers.set(node, number);
    }
    return number;
  }

  /** The schema of objects that have a property; the same each time. */
  requiring(name: string): SchemaObject {
    const schema = this.#requiring.get(name) ?? { type: 'object', required: [name] };
    this.#requiring.set(name, schema);
    return schema;
  }
}
