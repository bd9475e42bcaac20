import { createHash, createHmac, randomBytes, randomInt } from 'node:crypto';

/** The hash under which a credential of 256 random bits is stored, which need no key; `purpose` keeps hashes of different things apart. */
export function hash(purpose: string, credential: string): string {
  return createHash('sha256').update(`${purpose}:${credential}`).digest('base64url');
}

/** The hash of what could be guessed from its hash alone, such as a code that a person types. */
export function keyedHash(secret: string, purpose: string, code: string): string {
  return createHmac('sha256', secret).update(`${purpose}:${code}`).digest('base64url');
}

/** A credential: a prefix that tells what it is, and 256 random bits. */
export function newCredential(prefix: string): string {
  return prefix + randomBytes(32).toString('base64url');
}

/** The credential that follows another one: the same each time, and nobody's who has not both that one and the secret. */
export function nextCredential(prefix: string, secret: string, credential: string): string {
  return prefix + keyedHash(secret, `after ${prefix}`, credential);
}

/** Letters and digits that people do not mistake for each other. */
const LETTERS = 'ABCDEFGHJKLMNPQRSTUVWXYZ23456789';
const CODE_LENGTH = 8;

/** A code that a person types: eight characters of 32, so 40 bits, as `ABCD-2345`. */
export function newUserCode(): string {
  const code = Array.from({ length: CODE_LENGTH }, () => LETTERS[randomInt(LETTERS.length)]).join('');
  return `${code.slice(0, 4)}-${code.slice(4)}`;
}

/** A typed code as it is compared: without case, spaces and dashes. */
export function plainUserCode(typed: string): string {
  return typed.toUpperCase().replace(/[^A-Z0-9]/g, '');
}
