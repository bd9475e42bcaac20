import type { Settings } from '../config/settings.js';
import type { Database } from '../database/database.js';
import type { Plans } from '../plans/plans.js';
import type { IdentityLibrary } from './library.js';

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

/** Makes the test users of the module file that are not there, with their plans; resolves to their addresses. */
export async function seedTestUsers(
  { seed }: Settings,
  database: Database,
  library: IdentityLibrary,
  plans: Plans,
): Promise<readonly string[]> {
  const made: string[] = [];
  for (const { email, password, name, plan } of seed.testUsers) {
    const address = email.toLowerCase();
    const found = await database.tables.selectFrom('user').select('id').where('email', '=', address).executeTakeFirst();
    const id = found?.id ?? (await library.createUser({ email: address, password, name, role: 'user' }));
    if (!found) made.push(address);
    if (plan !== undefined) await plans.grant(id, plan, null, 'seed');
  }
  return made;
}
