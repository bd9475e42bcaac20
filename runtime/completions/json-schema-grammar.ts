import { Failure } from '../../schemas/errors.js';
import { ANNOTATIONS, isObject, mergeSchemas, type SchemaObject } from './grammar/merge.js';
import { integerExpression, type NumberBounds, numberExpression, plainBounds } from './grammar/numbers.js';
import { objectExpression } from './grammar/objects.js';
import { type GrammarRules, literal, oneOf } from './grammar/rules.js';
import { otherKey, repetition, stringExpression } from './grammar/strings.js';

/** Limits of a schema. */
const MAX_DEPTH = 64;
const MAX_SUBSCHEMAS = 2_000;
const MAX_ENUM = 1_000;

const ENFORCED = new Set(
  (
    'type enum const properties required additionalProperties items prefixItems minItems maxItems anyOf oneOf allOf $ref nullable ' +
    'minimum maximum exclusiveMinimum exclusiveMaximum minLength maxLength pattern format'
  ).split(' '),
);
const TYPES = ['object', 'array', 'string', 'integer', 'number', 'boolean', 'null'];

/** How a schema is turned. */
interface SchemaGrammarOptions {
  /** Fail on a keyword that cannot be enforced, where otherwise it is noted and left out. */
  strict?: boolean;
  /** The members of the outermost object may come in any order, where they are few. */
  anyOrder?: boolean;
}

/** Turns one JSON Schema into GBNF rules. Values that the grammar allows satisfy the schema, apart from what `notes` names. */
class SchemaReader {
  readonly notes = new Set<string>();
  readonly #refs = new Map<string, string>();
  #count = 0;

  constructor(
    readonly root: unknown,
    readonly rules: GrammarRules,
    readonly strict: boolean,
    readonly anyOrder: boolean,
  ) {}

  note(text: string): void {
    if (this.strict)
      throw new Failure('invalid', `The schema uses ${text}, which cannot be enforced; leave it out or send strict: false.`, {
        code: 'unsupported_schema',
      });
    this.notes.add(text);
  }

