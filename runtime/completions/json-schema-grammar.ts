import { Failure } from '../../schemas/errors.js';
import { isObject } from '../base/json.js';
import { boundsOf, integerExpression, multiplesExpression, numberExpression, writable } from './grammar/numbers.js';
import { objectExpression, type PropertyRule } from './grammar/objects.js';
import { type GrammarRules, literal, MAX_REPETITION, oneOf } from './grammar/rules.js';
import { type HeldString, otherKey, stringExpression } from './grammar/strings.js';
import { itemsOf, listOf, SchemaChecker } from './schema/check.js';
import { Conjunction, NodeNumbers, type Part } from './schema/conjunction.js';
import { cut, SchemaDocument, type SchemaObject, unusable } from './schema/document.js';
import * as keywords from './schema/keywords.js';

/** How a schema is turned. */
interface SchemaGrammarOptions {
  /** Fail on a keyword that can be neither held nor checked, where otherwise it is noted and left out. */
  strict?: boolean;
  /** The members of the outermost object may come in any order, where they are few. */
  anyOrder?: boolean;
  /** What the outermost value is called in messages; `$` when absent. */
  place?: string;
}

/** What became of a schema. */
interface SchemaGrammar {
  /** An expression that uses the rules added. */
  expression: string;
  /** What only the finished text can show to be kept, each keyword with its place. */
  left: string[];
  /** What is neither held nor checked, each as a phrase. */
  ignored: string[];
}

/**
 * Adds the rules of a JSON Schema (2020-12, the older drafts' common words too) to a grammar. Properties come in the schema's order unless `anyOrder`, and no
 * others unless `additionalProperties` allows them. Throws `Failure('invalid')` for schemas that allow nothing, are too large, or, when
 * strict, have a keyword that can be neither held nor checked.
 */
export function schemaExpression(schema: unknown, rules: GrammarRules, options: SchemaGrammarOptions = {}): SchemaGrammar {
  const reader = new SchemaReader(new SchemaDocument(schema, rules.work), rules, options);
  const expression = reader.value([schema], { name: options.place ?? '$', depth: 0, ways: 1 });
  if (expression === null) throw unusable(`it allows no value: ${reader.reason}`);
  return { expression, left: [...reader.left], ignored: [...reader.ignored] };
}

/** A conjunction that is being turned, or was. */
interface Visit {
  /** Set once something refers to it, or when it is turned. */
  expression?: string | null;
  name?: string;
}

/** A value's place in what is being written. */
interface Place {
  readonly name: string;
  readonly depth: number;
  /** In how many ways what stands before it may be read, since alternatives around it begin alike. */
  readonly ways: number;
}

/** Most values inside one another. */
const MAX_DEPTH = 64;
const MAX_ENUM = 1_000;

/** Characters of an expression that are written in a unit of work. */
const CHARS_PER_UNIT = 64;

/** Expressions up to this length are repeated where they are used; longer ones are rules. */
const INLINE_CHARS = 48;

/** Most combinations of several choices; where there are more, the first alone is held. */
const MAX_COMBINATIONS = 64;
/** Most ways in which a text may be read so far: an engine follows them all, and alternatives inside one another multiply. */
const MAX_WAYS = 64;

/** Of the names of members. */
const STRING: SchemaObject = { type: 'string' };

/** Turns one JSON Schema into GBNF rules. What the grammar allows fits the schema, apart from what is left to the finished text. */
class SchemaReader {
  readonly #visits = new Map<string, Visit>();
  /** What was written for texts, by their keywords. */
  readonly #strings = new Map<string, HeldString>();
  readonly #numbers: NodeNumbers;
  readonly #checker: SchemaChecker;
  /** Keywords that only the finished text can show to be kept, each with its place. */
  readonly left = new Set<string>();
  /** What says nothing here, each as a phrase. */
  readonly ignored = new Set<string>();

  constructor(
    readonly document: SchemaDocument,
    readonly rules: GrammarRules,
    readonly options: SchemaGrammarOptions,
  ) {
    this.#numbers = new NodeNumbers(document);
    this.#checker = new SchemaChecker(document);
  }

