import { randomBytes } from 'node:crypto';
import { Failure, type FailureItem } from '../../schemas/errors.js';

const LEAST_CHARACTERS = 32;
/** Bits by Shannon's measure over the characters: 32 random hexadecimal digits have about 110, a word repeated some 60. */
const LEAST_BITS = 80;
const REMEDY = 'make one with "openssl rand -base64 32"';

/**
 * The secret and the one before it. In development a missing secret is made up, so sessions end with the process; a weak one is taken.
 * Elsewhere both are refused: `Failure('invalid')`.
 */
export function secretsOf(secret: string | undefined, previous: string | undefined, development: boolean): readonly string[] {
  if (development && !secret) return [randomBytes(32).toString('base64'), ...(previous ? [previous] : [])];
  if (!secret) throw new Failure('invalid', `AUTH_SECRET: is not set; ${REMEDY}`);
  const given = previous ? { AUTH_SECRET: secret, AUTH_PREVIOUS_SECRET: previous } : { AUTH_SECRET: secret };
  for (const [name, value] of Object.entries(given)) {
    if (development) continue;
    if (value.length < LEAST_CHARACTERS)
      throw new Failure('invalid', `${name}: has ${value.length} characters, and needs ${LEAST_CHARACTERS}; ${REMEDY}`);
    if (entropyBits(value) < LEAST_BITS || isRepetitive(value)) throw new Failure('invalid', `${name}: is easy to guess; ${REMEDY}`);
  }
  return Object.values(given);
}

function entropyBits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - count * Math.log2(count / text.length), 0);
}

/** Whether most pairs of neighbours come again: a word that is written over and over looks mixed when each character is counted alone. */
function isRepetitive(text: string): boolean {
  const pairs = Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2));
  return new Set(pairs).size < pairs.length / 2;
}

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
