import type { Settings } from '../config/settings.js';
import type { Database } from '../database/database.js';
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