  /** The expression of a value that fits all the schemas; null where no value does. */
  value(schemas: readonly unknown[], place: Place): string | null {
    if (place.depth > MAX_DEPTH) throw unusable(`its values at ${place.name.slice(0, 60)}… are nested deeper than ${MAX_DEPTH}`);
    return this.#visit(new Conjunction(this.#numbers, schemas, [], place.name), place, new Set());
  }

  /** `open` = the conjunctions that this one is an alternative of, whatever value comes. */
  #visit(conjunction: Conjunction, place: Place, open: ReadonlySet<string>): string | null {
    const key = place.ways > 1 && conjunction.key !== '' ? `${conjunction.key} x${place.ways}` : conjunction.key;
    this.rules.work.spend(2 + key.length / 32);
    if (conjunction.impossible || open.has(key)) return null;
    if (key === '') return this.rules.base('value');
    const known = this.#visits.get(key);
    if (known) {
      if (known.expression === undefined) known.name ??= this.rules.reserve(place.name);
      return known.name ?? known.expression ?? null;
    }
    const visit: Visit = {};
    this.#visits.set(key, visit);
    const expression = this.#turned(conjunction, place, new Set(open).add(key));
    visit.expression = expression;
    this.rules.work.spend((expression?.length ?? 0) / CHARS_PER_UNIT);
    if (expression === null) {
      if (visit.name !== undefined) this.rules.set(visit.name, literal(''));
      delete visit.name;
    } else if (visit.name !== undefined) {
      this.rules.set(visit.name, expression);
    } else if (expression.length > INLINE_CHARS) {
      visit.name = this.rules.shared(place.name, expression);
    }
    return visit.name ?? visit.expression;
  }

  #turned(conjunction: Conjunction, place: Place, open: ReadonlySet<string>): string | null {
    const values = conjunction.own.map(keywords.valuesOf).find((list) => list !== undefined);
    if (values) return this.#enumeration(values, conjunction, place);
    const [choice, ...others] = conjunction.parts.filter((part) => part.role !== 'own');
    if (!choice) return this.#typed(conjunction.own, place);
    const dropped = combinations([choice, ...others]) > MAX_COMBINATIONS ? others : [];
    for (const { role } of dropped) this.#leave(role, place);
    if (choice.role === 'oneOf' && !keywords.exclude(choice.node, this.document)) this.#leave('oneOf', place);
    const all = conjunction.alternatives(choice, dropped).filter((one) => !one.impossible);
    const alternatives = this.#alike(choice, conjunction)
      ? this.#within(place, all).map(([one, within]) => this.#visit(one, within, open))
      : all.map((one) => this.#visit(one, place, open));
    const possible = [...new Set(alternatives.filter((one) => one !== null))];
    return possible.length === 0 ? null : oneOf(possible);
  }

  /** Whether alternatives may begin with the same value inside them. */
  #alike({ node, role }: Part, conjunction: Conjunction): boolean {
    if (role === 'own' || role === 'nullable') return false;
    return conjunction.own.length > 0 || !keywords.differSoon(node, role, this.document);
  }

  /** Parts that begin alike, each with the place inside it; inside others of that kind the first parts alone, which every reader takes. */
  #within<T>(place: Place, parts: readonly T[]): [T, Place][] {
    const held = place.ways === 1 ? parts : parts.slice(0, Math.max(1, Math.floor(MAX_WAYS / place.ways)));
    return held.map((part) => [part, { ...place, ways: Math.min(MAX_WAYS, place.ways * held.length) }]);
  }

  #enumeration(values: unknown[], conjunction: Conjunction, place: Place): string | null {
    if (values.length === 0 || values.length > MAX_ENUM)
      throw unusable(`the enum at ${place.name} has ${values.length} values (1 to ${MAX_ENUM} are allowed)`);
    const nodes = new Set(conjunction.parts.map((part) => part.node));
    const fitting = values.filter((value) => [...nodes].every((node) => this.#checker.flawOf(value, node) === null));
    if (fitting.length === 0) return this.#impossible(`no value of the enum at ${place.name} fits the rest of its schema`);
    return oneOf([...new Set(fitting.map((value) => literal(JSON.stringify(value))))]);
  }

  #typed(schemas: readonly SchemaObject[], place: Place): string | null {
    const types = keywords.typesOf(schemas) ?? keywords.impliedTypes(schemas);
    if (schemas.some(({ not }) => not === true || (isObject(not) && Object.keys(not).length === 0)))
      return this.#impossible(`"not" excludes every value at ${place.name}`);
    this.#say(schemas, types as string[], place);
    if (types.length === 0 && schemas.every(({ type }) => type === undefined)) return this.rules.base('value');
    if (types.length === 0) return this.#impossible(`no type is left at ${place.name}`);
    const possible = types.map((type) => this.#ofType(schemas, type, place)).filter((one) => one !== null);
    return possible.length === 0 ? null : oneOf(possible);
  }

  #say(schemas: readonly SchemaObject[], types: readonly string[], place: Place): void {
    for (const schema of schemas) {
      for (const [keyword, value] of Object.entries(schema)) {
        this.rules.work.spend(0.2);
        const standing = keywords.standing(keyword, value, types);
        if (standing === 'left') this.#leave(keyword, place);
        else if (standing === 'unread') this.#unread(`the keyword "${keyword}"`, place);
        else if (standing === 'unknown') this.#ignore(`the keyword "${cut(keyword)}", which is unknown, at ${place.name}`);
      }
    }
  }

  #ofType(schemas: readonly SchemaObject[], type: unknown, place: Place): string | null {
    switch (type) {
      case 'object':
        return this.#object(schemas, place);
      case 'array':
        return this.#array(schemas, place);
      case 'string':
        return this.#string(schemas, place);
      case 'integer':
      case 'number':
        return this.#number(schemas, type, place);
      case 'boolean':
      case 'null':
        return this.rules.base(type);
      default:
        throw unusable(`the type ${cut(JSON.stringify(type))} at ${place.name} is unknown; known types: ${keywords.TYPES.join(', ')}`);
    }
  }

  #string(schemas: readonly SchemaObject[], place: Place): string | null {
    const bounds = {
      patterns: keywords.texts(schemas, 'pattern'),
      formats: keywords.texts(schemas, 'format'),
      minLength: keywords.most(schemas, 'minLength'),
      maxLength: keywords.least(schemas, 'maxLength'),
    };
    const key = JSON.stringify(bounds);
    const known = this.#strings.get(key) ?? stringExpression(bounds, this.rules);
    this.#strings.set(key, known);
    const { expression, left, unread, unknown } = known;
    for (const keyword of left) this.#leave(keyword, place);
    for (const phrase of unread) this.#unread(phrase, place);
    for (const phrase of unknown) this.#ignore(`${phrase} at ${place.name}`);
    return expression ?? this.#impossible(`no text fits the pattern and the lengths at ${place.name}`);
  }

  #number(schemas: readonly SchemaObject[], type: 'integer' | 'number', place: Place): string | null {
    const given = schemas.map((schema) => schema.multipleOf).filter((value) => typeof value === 'number' && value > 0) as number[];
    const whole = type === 'integer' || given.some(Number.isInteger);
    const all = boundsOf(schemas);
    const steps = [...new Set(given)].filter((step) => !(whole && Number.isInteger(1 / step)));
    if (steps.length === 1 && (!whole || Number.isInteger(steps[0]))) {
      const listed = multiplesExpression(steps[0]!, all, this.rules);
      if (listed === null) return this.#impossible(`no multiple of ${steps[0]} lies between the bounds at ${place.name}`);
      if (listed !== undefined) return listed;
    }
    if (steps.length > 0) this.#leave('multipleOf', place);
    if (all.min === undefined && all.max === undefined) return whole ? '"-"? ( "0" | [1-9] [0-9]{0,15} )' : this.rules.base('number');
    const { bounds, left } = writable(all);
    for (const keyword of left) this.#leave(keyword, place);
    const expression = whole ? integerExpression(bounds) : numberExpression(bounds);
    return expression ?? this.#impossible(`no ${type} lies between the bounds at ${place.name}`);
  }

  #array(schemas: readonly SchemaObject[], place: Place): string | null {
    this.rules.base('ws');
    const shapes = schemas.map(itemsOf);
    const declared = Math.max(...shapes.map(({ prefix }) => prefix.length));
    const [min, max] = [keywords.most(schemas, 'minItems'), keywords.least(schemas, 'maxItems')];
    if (max < min) return this.#impossible(`maxItems ${max} is below minItems ${min} at ${place.name}`);
    const at = (index: number) =>
      shapes.flatMap(({ prefix, rest }) => (index < prefix.length ? [prefix[index]] : rest === undefined ? [] : [rest]));
    const first: string[] = [];
    for (let index = 0; index < Math.min(declared, max); index += 1) {
      const item = this.value(at(index), inside(place, `[${index}]`));
      if (item === null && first.length < min) return this.#impossible(`no item ${index} is possible at ${place.name}`);
      if (item === null) return this.#list(first, null, 0, 0);
      first.push(item);
    }
    // Behind items that are declared, none comes that is not.
    const open = declared === 0 || shapes.some(({ rest }) => rest !== undefined);
    const item = open && max > first.length ? this.value(at(declared), inside(place, '[]')) : null;
    if (item === null && first.length < min) return this.#impossible(`fewer than minItems ${min} items are possible at ${place.name}`);
    const [fewest, most] = [Math.max(0, min - first.length), max - first.length];
    if (fewest > MAX_REPETITION) this.#leave('minItems', place);
    if (most > MAX_REPETITION && most !== Infinity) this.#leave('maxItems', place);
    return this.#list(first, item, Math.min(fewest, MAX_REPETITION), most > MAX_REPETITION ? Infinity : most);
  }

  #list(first: readonly string[], item: string | null, min: number, max: number): string {
    const more = (least: number, most: number) =>
      item === null || most <= 0 ? '' : this.rules.repetition(`( "," ws ${item} )`, least, most);
    if (first.length > 0) return `"[" ws ${first.join(' "," ws ')} ${more(min, max)} ws "]"`;
    if (item === null || max === 0) return '"[" ws "]"';
    return min > 0 ? `"[" ws ${item} ${more(min - 1, max - 1)} ws "]"` : `"[" ws ( ${item} ${more(0, max - 1)} ws )? "]"`;
  }

  #object(schemas: readonly SchemaObject[], place: Place): string | null {
    const required = new Set(schemas.flatMap((schema) => listOf(schema.required)));
    const declared = schemas.flatMap((schema) => (isObject(schema.properties) ? Object.keys(schema.properties) : []));
    const names = [...new Set([...declared, ...required, ...this.#listedNames(schemas, place)])];
    if (names.length === 0 && schemas.every(keywords.allowsAnyObject)) return this.rules.base('object');
    const other = this.#other(schemas, names, place);
    const properties: PropertyRule[] = [];
    this.rules.work.spend(10);
    for (const name of names) {
      this.rules.work.spend(5);
      const possible = schemas.every(
        ({ propertyNames }) => propertyNames === undefined || this.#checker.flawOf(name, propertyNames) === null,
      );
      const parts = schemas.flatMap((schema) => this.#checker.membersOf(schema, name));
      const value = possible ? this.value(parts, inside(place, `.${cut(name)}`)) : null;
      if (value !== null) properties.push({ name, required: required.has(name), value });
      else if (required.has(name))
        return this.#impossible(`the required property "${cut(name)}" at ${place.name} can have no value: ${this.reason}`);
    }
    const [min, max] = [keywords.most(schemas, 'minProperties'), keywords.least(schemas, 'maxProperties')];
    if (min > (properties.length === 0 ? 1 : required.size)) this.#leave('minProperties', place);
    if (max < Infinity && (properties.length === 0 ? max > MAX_REPETITION : other || max < properties.length))
      this.#leave('maxProperties', place);
    if ((properties.length === 0 && !other && min > 0) || max < Math.max(min, required.size))
      return this.#impossible(`too few properties are possible at ${place.name}`);
    const counts = { min: Math.min(min, MAX_REPETITION), max: max > MAX_REPETITION ? Infinity : max };
    const anyOrder = this.options.anyOrder === true && place.depth === 0;
    return objectExpression(
      { properties, other: other === undefined ? undefined : { member: other, ...counts }, anyOrder },
      this.rules,
      place.name,
    );
  }

  /** The names that `propertyNames` lists, as that of a map by an enumeration does. */
  #listedNames(schemas: readonly SchemaObject[], place: Place): string[] {
    const wanted = schemas.flatMap(({ propertyNames }) => (propertyNames === undefined ? [] : [propertyNames]));
    if (wanted.length === 0) return [];
    const names = new Conjunction(this.#numbers, wanted, [], place.name);
    const values = names.own.map(keywords.valuesOf).find((list) => list !== undefined) ?? [];
    return values.filter((value) => typeof value === 'string').slice(0, MAX_ENUM);
  }
  /** A member that is not declared: by `patternProperties`, or by `additionalProperties`; undefined where there is none. */
  #other(schemas: readonly SchemaObject[], names: readonly string[], place: Place): string | undefined {
    const patterns = [
      ...new Set(schemas.flatMap((schema) => (isObject(schema.patternProperties) ? Object.keys(schema.patternProperties) : []))),
    ];
    const members = this.#within(place, patterns).map(([pattern, within]) => this.#patternMember(schemas, pattern, within));
    const more = schemas.flatMap((schema) => (schema.additionalProperties === undefined ? [] : [schema.additionalProperties]));
    const closed = schemas.some((schema) => schema.unevaluatedProperties === false) || this.#listedNames(schemas, place).length > 0;
    if (!closed && (more.length > 0 || (names.length === 0 && patterns.length === 0))) {
      const value = this.value(more, inside(place, '.*'));
      const key = value === null ? null : this.#otherName(schemas, names, patterns, place);
      members.push(key === null ? null : `${key} ":" ws ${value}`);
    }
    const possible = members.filter((member) => member !== null);
    const overlaps = possible.length > 1 || names.some((name) => patterns.some((pattern) => this.#checker.matches(pattern, name)));
    if (patterns.length > 0 && overlaps) this.#leave('patternProperties', place);
    return possible.length === 0 ? undefined : this.rules.shared(`${place.name}-other`, possible.join(' | '));
  }

  #patternMember(schemas: readonly SchemaObject[], pattern: string, place: Place): string | null {
    this.rules.work.spend(20);
    const parts = schemas.flatMap(({ patternProperties, additionalProperties }) => {
      if (isObject(patternProperties) && Object.hasOwn(patternProperties, pattern)) return [patternProperties[pattern]];
      return additionalProperties === undefined ? [] : [additionalProperties];
    });
    const value = this.value(parts, inside(place, '.*'));
    if (value === null) return null;
    const key = stringExpression({ patterns: [pattern], formats: [], minLength: 0, maxLength: Infinity }, this.rules);
    if (key.left.length > 0) this.#leave('patternProperties', place);
    for (const phrase of key.unread) this.#unread(phrase, place);
    return key.expression === null ? null : `${key.expression} ":" ws ${value}`;
  }

  /** The key of a member that is not declared; null where none is possible. */
  #otherName(schemas: readonly SchemaObject[], names: readonly string[], patterns: readonly string[], place: Place): string | null {
    const wanted = schemas.flatMap(({ propertyNames }) => (propertyNames === undefined ? [] : [propertyNames]));
    if (wanted.length === 0) return otherKey(names, this.rules);
    if (names.length === 0 && patterns.length === 0) return this.value([STRING, ...wanted], inside(place, ' (names)'));
    this.#leave('propertyNames', place);
    return otherKey(names, this.rules);
  }

  #leave(keyword: string, place: Place): void {
    this.left.add(`"${keyword}" at ${place.name}`);
  }

  /** Why the schema allows no value, where it does not. */
  reason = 'it is false';

  #impossible(reason: string): null {
    this.reason = reason;
    return null;
  }

  #ignore(phrase: string): void {
    this.ignored.add(phrase);
  }

  #unread(phrase: string, place: Place): void {
    if (this.options.strict) {
      const message = `The schema uses ${phrase} at ${place.name}; that can be neither held nor checked. Leave it out, or send strict: false.`;
      throw new Failure('invalid', message, { code: 'unsupported_schema' });
    }
    this.#ignore(`${phrase} at ${place.name}`);
  }
}

/** How many combinations of alternatives several choices have. */
function combinations(choices: readonly Part[]): number {
  return choices.reduce(
    (product, { node, role }) => product * (role === 'own' || role === 'nullable' ? 2 : (node[role] as unknown[]).length),
    1,
  );
}

function inside(place: Place, step: string): Place {
  return { ...place, name: `${place.name}${step}`, depth: place.depth + 1 };
}
