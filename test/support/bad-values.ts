/** A JSON schema, as far as request bodies use one. */
export interface Shape {
  readonly $ref?: string;
  readonly type?: string | readonly string[];
  readonly enum?: readonly unknown[];
  readonly anyOf?: readonly Shape[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly items?: Shape;
  readonly properties?: Readonly<Record<string, Shape>>;
  readonly required?: readonly string[];
  readonly additionalProperties?: Shape;
}

/** A body with one value put in another's place. */
export interface BadBody {
  /** The members on the way to the value. */
  readonly path: readonly (string | number)[];
  readonly body: unknown;
}

/** One value of each kind that JSON has. */
const KINDS = { null: null, boolean: true, number: 1.5, string: 'NaN', array: [], object: {} } as const;
const HUGE = 2 ** 53;

/** Lists in lists, so many deep. */
function nested(depth: number): unknown {
  let value: unknown = [];
  for (let i = 1; i < depth; i += 1) value = [value];
  return value;
}

function kindsOf(shape: Shape): readonly string[] {
  if (shape.anyOf) return shape.anyOf.flatMap(kindsOf);
  if (shape.enum) return shape.enum.map((one) => (one === null ? 'null' : typeof one));
  return [shape.type ?? Object.keys(KINDS)].flat();
}

/** Values that the shape refuses as a whole; what is wrong inside of them is for `badBodies`. */
function wrongValues(shape: Shape): unknown[] {
  const kinds = kindsOf(shape);
  const isNumber = kinds.includes('number') || kinds.includes('integer');
  const wrong: unknown[] = [];
  for (const [kind, value] of Object.entries(KINDS)) if (!kinds.includes(kind) && !(shape.enum && kind === 'string')) wrong.push(value);
  if (!kinds.includes('array')) wrong.push(nested(50));
  if (isNumber) wrong.push('1', '-Infinity', '');
  if (shape.enum) wrong.push('no such thing', '', 'x'.repeat(100_000));
  const { minimum, exclusiveMinimum, maximum, minLength, maxLength, minItems, maxItems } = shape;
  if (minimum !== undefined) wrong.push(minimum - Math.max(1, Math.abs(minimum)), Math.min(-HUGE, 2 * minimum), -1e308);
  if (exclusiveMinimum !== undefined) wrong.push(exclusiveMinimum, -1, -1e308);
  if (maximum !== undefined) wrong.push(maximum * 2 + 1, Math.max(HUGE, 2 * maximum), 1e308);
  if (minLength) wrong.push('');
  if (maxLength) wrong.push('x'.repeat(maxLength + 1));
  if (minItems) wrong.push([]);
  if (maxItems && maxItems <= 20_000) wrong.push(Array(maxItems + 1).fill(1));
  return wrong;
}

/** Values that most shapes let through and that code behind them may trip over. */
const ODD_VALUES: readonly unknown[] = [
  '',
  ' ',
  '../../x',
  'a/b',
  'a\0b',
  '\ud800',
  '__proto__',
  'constructor',
  '-latest',
  'NaN',
  'x'.repeat(50_000),
  0,
  -0,
  -1,
  1e308,
  -1e308,
  5e-324,
  HUGE,
  -HUGE,
  true,
  null,
  [],
  [[]],
  [{}],
  [null],
  [1e308],
  [[1e308, -1e308]],
  [[1], [2, 3]],
  [['NaN', null]],
  nested(500),
  [nested(50)],
  {},
  { '': 1 },
  { constructor: 1 },
  { a: { b: [1] } },
  { ['x'.repeat(5_000)]: 1 },
  JSON.parse('{"__proto__": {"a": 1}}'),
];

function replaced(whole: unknown, [first, ...rest]: readonly (string | number)[], value: unknown): unknown {
  if (first === undefined) return value;
  const inner = (whole as Record<string | number, unknown>)[first];
  if (Array.isArray(whole)) return whole.with(first as number, replaced(inner, rest, value));
  return { ...(whole as object), [first]: replaced(inner, rest, value) };
}

function without(whole: unknown, path: readonly (string | number)[], name: string): unknown {
  const owner = path.reduce((value, step) => (value as Record<string | number, unknown>)[step], whole);
  const { [name]: _gone, ...rest } = owner as Record<string, unknown>;
  return replaced(whole, path, rest);
}

/** The places of `valid`, whose members are all there, with their shapes. */
function* places(
  shape: Shape,
  valid: unknown,
  defs: Readonly<Record<string, Shape>>,
  path: readonly (string | number)[] = [],
): Generator<{ path: readonly (string | number)[]; shape: Shape }> {
  const here = shape.$ref ? defs[shape.$ref.replace('#/$defs/', '')]! : shape;
  yield { path, shape: here };
  if (Array.isArray(valid)) {
    if (here.items && valid.length > 0) yield* places(here.items, valid[0], defs, [...path, 0]);
    return;
  }
  if (valid === null || typeof valid !== 'object') return;
  for (const [name, value] of Object.entries(valid)) {
    const inner = here.properties?.[name] ?? here.additionalProperties;
    if (inner) yield* places(inner, value, defs, [...path, name]);
  }
}

/** Bodies that the shape refuses: each place of `valid`, which is a body that it takes with all of its members, with each wrong value. */
export function* badBodies(shape: Shape, valid: unknown, defs: Readonly<Record<string, Shape>>): Generator<BadBody> {
  for (const { path, shape: here } of places(shape, valid, defs)) {
    for (const value of wrongValues(here)) yield { path, body: replaced(valid, path, value) };
    for (const name of here.required ?? []) yield { path: [...path, name], body: without(valid, path, name) };
  }
}

/** Bodies with each odd value in each place of `valid`, whether the shape refuses them or not. */
export function* oddBodies(shape: Shape, valid: unknown, defs: Readonly<Record<string, Shape>>): Generator<BadBody> {
  for (const { path } of places(shape, valid, defs))
    if (path.length > 0) for (const value of ODD_VALUES) yield { path, body: replaced(valid, path, value) };
}
