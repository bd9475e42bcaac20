import { Failure } from '../../schemas/errors.js';
import type { Settings } from '../config/settings.js';
import type { Database, Ground } from '../database/database.js';
import type { Meters } from '../gates/meters.js';
import type { Plans } from '../gates/plans.js';
import type { IdentityLibrary } from './library.js';
import { refuseWeakPassword } from './passwords.js';

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

/**
 * Makes the admin of the module file where nobody has its address, once, however many processes start. Throws an `Error` when a user
 * without the role has the address: nobody is promoted by a start.
 */
export async function seedAdmin(
  { seed, admin }: Settings,
  database: Database,
  library: IdentityLibrary,
  print: (line: string) => void,
): Promise<void> {
  if (!seed.admin) return;
  const { password, name } = seed.admin;
  const email = seed.admin.email.toLowerCase();
  const role = (): Promise<{ role: string | null } | undefined> =>
    database.tables.selectFrom('user').select('role').where('email', '=', email).executeTakeFirst();
  await forgetHalfMade(database, email);
  let found = await role();
  if (!found) {
    try {
      await library.createUser({ email, password, name, role: admin.requireRole });
      print(`accounts: made the ${admin.requireRole} ${email}`);
      return;
    } catch (error) {
      // Another process may have been first.
      found = await role();
      if (!found) throw error;
    }
  }
  if (!(found.role ?? '').split(',').includes(admin.requireRole))
    throw new Error(
      `seed.admin: ${email} belongs to a user without the role ${admin.requireRole}, who is not promoted; choose another address, or give the role by "quern accounts users"`,
    );
}

/** Makes a user by hand. `Failure('conflict')` for an address that has an account, `bad_request` for one that is none or a weak password. */
export async function createUser(
  { database }: Ground,
  library: IdentityLibrary,
  { email, password, name }: { email: string; password: string; name: string },
): Promise<string> {
  const address = email.toLowerCase();
  if (!/^[^\s@]+@[^\s@]+$/.test(address)) throw new Failure('bad_request', `"${email}" is no mail address`);
  await refuseWeakPassword(password);
  const there = await database.tables.selectFrom('user').select('id').where('email', '=', address).executeTakeFirst();
  if (there) throw new Failure('conflict', `${address} has an account already; users set-role and users set-plan change it`);
  return library.createUser({ email: address, password, name, role: 'user' });
}

/** Makes the test users of the module file that are not there, with their plans and what they have used; resolves to their addresses. */
export async function seedTestUsers(
  { settings: { seed }, database }: Ground,
  library: IdentityLibrary,
  plans: Plans,
  meters: Meters,
): Promise<readonly string[]> {
  const made: string[] = [];
  for (const { email, password, name, plan, usage = {} } of seed.testUsers) {
    const address = email.toLowerCase();
    const found = await database.tables.selectFrom('user').select('id').where('email', '=', address).executeTakeFirst();
    const id = found?.id ?? (await library.createUser({ email: address, password, name, role: 'user' }));
    if (!found) made.push(address);
    if (plan !== undefined) await plans.grant(id, plan, null, 'seed');
    for (const [meter, used] of Object.entries(usage)) await meters.set(id, meter, used);
  }
  return made;
}
