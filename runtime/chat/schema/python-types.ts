import type { Cursor, Literal } from './python-cursor.js';

/** A JSON Schema, or a part of one. */
export type Schema = { [keyword: string]: unknown };

const PLAIN: Readonly<Record<string, Schema>> = {
  str: { type: 'string' },
  int: { type: 'integer' },
  float: { type: 'number' },
  Decimal: { type: 'number' },
  bool: { type: 'boolean' },
  None: { type: 'null' },
  Any: {},
  list: { type: 'array' },
  dict: { type: 'object' },
  datetime: { type: 'string', format: 'date-time' },
  date: { type: 'string', format: 'date' },
  time: { type: 'string', format: 'time' },
  UUID: { type: 'string', format: 'uuid' },
  EmailStr: { type: 'string', format: 'email' },
};
const LISTS: ReadonlySet<string> = new Set(['list', 'List', 'Sequence', 'set', 'Set', 'frozenset']);
const MAPS: ReadonlySet<string> = new Set(['dict', 'Dict', 'Mapping']);
/** Arguments of `Field` that are keywords of a schema: on texts and numbers, and on lists. */
const RULES: Readonly<Record<string, readonly [plain: string, list: string]>> = {
  gt: ['exclusiveMinimum', 'exclusiveMinimum'],
  ge: ['minimum', 'minimum'],
  lt: ['exclusiveMaximum', 'exclusiveMaximum'],
  le: ['maximum', 'maximum'],
  multiple_of: ['multipleOf', 'multipleOf'],
  min_length: ['minLength', 'minItems'],
  max_length: ['maxLength', 'maxItems'],
  min_items: ['minItems', 'minItems'],
  max_items: ['maxItems', 'maxItems'],
  pattern: ['pattern', 'pattern'],
  regex: ['pattern', 'pattern'],
};
const NOTES: ReadonlySet<string> = new Set(['title', 'description', 'examples', 'deprecated']);

/** What `Field(...)` says of a field. */
export interface FieldArguments {
  /** True when a value stands in for a missing one. */
  optional: boolean;
  alias?: string;
  /** Keywords, by the name that `Field` has for them. */
  readonly rules: Map<string, Literal>;
}

/** Reads the arguments of `Field`, its name already taken. */
export function fieldArguments(cursor: Cursor): FieldArguments {
  const field: FieldArguments = { optional: false, rules: new Map() };
  let first = true;
  cursor.expect('(');
  cursor.list(')', () => {
    const { token } = cursor;
    if (first && (token.kind !== 'name' || cursor.next?.text !== '=')) {
      field.optional = token.text !== '...';
      cursor.literal();
    } else {
      const name = cursor.expect('name').text;
      cursor.expect('=');
      const value = cursor.literal();
      if (name === 'default' || name === 'default_factory') field.optional = true;
      else if (name === 'alias') field.alias = String(value);
      else if (NOTES.has(name) || (Object.hasOwn(RULES, name) && value !== undefined)) field.rules.set(name, value);
      else cursor.refuse(`Field(${name}=...) is not supported`, token.line);
    }
    first = false;
  });
  return field;
}

/** A type with what `Field` adds to it: limits to every choice that they can apply to, notes to the whole. */
export function withRules(schema: Schema, { rules }: FieldArguments): Schema {
  const notes: Schema = {};
  const limits: (readonly [keywords: readonly [plain: string, list: string], value: Literal])[] = [];
  for (const [name, value] of rules) {
    if (NOTES.has(name)) notes[name] = value;
    else limits.push([RULES[name]!, value]);
  }
  const limited = (one: Schema): Schema => ({
    ...one,
    ...Object.fromEntries(limits.map(([keywords, value]) => [keywords[one.type === 'array' ? 1 : 0], value])),
  });
  const choices = schema.anyOf as Schema[] | undefined;
  const typed = choices?.map((one) => (one.type === undefined || one.type === 'null' ? one : limited(one)));
  return { ...(typed ? { anyOf: typed } : limited(schema)), ...notes };
}

/** Reads a type. `refer` makes the schema of a class by its name. */
export function readType(cursor: Cursor, refer: (name: string, line: number) => Schema): Schema {
  const choices: Schema[] = [];
  do choices.push(singleType(cursor, refer));
  while (cursor.take('|'));
  return anyOf(choices);
}

function anyOf(choices: readonly Schema[]): Schema {
  const flat = choices.flatMap((choice) => (choice.anyOf as Schema[] | undefined) ?? [choice]);
  return flat.length === 1 ? flat[0]! : { anyOf: flat };
}

function singleType(cursor: Cursor, refer: (name: string, line: number) => Schema): Schema {
  const quoted = cursor.take('string');
  const { line } = quoted ?? cursor.token;
  const name = quoted ? String(quoted.value) : cursor.dotted();
  if (quoted || !cursor.take('[')) return Object.hasOwn(PLAIN, name) ? { ...PLAIN[name] } : refer(name, line);
  if (name === 'Literal') {
    const values: Literal[] = [];
    cursor.list(']', () => values.push(cursor.plain()));
    return { enum: values };
  }
  const types: Schema[] = [];
  let field: FieldArguments | undefined;
  cursor.list(']', () => {
    if (cursor.take('...')) return;
    if (name === 'Annotated' && cursor.take('Field')) field = fieldArguments(cursor);
    else types.push(readType(cursor, refer));
  });
  const [first, second] = types;
  if (first !== undefined) {
    if (name === 'Annotated') return field ? withRules(first, field) : first;
    if (name === 'Optional') return anyOf([first, { type: 'null' }]);
    if (name === 'Union') return anyOf(types);
    if (LISTS.has(name)) return { type: 'array', items: first };
    if (MAPS.has(name) && second !== undefined) return { type: 'object', additionalProperties: second };
  }
  return cursor.refuse(`the type ${name}[...] is not supported`, line);
}
