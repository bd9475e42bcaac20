import { sql } from 'kysely';
import { Failure } from '../../schemas/errors.js';
import type { Ground } from '../database/database.js';

/** How many attempts count in how many seconds. */
export interface AttemptLimit {
  readonly most: number;
  readonly windowS: number;
}

/** Counts attempts by name, in the database, so that every process of the server and a restart see the same counts. */
export class Attempts {
  readonly #ground: Ground;

  constructor(ground: Ground) {
    this.#ground = ground;
  }

  /** Counts one attempt. `Failure('too_many')` with the seconds to wait where it is one too many. */
  async take(key: string, limit: AttemptLimit, what: string): Promise<void> {
    const { tables } = this.#ground.database;
    const now = this.#ground.now();
    const since = now - limit.windowS * 1000;
    // A start that lies further ahead than a window was written before the clock was set back.
    const isOver = sql`(started <= ${since} or started > ${now + limit.windowS * 1000})`;
    // What is one too many is not counted, so that of many at once as many pass as may.
    const add = async (): Promise<boolean> => {
      const { numUpdatedRows } = await tables
        .updateTable('accounts_attempt')
        // MySQL sets columns in turn, and would compare a start that is new already: the count goes first.
        .set({ count: sql`case when ${isOver} then 1 else count + 1 end` as never })
        .set({ started: sql`case when ${isOver} then ${now} else started end` as never })
        .where('key', '=', key)
        .where(sql<boolean>`(count < ${limit.most} or ${isOver})`)
        .executeTakeFirst();
      return numUpdatedRows > 0n;
    };
    if (await add()) return;
    const first = this.#ground.database.newOnly(tables.insertInto('accounts_attempt').values({ key, count: 1, started: now }));
    if (((await first.executeTakeFirst()).numInsertedOrUpdatedRows ?? 0n) > 0n || (await add())) return;
    const row = await tables.selectFrom('accounts_attempt').select('started').where('key', '=', key).executeTakeFirst();
    const retryAfterS = Math.max(1, Math.ceil((Number(row?.started ?? now) + limit.windowS * 1000 - now) / 1000));
    throw new Failure('too_many', `too many ${what}; try again in ${retryAfterS} s`, { code: 'too_many_attempts', retryAfterS });
  }

  /** Forgets the count of a name: the attempt was right. */
  async clear(key: string): Promise<void> {
    await this.#ground.database.tables.deleteFrom('accounts_attempt').where('key', '=', key).execute();
  }

  /** Removes counts whose longest window is over. */
  async sweep(): Promise<void> {
    await this.#ground.database.tables
      .deleteFrom('accounts_attempt')
      .where('started', '<', this.#ground.now() - 24 * 3600 * 1000)
      .execute();
  }
}
