import { type Kysely, sql } from 'kysely';
import { Failure } from '../../schemas/errors.js';
import type { MeterSettings } from '../config/settings.js';
import type { Ground } from '../database/database.js';
import { inOneStep } from '../database/dialects/sqlite-over-queries.js';
import type { Tables } from '../database/tables.js';
import { upgradeUrl } from './features.js';
import type { Plans } from './plans.js';

/** What is left of a meter. `limit` and `remaining` are null where there is no limit. */
export interface Reading {
  readonly meterId: string;
  readonly used: number;
  readonly limit: number | null;
  readonly remaining: number | null;
  /** When the count begins anew, in ISO 8601 with its zone. */
  readonly resetAt: string;
}

/** How a use is counted. */
export interface TrackOptions {
  /** A name for this use: the same one counts once, however often it is sent within a day. At most 128 characters. */
  readonly idempotencyKey?: string;
}

/** One use to count, or to give back where `amount` is below nothing: within `cap` where there is one, and once under its name. */
interface Use {
  readonly userId: string;
  readonly meterId: string;
  readonly start: number;
  readonly amount: number;
  readonly name: string | undefined;
  readonly cap: number | null;
}

type Outcome = 'counted' | 'known' | 'full';

/** Told once in each period, when the share that the module file names is reached. */
export type OnWarning = (warning: Reading & { readonly userId: string }) => void;

/** How the names of what was given back begin, which are no names of uses. */
const REFUND = 'refund:';
const LONGEST_NAME = 128;
const REMEMBERED_MS = 24 * 3600 * 1000;

/** Counts what users use, and refuses what is beyond their plan. Each count is one conditional statement, so that no two take the last one. */
export class Meters {
  readonly #ground: Ground;
  readonly #plans: Plans;
  readonly #onWarning: OnWarning;
  /** Meters of what is there now, such as bytes on disk: no period brings room. */
  readonly #levels = new Set<string>();

  constructor(ground: Ground, plans: Plans, onWarning: OnWarning) {
    this.#ground = ground;
    this.#plans = plans;
    this.#onWarning = onWarning;
  }

