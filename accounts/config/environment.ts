import { Failure, type FailureItem } from '../../schemas/errors.js';

/** Values by name, as `process.env` has them. */
export type Environment = Readonly<Record<string, string | undefined>>;

const REFERENCE = /\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g;
const WHOLE = /^env:([A-Za-z_][A-Za-z0-9_]*)$/;

/**
 * The file's value with each `${NAME}` and each whole text `env:NAME` replaced from the environment. Throws `Failure('invalid')` that
 * names every path whose name is not set. What an environment value holds is not read again.
 */
export function withEnvironment(file: unknown, environment: Environment): unknown {
  const missing: FailureItem[] = [];
  const lookUp = (name: string, path: readonly (string | number)[]): string => {
    const value = environment[name];
    if (value === undefined)
      missing.push({ type: 'missing_variable', loc: path, msg: `the environment has no ${name}; set it, or write the value here` });
    return value ?? '';
  };
  const visit = (value: unknown, path: readonly (string | number)[]): unknown => {
    if (typeof value === 'string') {
      const whole = WHOLE.exec(value);
      return whole ? lookUp(whole[1]!, path) : value.replace(REFERENCE, (_, name: string) => lookUp(name, path));
    }
    if (Array.isArray(value)) return value.map((item, index) => visit(item, [...path, index]));
    if (value === null || typeof value !== 'object') return value;
    return Object.fromEntries(Object.entries(value).map(([key, member]) => [key, visit(member, [...path, key])]));
  };
  const filled = visit(file, []);
  if (missing.length > 0)
    throw new Failure('invalid', `module.yaml: ${missing.map(({ loc, msg }) => `${loc.join('.')}: ${msg}`).join('; ')}`, {
      errors: missing,
    });
  return filled;
}
