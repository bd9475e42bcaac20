import type { Database } from '../database/database.js';

/** How old a user without a way to sign in must be, in milliseconds, before it is no sign-up that is still under way. */
const UNDER_WAY_MS = 10_000;

/**
 * Removes the user of an address that a sign-up left without any way to sign in: a database without transactions (D1) may have been lost
 * between the user and the password. Others make both or none.
 */
export async function forgetHalfMade({ tables, transactional }: Database, email: string): Promise<void> {
  if (transactional) return;
  await tables
    .deleteFrom('user')
    .where('email', '=', email.trim().toLowerCase())
    .where('createdAt', '<', new Date(Date.now() - UNDER_WAY_MS).toISOString())
    .where(({ not, exists, selectFrom }) => not(exists(selectFrom('account').select('id').whereRef('account.userId', '=', 'user.id'))))
    .execute();
}
