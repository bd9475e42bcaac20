import { Failure } from '../../schemas/errors.js';
import { log } from '../base/log.js';
import type { Store } from './store.js';

/** Brings a store from one format version to the next. It may be cut short and run again, so it must not assume untouched records. */
export type Migration = (store: Store) => Promise<void>;

/** From version 1 to 2, from 2 to 3, and so on; the format version of this program is one more than their number. */
export const MIGRATIONS: readonly Migration[] = [
  // Adds the tables of tasks and of retrieval, which start empty. A program that does not know them would leave unfinished tasks lying.
  () => Promise.resolve(),
  // Records that are written from now on have seals, which a program of format 2 cannot read. Older records are read without.
  () => Promise.resolve(),
];

/** Runs the migrations that a store lacks, after a backup. Throws `conflict` (StateTooNew) when a newer program wrote it. */
export async function migrate(store: Store, folder: string, migrations: readonly Migration[] = MIGRATIONS): Promise<void> {
  const newest = migrations.length + 1;
  const found = store.meta.get('version');
  if (found === undefined) {
    await store.write((batch) => batch.put('meta', 'version', newest));
    return;
  }
  if (found > newest) {
    throw new Failure(
      'conflict',
      `The state in ${folder} has format ${found}, and this version knows formats up to ${newest}. Start the newer version again, or move that folder away to begin without its sessions.`,
      { code: 'StateTooNew' },
    );
  }
  if (found === newest) return;
  const backup = await store.backup();
  log('info', 'the state store is brought up to date', { from: found, to: newest, backup });
  for (let version = found; version < newest; version += 1) {
    await migrations[version - 1]!(store);
    await store.write((batch) => batch.put('meta', 'version', version + 1));
  }
}
