import { randomBytes, type ScryptOptions, scrypt, timingSafeEqual } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';

/** Least and most characters of a password. */
export const PASSWORD_LENGTH = { least: 8, most: 128 } as const;

/** How dear a hash is. */
export interface PasswordCost {
  /** N is two to this power. */
  readonly power: number;
  readonly r: number;
  readonly p: number;
}

/** One of the settings that OWASP's password storage cheat sheet names as equal: 32 MiB and about 0.2 s of one core. */
export const PASSWORD_COST: PasswordCost = { power: 15, r: 8, p: 3 };
/** What better-auth's own hashes, `<salt>:<hash>`, were made with. */
const PLAIN_COST: PasswordCost = { power: 14, r: 16, p: 1 };
const KEY_BYTES = 64;
const SALT_BYTES = 16;

/** The hash of a password, as `scrypt$<power of N>$<r>$<p>$<salt>$<key>` with both in base64url. Unicode's forms of one text are equal (NFKC). */
export async function hashOf(password: string, cost = PASSWORD_COST): Promise<string> {
  const salt = randomBytes(SALT_BYTES);
  const key = await deriveKey(password, salt, cost);
  return ['scrypt', cost.power, cost.r, cost.p, salt.toString('base64url'), key.toString('base64url')].join('$');
}

/** Whether the password is the one; a hash that is damaged belongs to no password. `stale` says that the hash should be made anew. */
export async function verifyPassword(password: string, hash: string, cost = PASSWORD_COST): Promise<{ right: boolean; stale: boolean }> {
  const stored = parseHash(hash);
  if (!stored) return { right: false, stale: false };
  const key = await deriveKey(password, stored.salt, stored.cost);
  const right = key.length === stored.key.length && timingSafeEqual(key, stored.key);
  return { right, stale: right && scryptCost(stored.cost) < scryptCost(cost) };
}

/** The number of mixes that a cost asks for, by which costs are compared. */
export function scryptCost({ power, r, p }: PasswordCost): number {
  return 2 ** power * r * p;
}

interface Stored {
  readonly cost: PasswordCost;
  readonly salt: Buffer | string;
  readonly key: Buffer;
}

function parseHash(hash: string): Stored | undefined {
  const ours = /^scrypt\$(\d{2})\$(\d{1,2})\$(\d)\$([\w-]{10,100})\$([\w-]{80,90})$/.exec(hash);
  if (ours) {
    const [, power, r, p, salt, key] = ours;
    const cost = { power: Number(power), r: Number(r), p: Number(p) };
    // A damaged cost may not take all memory.
    if (cost.power > 18 || cost.r > 16 || cost.power < 10 || cost.r === 0 || cost.p === 0) return undefined;
    return { cost, salt: Buffer.from(salt!, 'base64url'), key: Buffer.from(key!, 'base64url') };
  }
  const plain = /^([0-9a-f]{16,64}):([0-9a-f]{128})$/.exec(hash);
  return plain ? { cost: PLAIN_COST, salt: plain[1]!, key: Buffer.from(plain[2]!, 'hex') } : undefined;
}

/** Hashes that are made at once: the threads that make them are four, and files and names of hosts wait for the same ones. */
const AT_ONCE = 2;
/** Those that may wait, some ten seconds long. */
const MOST_WAITING = 100;
const RETRY_AFTER_S = 10;
let running = 0;
const waiting: (() => void)[] = [];

/** `Failure('busy')` where too many wait already. */
async function deriveKey(password: string, salt: Buffer | string, { power, r, p }: PasswordCost): Promise<Buffer> {
  if (waiting.length >= MOST_WAITING)
    throw new Failure('busy', `too many passwords are being checked; try again in ${RETRY_AFTER_S} s`, { retryAfterS: RETRY_AFTER_S });
  if (running >= AT_ONCE) await new Promise<void>((resolve) => waiting.push(resolve));
  else running += 1;
  const N = 2 ** power;
  const options: ScryptOptions = { N, r, p, maxmem: 256 * N * r };
  try {
    return await new Promise((resolve, reject) => {
      scrypt(password.normalize('NFKC'), salt, KEY_BYTES, options, (error, key) => (error ? reject(error) : resolve(key)));
    });
  } finally {
    // The place goes to the next one, or back.
    const next = waiting.shift();
    if (next) next();
    else running -= 1;
  }
}

let common: ReadonlySet<string> | undefined;

/** Refuses a password that is too short, too long (before it is hashed) or among some 18,000 that many people take: `Failure('bad_request')`. */
export async function refuseWeakPassword(password: string): Promise<void> {
  const characters = [...password].length;
  if (characters < PASSWORD_LENGTH.least)
    throw new Failure('bad_request', `a password needs ${PASSWORD_LENGTH.least} characters`, { code: 'password_too_short' });
  if (characters > PASSWORD_LENGTH.most)
    throw new Failure('bad_request', `a password may have ${PASSWORD_LENGTH.most} characters`, { code: 'password_too_long' });
  common ??= await commonPasswords();
  if (common.has(password.toLowerCase()))
    throw new Failure('bad_request', 'this password is among the first that others try; take another', { code: 'password_too_common' });
}

async function commonPasswords(): Promise<ReadonlySet<string>> {
  const { dictionary } = await import('@zxcvbn-ts/language-common');
  const words = (dictionary as Record<string, readonly string[]>)['passwords-common'] ?? [];
  return new Set(words.filter((word) => word.length >= PASSWORD_LENGTH.least));
}