  /** What a user has used, and what is left. */
  async look(userId: string, meterId: string): Promise<Reading> {
    const meter = this.#meter(meterId);
    const period = periodOf(meter, this.#ground.now());
    const row = await this.#usage(userId, meterId, period.start).executeTakeFirst();
    return meterReading(meterId, Number(row?.used ?? 0), await this.#limit(userId, meter), period.end);
  }

  /** `look` for every meter. */
  all(userId: string): Promise<readonly Reading[]> {
    return Promise.all(Object.keys(this.#ground.settings.meters).map((meterId) => this.look(userId, meterId)));
  }

  /** Passes where `count` more would be within the limit; else `Failure('too_many')`. Nothing is counted. */
  async check(userId: string, meterId: string, count = 1): Promise<Reading> {
    const now = await this.look(userId, meterId);
    if (now.limit !== null && this.#meter(meterId).type === 'cap' && now.used + count > now.limit) throw this.#exceeded(now);
    return now;
  }

  /**
   * Counts a use. `Failure('too_many')` beyond the limit of a `cap`, with nothing counted; `bad_request` for a count that is no whole number
   * from 1 on; `conflict` for a name that was used for another count; `unavailable` when the database does not answer.
   */
  async track(
    userId: string,
    meterId: string,
    count: unknown = 1,
    { idempotencyKey }: TrackOptions = {},
  ): Promise<Reading & { tracked: true; count: number }> {
    const meter = this.#meter(meterId);
    const amount = wholeCount(count);
    const { start, end } = periodOf(meter, this.#ground.now());
    const name = idempotencyKey === undefined ? undefined : nameOf(userId, idempotencyKey);
    try {
      const limit = await this.#limit(userId, meter);
      const use = { userId, meterId, start, amount, name, cap: meter.type === 'cap' ? limit : null };
      const outcome = await this.#counted(use);
      const row = await this.#usage(userId, meterId, start).executeTakeFirst();
      const now = meterReading(meterId, Number(row?.used ?? 0), limit, end);
      if (outcome === 'full') throw this.#exceeded(now);
      if (outcome === 'counted') await this.#warn(userId, meter, start, now);
      return { ...now, tracked: true, count: amount };
    } catch (error) {
      if (error instanceof Failure) throw error;
      throw new Failure('unavailable', 'uses cannot be counted now, so none is let through; try again', { cause: error });
    }
  }

  /** Counts what was used already, beyond the limit too: the next `check` or `track` is refused. */
  async record(userId: string, meterId: string, count: unknown): Promise<void> {
    const meter = this.#meter(meterId);
    const amount = wholeCount(count);
    const { start, end } = periodOf(meter, this.#ground.now());
    await this.#counted({ userId, meterId, start, amount, name: undefined, cap: null });
    const limit = await this.#limit(userId, meter);
    const row = await this.#usage(userId, meterId, start).executeTakeFirst();
    await this.#warn(userId, meter, start, meterReading(meterId, Number(row?.used ?? 0), limit, end));
  }

  /**
   * Gives back what was counted for an action that then failed; never below nothing. Under a name it is given back once, however often it
   * is asked for.
   */
  async refund(userId: string, meterId: string, count: unknown = 1, { idempotencyKey }: TrackOptions = {}): Promise<Reading> {
    const amount = -wholeCount(count);
    const { start } = periodOf(this.#meter(meterId), this.#ground.now());
    const name = idempotencyKey === undefined ? undefined : `${REFUND}${nameOf(userId, idempotencyKey)}`;
    await this.#counted({ userId, meterId, start, amount, name, cap: null });
    return this.look(userId, meterId);
  }

  /** Sets what a user has used in the present period, whatever the limit: for what comes and goes, such as bytes on disk, and for users of a test. */
  async set(userId: string, meterId: string, used: number): Promise<void> {
    this.#levels.add(meterId);
    const { start } = periodOf(this.#meter(meterId), this.#ground.now());
    const { tables, newOnly } = this.#ground.database;
    await newOnly(tables.insertInto('accounts_usage').values({ userId, meter: meterId, started: start, used, warned: 0 })).execute();
    await tables
      .updateTable('accounts_usage')
      .set({ used })
      .where('userId', '=', userId)
      .where('meter', '=', meterId)
      .where('started', '=', start)
      .execute();
  }

  /** Forgets names of uses that nobody will send again. */
  async sweep(): Promise<void> {
    await this.#ground.database.tables
      .deleteFrom('accounts_tracked')
      .where('at', '<', this.#ground.now() - REMEMBERED_MS)
      .execute();
  }

  #meter(meterId: string): MeterSettings {
    const meter = Object.hasOwn(this.#ground.settings.meters, meterId) ? this.#ground.settings.meters[meterId] : undefined;
    if (!meter)
      throw new Failure(
        'bad_request',
        `there is no meter ${JSON.stringify(String(meterId).slice(0, 64))}; the meters are ${Object.keys(this.#ground.settings.meters).join(', ') || 'none'}`,
        {
          code: 'unknown_meter',
        },
      );
    return meter;
  }

  async #limit(userId: string, meter: MeterSettings): Promise<number | null> {
    if (!this.#plans.limits) return null;
    return meter.limits?.[(await this.#plans.of(userId)).name] ?? null;
  }

  #usage(userId: string, meter: string, started: number) {
    return this.#ground.database.tables
      .selectFrom('accounts_usage')
      .selectAll()
      .where('userId', '=', userId)
      .where('meter', '=', meter)
      .where('started', '=', started);
  }

  /** A named use and its name are one step: neither is there without the other, whenever the server dies. */
  async #counted(use: Use): Promise<Outcome> {
    const { tables, transactional } = this.#ground.database;
    await this.#ground.database
      .newOnly(
        tables.insertInto('accounts_usage').values({ userId: use.userId, meter: use.meterId, started: use.start, used: 0, warned: 0 }),
      )
      .execute();
    const { name } = use;
    if (name === undefined) return (await addToMeter(tables, use).executeTakeFirst()).numUpdatedRows > 0n ? 'counted' : 'full';
    if (transactional)
      return tables.transaction().execute(async (within) => {
        if (!(await this.#isNew(within, name, use))) return 'known';
        if ((await addToMeter(within, use).executeTakeFirst()).numUpdatedRows > 0n) return 'counted';
        // What was not counted may be sent again under its name.
        await within.deleteFrom('accounts_tracked').where('name', '=', name).execute();
        return 'full';
      });
    const [added] = await inOneStep(tables as Kysely<never>, [
      addToMeter(tables, use)
        .where(({ not, exists, selectFrom }) => not(exists(selectFrom('accounts_tracked').select('name').where('name', '=', name))))
        .compile(),
      sql`insert into accounts_tracked (name, meter, count, at)
        select ${name}, ${use.meterId}, ${use.amount}, ${this.#ground.now()} where changes() > 0`.compile(tables),
    ]);
    if (added! > 0) return 'counted';
    return (await this.#isKnown(tables, name, use)) ? 'known' : 'full';
  }

  /** Whether a named use is counted for the first time. */
  async #isNew(tables: Kysely<Tables>, name: string, use: Use): Promise<boolean> {
    const { meterId: meter, amount: count } = use;
    const insert = this.#ground.database.newOnly(
      tables.insertInto('accounts_tracked').values({ name, meter, count, at: this.#ground.now() }),
    );
    if (((await insert.executeTakeFirst()).numInsertedOrUpdatedRows ?? 0n) > 0n) return true;
    await this.#isKnown(tables, name, use);
    return false;
  }

  /** Whether a use of this name was counted. `Failure('conflict')` where it was another one. */
  async #isKnown(tables: Kysely<Tables>, name: string, { meterId, amount }: Use): Promise<boolean> {
    const before = await tables.selectFrom('accounts_tracked').selectAll().where('name', '=', name).executeTakeFirst();
    if (before && (before.meter !== meterId || Number(before.count) !== amount))
      throw new Failure('conflict', 'this idempotency key was used for another use; take a new one', { code: 'idempotency_conflict' });
    return before !== undefined;
  }

  /** The condition makes one of many that cross the line at once the one that tells. */
  async #warn(userId: string, { warning_at: share }: MeterSettings, started: number, now: Reading): Promise<void> {
    if (share === undefined || now.limit === null || now.used < share * now.limit) return;
    const { numUpdatedRows } = await this.#ground.database.tables
      .updateTable('accounts_usage')
      .set({ warned: 1 })
      .where('userId', '=', userId)
      .where('meter', '=', now.meterId)
      .where('started', '=', started)
      .where('warned', '=', 0)
      .executeTakeFirst();
    if (numUpdatedRows > 0n) this.#onWarning({ ...now, userId });
  }

  #exceeded({ meterId, used, limit, resetAt }: Reading): Failure {
    const upgrade = upgradeUrl(this.#ground.settings, null);
    const isLevel = this.#levels.has(meterId);
    const remedy = isLevel ? 'delete some of what is there' : `it begins anew at ${resetAt}`;
    return new Failure(
      'too_many',
      `${used} of ${limit} ${this.#ground.settings.meters[meterId]!.unit ?? meterId} are used; ${remedy}, or take a larger plan: ${upgrade}`,
      {
        code: 'meter_exceeded',
        fields: { meter: meterId, limit, used, ...(isLevel ? {} : { resetsAt: resetAt }), upgrade_url: upgrade, checkout_url: upgrade },
        ...(isLevel ? {} : { retryAfterS: Math.max(1, Math.ceil((Date.parse(resetAt) - this.#ground.now()) / 1000)) }),
      },
    );
  }
}

/** The day or month, in UTC, that a moment lies in. */
export function periodOf({ reset_period: period }: Pick<MeterSettings, 'reset_period'>, now: number): { start: number; end: number } {
  const date = new Date(now);
  const [year, month, day] = [date.getUTCFullYear(), date.getUTCMonth(), date.getUTCDate()];
  return period === 'day'
    ? { start: Date.UTC(year, month, day), end: Date.UTC(year, month, day + 1) }
    : { start: Date.UTC(year, month), end: Date.UTC(year, month + 1) };
}

function meterReading(meterId: string, used: number, limit: number | null, end: number): Reading {
  return { meterId, used, limit, remaining: limit === null ? null : Math.max(0, limit - used), resetAt: new Date(end).toISOString() };
}

function wholeCount(count: unknown): number {
  if (typeof count === 'number' && Number.isSafeInteger(count) && count >= 1) return count;
  throw new Failure('bad_request', `count must be a whole number from 1 on, not ${JSON.stringify(count)?.slice(0, 50)}`, {
    code: 'invalid_count',
  });
}

/** Adds within the limit, and gives back down to nothing; changes no record where there is no room. */
function addToMeter(tables: Kysely<Tables>, { userId, meterId, start, amount, cap }: Use) {
  let query = tables
    .updateTable('accounts_usage')
    .set((row) => ({
      used: row
        .case()
        .when('used', '>', -amount)
        .then(row('used', '+', amount))
        .else(0)
        .end() as never,
    }))
    .where('userId', '=', userId)
    .where('meter', '=', meterId)
    .where('started', '=', start);
  if (cap !== null) query = query.where('used', '<=', cap - amount);
  return query;
}

function nameOf(userId: string, key: string): string {
  if (key === '' || key.length > LONGEST_NAME) throw new Failure('bad_request', `an idempotency key has 1 to ${LONGEST_NAME} characters`);
  return `${userId}:${key}`;
}