  #refuse(text: string): never {
    throw new Failure('invalid', `The schema cannot be used: ${text}.`, { code: 'unsupported_schema' });
  }

  /** The expression of a schema; `hint` names its rules. */
  visit(schema: unknown, hint: string, depth: number): string {
    this.#count += 1;
    if (depth > MAX_DEPTH || this.#count > MAX_SUBSCHEMAS)
      this.#refuse(`it is nested deeper than ${MAX_DEPTH} or has more than ${MAX_SUBSCHEMAS} parts`);
    if (schema === true) return this.rules.base('value');
    if (!isObject(schema)) return this.#refuse(`${hint} is ${JSON.stringify(schema)}, which allows no value`);
    for (const key of Object.keys(schema)) if (!ENFORCED.has(key) && !ANNOTATIONS.has(key)) this.note(`the keyword "${key}" at ${hint}`);
    if (schema.nullable === true) return oneOf([this.visit({ ...schema, nullable: false }, hint, depth + 1), this.rules.base('null')]);
    if (typeof schema.$ref === 'string') return this.#reference(schema, schema.$ref, hint, depth);
    if (Array.isArray(schema.allOf)) return this.#all(schema, schema.allOf, hint, depth);
    const choices = Array.isArray(schema.anyOf) ? 'anyOf' : Array.isArray(schema.oneOf) ? 'oneOf' : null;
    if (choices) return this.#any(schema, choices, hint, depth);
    if ('const' in schema) return literal(JSON.stringify(schema.const));
    if (Array.isArray(schema.enum)) return this.#enumeration(schema.enum, hint);
    return this.#typed(schema, hint, depth);
  }

  #enumeration(values: unknown[], hint: string): string {
    if (values.length === 0 || values.length > MAX_ENUM)
      this.#refuse(`the enum at ${hint} has ${values.length} values (1 to ${MAX_ENUM} are allowed)`);
    return oneOf(values.map((value) => literal(JSON.stringify(value))));
  }

  #reference(schema: SchemaObject, ref: string, hint: string, depth: number): string {
    const beside = Object.fromEntries(Object.entries(schema).filter(([key]) => key !== '$ref' && !ANNOTATIONS.has(key)));
    if (Object.keys(beside).length > 0)
      return this.visit({ ...beside, allOf: [...((beside.allOf as unknown[]) ?? []), { $ref: ref }] }, hint, depth + 1);
    const known = this.#refs.get(ref);
    if (known !== undefined) return known;
    const target = this.#resolve(ref);
    const name = this.rules.reserve(ref.split('/').pop() || 'root-schema');
    this.#refs.set(ref, name);
    const expression = this.visit(target, name, depth + 1);
    if (expression === name) this.#refuse(`$ref "${ref}" only points to itself`);
    this.rules.set(name, expression);
    return name;
  }

  #decoded(step: string, ref: string): string {
    try {
      return decodeURIComponent(step);
    } catch {
      return this.#refuse(`$ref "${ref}" is not encoded as a URI`);
    }
  }

  #resolve(ref: string): unknown {
    if (!ref.startsWith('#')) this.#refuse(`$ref "${ref}" is not local; only "#" and "#/…" are followed`);
    let node: unknown = this.root;
    for (const step of ref.slice(1).split('/').slice(1)) {
      const key = this.#decoded(step, ref).replaceAll('~1', '/').replaceAll('~0', '~');
      node = isObject(node) || Array.isArray(node) ? (node as SchemaObject)[key] : undefined;
    }
    if (node === undefined) this.#refuse(`$ref "${ref}" points to nothing`);
    return node;
  }

  /** Joins `allOf` and what stands beside it; references inside are replaced by what they point to. */
  #all(schema: SchemaObject, parts: unknown[], hint: string, depth: number): string {
    const { allOf: _parts, ...beside } = schema;
    const conflicts = new Set<string>();
    let merged: SchemaObject = beside;
    for (const part of parts) {
      let open: unknown = part;
      for (let hops = 0; isObject(open) && typeof open.$ref === 'string'; hops += 1) {
        if (hops > MAX_DEPTH) this.#refuse(`the references of allOf at ${hint} go in a circle`);
        const { $ref, ...rest } = open;
        const target = this.#resolve($ref as string);
        open = isObject(target) ? mergeSchemas(target, rest, conflicts) : target;
      }
      if (open === true) continue;
      if (!isObject(open)) this.#refuse(`allOf at ${hint} allows no value`);
      if (Array.isArray(open.allOf) && Array.isArray(merged.allOf)) open = { ...open, allOf: [...merged.allOf, ...open.allOf] };
      merged = mergeSchemas(merged, open as SchemaObject, conflicts);
    }
    for (const key of conflicts) this.note(`different values of "${key}" in allOf at ${hint}`);
    return this.visit(merged, hint, depth + 1);
  }

  /** `oneOf` is taken as `anyOf`: a value that fits two alternatives is not refused. */
  #any(schema: SchemaObject, keyword: 'anyOf' | 'oneOf', hint: string, depth: number): string {
    const { [keyword]: choices, ...beside } = schema;
    const bare = Object.keys(beside).every((key) => ANNOTATIONS.has(key));
    const expressions = (choices as unknown[]).map((alternative, index) =>
      this.visit(
        bare ? alternative : { ...beside, allOf: [...((beside.allOf as unknown[]) ?? []), alternative] },
        `${hint}-${index}`,
        depth + 1,
      ),
    );
    if (expressions.length === 0) this.#refuse(`${keyword} at ${hint} is empty`);
    return oneOf(expressions);
  }

  #typed(schema: SchemaObject, hint: string, depth: number): string {
    const types = schema.type === undefined ? impliedTypes(schema) : Array.isArray(schema.type) ? schema.type : [schema.type];
    if (types.length === 0) return schema.type === undefined ? this.rules.base('value') : this.#refuse(`no type is left at ${hint}`);
    return oneOf(types.map((type) => this.#ofType(schema, type, hint, depth)));
  }

  #ofType(schema: SchemaObject, type: unknown, hint: string, depth: number): string {
    switch (type) {
      case 'object':
        return this.rules.add(hint, this.#object(schema, hint, depth));
      case 'array':
        return this.rules.add(hint, this.#array(schema, hint, depth));
      case 'string':
        return this.#string(schema, hint);
      case 'integer':
      case 'number':
        return this.#number(schema, type, hint);
      case 'boolean':
      case 'null':
        return this.rules.base(type);
      default:
        return this.#refuse(`the type ${JSON.stringify(type)} at ${hint} is unknown; known types: ${TYPES.join(', ')}`);
    }
  }

  #string(schema: SchemaObject, hint: string): string {
    const [minLength, maxLength] = [amount(schema.minLength), amount(schema.maxLength)];
    if (maxLength !== undefined && maxLength < (minLength ?? 0))
      this.#refuse(`maxLength ${maxLength} is below minLength ${minLength} at ${hint}`);
    const bounds = { pattern: text(schema.pattern), format: text(schema.format), minLength, maxLength };
    return stringExpression(bounds, this.rules, (what) => this.note(`${what} at ${hint}`));
  }

  #number(schema: SchemaObject, type: 'integer' | 'number', hint: string): string {
    const bounds = boundsOf(schema);
    if (bounds.min === undefined && bounds.max === undefined) {
      return type === 'number' ? this.rules.base('number') : '"-"? ( "0" | [1-9] [0-9]{0,15} )';
    }
    if (!plainBounds(bounds)) {
      this.note(`bounds beyond plain decimals at ${hint}`);
      return this.#number({}, type, hint);
    }
    const expression = type === 'integer' ? integerExpression(bounds) : numberExpression(bounds);
    return expression ?? this.#refuse(`no ${type} lies between the bounds at ${hint}`);
  }

  #object(schema: SchemaObject, hint: string, depth: number): string {
    const declared = isObject(schema.properties) ? schema.properties : {};
    const required = new Set(Array.isArray(schema.required) ? (schema.required as unknown[]).map(String) : []);
    const all = { ...declared, ...Object.fromEntries([...required].filter((name) => !(name in declared)).map((name) => [name, true])) };
    const names = Object.keys(all);
    const { additionalProperties: more } = schema;
    if (names.length === 0 && (more === undefined || more === true)) return this.rules.base('object');
    const properties = names.map((name) => ({
      name,
      required: required.has(name),
      value: this.visit(all[name], `${hint}-${name}`, depth + 1),
    }));
    const open = more === true || isObject(more);
    const other = open ? { key: otherKey(names, this.rules), value: this.visit(more, `${hint}-more`, depth + 1) } : undefined;
    return objectExpression({ properties, other, anyOrder: this.anyOrder && depth === 0 }, this.rules, hint);
  }

  #array(schema: SchemaObject, hint: string, depth: number): string {
    this.rules.base('ws');
    const min = amount(schema.minItems) ?? 0;
    const max = amount(schema.maxItems);
    if (max !== undefined && max < min) this.#refuse(`maxItems ${max} is below minItems ${min} at ${hint}`);
    if (Array.isArray(schema.prefixItems)) {
      if (schema.items !== undefined && schema.items !== false) this.note(`items beside prefixItems at ${hint}`);
      const items = schema.prefixItems.map((item, index) => this.visit(item, `${hint}-${index}`, depth + 1));
      return `"[" ws ${items.join(' "," ws ')} ws "]"`;
    }
    if (max === 0 || schema.items === false) return '"[" ws "]"';
    const item = this.rules.add(`${hint}-item`, this.visit(schema.items ?? true, `${hint}-item`, depth + 1));
    const more = repetition(`( "," ws ${item} )`, Math.max(0, min - 1), max === undefined ? undefined : max - 1, (what) =>
      this.note(`${what} at ${hint}`),
    );
    return min > 0 ? `"[" ws ${item} ${more} ws "]"` : `"[" ws ( ${item} ${more} ws )? "]"`;
  }
}

