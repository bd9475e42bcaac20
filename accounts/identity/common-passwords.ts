import { Failure } from '../../schemas/errors.js';
import { PASSWORD_LENGTH } from './passwords.js';

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
