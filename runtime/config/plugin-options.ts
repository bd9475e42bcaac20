import { Failure } from '../../schemas/errors.js';
import { renderSetting } from '../../schemas/secrets.js';
import { isObject } from '../base/json.js';

/** One option of a plug-in, as a JSON Schema of one value. Numbers outside their range are clamped; a wrong type or choice is refused. */
export type OptionShape = { readonly description: string; readonly examples?: readonly unknown[] } & (
  | { readonly type: 'boolean'; readonly default: boolean }
  | {
      readonly type: 'integer' | 'number';
      readonly default: number | null;
      readonly minimum: number;
      readonly maximum: number;
    }
  | { readonly type: 'string'; readonly default: string | null; readonly enum?: readonly string[] }
  | { readonly type: 'object'; readonly default: Readonly<Record<string, never>> }
  | {
      readonly type: 'array';
      readonly default: readonly never[];
      readonly items:
        | { readonly type: 'string'; readonly enum?: readonly string[] }
        | { readonly type: 'object' }
        | { readonly type: 'number' };
      readonly maxItems: number;
    }
);

/** The options of a plug-in by their name in the configuration. */
export type OptionShapes = Readonly<Record<string, OptionShape>>;

type ValueOf<S> = S extends { default: null } ? TypeOf<S> | null : TypeOf<S>;

type TypeOf<S> = S extends { enum: readonly (infer E)[] }
  ? E
  : S extends { type: 'boolean' }
    ? boolean
    : S extends { type: 'integer' | 'number' }
      ? number
      : S extends { type: 'string' }
        ? string
        : S extends { items: { enum: readonly (infer E)[] } }
          ? readonly E[]
          : S extends { items: { type: 'string' } }
            ? readonly string[]
            : S extends { items: { type: 'number' } }
              ? readonly number[]
              : S extends { type: 'object' }
                ? Record<string, unknown>
                : readonly Record<string, unknown>[];

/** What the options of a plug-in come to, typed after their shapes. */
export type OptionValues<S extends OptionShapes> = { readonly [K in keyof S]: ValueOf<S[K]> };

function refuse(name: string, value: unknown, allowed: string): never {
  throw new Failure('invalid', `${name} is ${renderSetting(name, value)}; it must be ${allowed}.`);
}

/** Names are matched without regard to case, since configurations write types and algorithms either way. */
function choice(name: string, value: unknown, allowed: readonly string[] | undefined): string {
  if (typeof value !== 'string') return refuse(name, value, allowed ? `one of ${allowed.join(', ')}` : 'a text');
  if (allowed === undefined) return value;
  return allowed.find((one) => one.toLowerCase() === value.toLowerCase()) ?? refuse(name, value, `one of ${allowed.join(', ')}`);
}

function list(name: string, value: unknown, shape: Extract<OptionShape, { type: 'array' }>): unknown {
  if (!Array.isArray(value)) return refuse(name, value, 'a list');
  if (value.length > shape.maxItems) return refuse(`The length of ${name}`, value.length, `at most ${shape.maxItems}`);
  const { items } = shape;
  if (items.type === 'string') return value.map((one, index) => choice(`${name}[${index}]`, one, items.enum));
  const wrong = value.findIndex((one) => (items.type === 'number' ? !Number.isFinite(one) : !isObject(one)));
  return wrong < 0 ? value : refuse(`${name}[${wrong}]`, value[wrong], items.type === 'number' ? 'a number' : 'an object');
}

function readOption(name: string, shape: OptionShape, value: unknown): unknown {
  if (value === undefined || value === null) return shape.default;
  switch (shape.type) {
    case 'boolean':
      return typeof value === 'boolean' ? value : refuse(name, value, 'true or false');
    case 'integer':
    case 'number': {
      if (typeof value !== 'number' || Number.isNaN(value))
        return refuse(name, value, `a number from ${shape.minimum} to ${shape.maximum}`);
      const inside = Math.min(shape.maximum, Math.max(shape.minimum, value));
      return shape.type === 'integer' ? Math.trunc(inside) : inside;
    }
    case 'string':
      return choice(name, value, shape.enum);
    case 'object':
      return isObject(value) ? value : refuse(name, value, 'an object');
    case 'array':
      return list(name, value, shape);
  }
}

/**
 * The given options over their defaults. Unknown ones are ignored, numbers are clamped to their range; throws `Failure('invalid')`
 * that names the option, as `owner.option`, for a value of a wrong type or outside its choices.
 */
export function readOptions<S extends OptionShapes>(owner: string, shapes: S, given: Readonly<Record<string, unknown>>): OptionValues<S> {
  return Object.fromEntries(
    Object.entries(shapes).map(([name, shape]) => [
      name,
      readOption(`${owner}.${name}`, shape, Object.hasOwn(given, name) ? given[name] : undefined),
    ]),
  ) as OptionValues<S>;
}
