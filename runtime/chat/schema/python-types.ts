import { Cursor, type Literal, pythonTokens, type Token } from './python-reader.js';

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
  HttpUrl: { type: 'string', format: 'uri' },
  AnyUrl: { type: 'string', format: 'uri' },
  AnyHttpUrl: { type: 'string', format: 'uri' },
  timedelta: { type: 'string', format: 'duration' },
  UUID4: { type: 'string', format: 'uuid' },
  IPv4Address: { type: 'string', format: 'ipv4' },
  IPv6Address: { type: 'string', format: 'ipv6' },
  Path: { type: 'string' },
  object: {},
  List: { type: 'array' },
  tuple: { type: 'array' },
  set: { type: 'array' },
  Dict: { type: 'object' },
  StrictStr: { type: 'string' },
  StrictInt: { type: 'integer' },
  StrictFloat: { type: 'number' },
  StrictBool: { type: 'boolean' },
  PositiveInt: { type: 'integer', exclusiveMinimum: 0 },
  NonNegativeInt: { type: 'integer', minimum: 0 },
  NegativeInt: { type: 'integer', exclusiveMaximum: 0 },
  NonPositiveInt: { type: 'integer', maximum: 0 },
  PositiveFloat: { type: 'number', exclusiveMinimum: 0 },
  NonNegativeFloat: { type: 'number', minimum: 0 },
  NegativeFloat: { type: 'number', exclusiveMaximum: 0 },
  NonPositiveFloat: { type: 'number', maximum: 0 },
};
/** Types with limits in brackets, as `conint(ge=0)`, and what they limit. */
const LIMITED: Readonly<Record<string, Schema>> = {
  constr: { type: 'string' },
  conint: { type: 'integer' },
  confloat: { type: 'number' },
  condecimal: { type: 'number' },
};
const LISTS: ReadonlySet<string> = new Set(['list', 'List', 'Sequence', 'set', 'Set', 'frozenset']);
const TUPLES: ReadonlySet<string> = new Set(['tuple', 'Tuple']);
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
/** Arguments of `Field` that say how Python handles a field, and nothing of its values. */
const OF_PYTHON: ReadonlySet<string> = new Set([
  'repr',
  'exclude',
  'frozen',
  'init',
  'kw_only',
  'discriminator',
  'validate_default',
  'union_mode',
]);

/** What `Field(...)` says of a field. */
export interface FieldArguments {
  /** True when a value stands in for a missing one. */
  optional: boolean;
  /** That value, where the file itself tells it. */
  standIn?: Literal;
  alias?: string;
  /** Keywords, by the name that `Field` has for them. */
  readonly rules: Map<string, Literal>;
}

/** What empty values the factories of Python make. */
const FACTORIES: Readonly<Record<string, Literal>> = { list: [], set: [], dict: {}, str: '', int: 0, bool: false };

/** Reads the arguments of `Field`, its name and bracket already taken. */
export function fieldArguments(cursor: Cursor): FieldArguments {
  const field: FieldArguments = { optional: false, rules: new Map() };
  let first = true;
  cursor.list(')', () => {
    const { token } = cursor;
    if (first && (token.kind !== 'name' || cursor.next?.text !== '=')) {
      field.optional = token.text !== '...';
      field.standIn = cursor.literal();
    } else {
      const name = cursor.expect('name').text;
      cursor.expect('=');
      const factory = name === 'default_factory' ? FACTORIES[cursor.token.text] : undefined;
      const value = cursor.literal();
      if (name === 'default' || name === 'default_factory') {
        field.optional = true;
        field.standIn = factory ?? value;
      } else if (OF_PYTHON.has(name)) return;
      else if (name === 'alias') field.alias = String(value);
      else if (NOTES.has(name) || (Object.hasOwn(RULES, name) && value !== undefined)) field.rules.set(name, value);
      else cursor.refuse(`Field(${name}=...) is not supported`, token.line);
    }
    first = false;
  });
  return field;
}

/** A type with what `Field` adds to it: limits to every choice that they can apply to, notes to the whole. */
export function withRules(schema: Schema, { rules, standIn }: FieldArguments): Schema {
  const notes: Schema = standIn === undefined ? {} : { default: standIn };
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

/** A type that stands in quotes, since what it names comes later. */
function quotedType({ value, line }: Token, cursor: Cursor, refer: (name: string, line: number) => Schema): Schema {
  const inside = new Cursor(pythonTokens(String(value)), cursor.values);
  const type = readType(inside, (name) => refer(name, line));
  return inside.take('end') || inside.take('newline') ? type : cursor.refuse('a type is expected in quotes', line);
}

function singleType(cursor: Cursor, refer: (name: string, line: number) => Schema): Schema {
  const quoted = cursor.take('string');
  if (quoted) return quotedType(quoted, cursor, refer);
  const { line } = cursor.token;
  const name = cursor.dotted();
  if (Object.hasOwn(LIMITED, name) && cursor.take('(')) return withRules(LIMITED[name]!, fieldArguments(cursor));
  if (name === 'conlist' && cursor.take('(')) {
    const items = readType(cursor, refer);
    cursor.take(',');
    return withRules({ type: 'array', items }, fieldArguments(cursor));
  }
  if (!cursor.take('[')) return Object.hasOwn(PLAIN, name) ? { ...PLAIN[name] } : refer(name, line);
  if (name === 'Literal') {
    const values: Literal[] = [];
    cursor.list(']', () => values.push(cursor.plain()));
    return { enum: values };
  }
  const types: Schema[] = [];
  let field: FieldArguments | undefined;
  let isOpen = false;
  cursor.list(']', () => {
    if (cursor.take('...')) isOpen = true;
    else if (name === 'Annotated' && cursor.take('Field')) {
      cursor.expect('(');
      field = fieldArguments(cursor);
    } else if (name === 'Annotated' && types.length > 0) cursor.literal();
    else types.push(readType(cursor, refer));
  });
  const [first, second] = types;
  if (first !== undefined) {
    if (name === 'Annotated') return field ? withRules(first, field) : first;
    if (name === 'Optional') return anyOf([first, { type: 'null' }]);
    if (name === 'Union') return anyOf(types);
    if (LISTS.has(name)) return { type: 'array', items: first };
    if (TUPLES.has(name))
      return isOpen
        ? { type: 'array', items: first }
        : { type: 'array', prefixItems: types, minItems: types.length, maxItems: types.length };
    if (MAPS.has(name) && second !== undefined) return { type: 'object', additionalProperties: second };
  }
  return cursor.refuse(`the type ${name}[...] is not supported`, line);
}

/** Whether a name is that of a type which needs no class. */
export function isPlainType(name: string): boolean {
  return Object.hasOwn(PLAIN, name) || Object.hasOwn(LIMITED, name);
}