function text(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function amount(value: unknown): number | undefined {
  return typeof value === 'number' && Number.isInteger(value) && value >= 0 ? value : undefined;
}

/** The bounds of a number; boolean exclusive bounds of the older drafts are read too. */
function boundsOf(schema: SchemaObject): NumberBounds {
  const number = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined);
  const low = number(schema.minimum);
  const high = number(schema.maximum);
  const above = number(schema.exclusiveMinimum) ?? (schema.exclusiveMinimum === true ? low : undefined);
  const below = number(schema.exclusiveMaximum) ?? (schema.exclusiveMaximum === true ? high : undefined);
  const minExclusive = above !== undefined && (low === undefined || above >= low);
  const maxExclusive = below !== undefined && (high === undefined || below <= high);
  return { min: minExclusive ? above : low, max: maxExclusive ? below : high, minExclusive, maxExclusive };
}

/** The types that a schema without `type` is about; none = any value. */
function impliedTypes(schema: SchemaObject): string[] {
  const has = (...keys: string[]) => keys.some((key) => schema[key] !== undefined);
  if (has('properties', 'required', 'additionalProperties')) return ['object'];
  if (has('items', 'prefixItems', 'minItems', 'maxItems')) return ['array'];
  if (has('pattern', 'format', 'minLength', 'maxLength')) return ['string'];
  return has('minimum', 'maximum', 'exclusiveMinimum', 'exclusiveMaximum') ? ['number'] : [];
}

/** What became of a schema. */
interface SchemaGrammar {
  /** An expression that uses the rules added. */
  expression: string;
  /** What the grammar does not enforce, each as a phrase. */
  notes: string[];
}

/**
 * Adds the rules of a JSON Schema (2020-12, the older drafts' common words too) to a grammar. Properties come in the schema's order unless `anyOrder`, and no
 * others unless `additionalProperties` allows them. Throws `Failure('invalid')` for schemas that allow nothing, are too large, or, when
 * strict, have a keyword that cannot be enforced.
 */
export function schemaExpression(schema: unknown, rules: GrammarRules, options: SchemaGrammarOptions = {}, hint = 'json'): SchemaGrammar {
  const reader = new SchemaReader(schema, rules, options.strict ?? false, options.anyOrder ?? false);
  return { expression: reader.visit(schema, hint, 0), notes: [...reader.notes] };
}
