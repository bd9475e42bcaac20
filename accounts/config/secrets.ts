import { randomBytes } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';

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
    if (bits(value) < LEAST_BITS || isRepetitive(value)) throw new Failure('invalid', `${name}: is easy to guess; ${REMEDY}`);
  }
  return Object.values(given);
}

function bits(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  return [...counts.values()].reduce((sum, count) => sum - count * Math.log2(count / text.length), 0);
}

/** Whether most pairs of neighbours come again: a word that is written over and over looks mixed when each character is counted alone. */
function isRepetitive(text: string): boolean {
  const pairs = Array.from({ length: text.length - 1 }, (_, index) => text.slice(index, index + 2));
  return new Set(pairs).size < pairs.length / 2;
}
