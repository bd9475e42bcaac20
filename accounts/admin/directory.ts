import { sql } from 'kysely';
import { Failure } from '../../schemas/errors.js';
import type { Ground } from '../database/database.js';
import { endDevicesOf } from '../devices/devices.js';
import { periodOf } from '../gates/meters.js';
import type { Plans } from '../gates/plans.js';
import { isBanned, momentOf, rolesOf } from '../identity/sessions.js';

const DAY_MS = 24 * 3600 * 1000;
const MOST_ROWS = 100;

/** A user as the admin sees it. */
export interface ListedUser {
  readonly id: string;
  readonly email: string;
  readonly name: string;
  readonly plan: string;
  readonly roles: readonly string[];
  readonly banned: boolean;
  readonly joined: string;
  readonly sessions: number;
}

/** What an administrator sees and changes: people, subscriptions, meters and events. */
export class Directory {
  readonly #ground: Ground;
  readonly #plans: Plans;

  constructor(ground: Ground, plans: Plans) {
    this.#ground = ground;
    this.#plans = plans;
  }

  /** Users whose address or name holds `search`, newest first, at most 100 from `offset` on, and how many there are. */
  async users({
    search = '',
    offset = 0,
    limit = 50,
  }: {
    search?: string;
    offset?: number;
    limit?: number;
  }): Promise<{ users: readonly ListedUser[]; total: number }> {
    const wanted = `%${search.toLowerCase().replace(/[\\%_]/g, (character) => `\\${character}`)}%`;
    const escapeWith = this.#ground.database.language === 'mysql' ? sql.raw("'\\\\'") : sql.raw("'\\'");
    const matches = sql<boolean>`(lower(${sql.ref('user.email')}) like ${wanted} escape ${escapeWith} or lower(${sql.ref('user.name')}) like ${wanted} escape ${escapeWith})`;
    const { tables } = this.#ground.database;
    const [{ total }, rows] = await Promise.all([
      tables
        .selectFrom('user')
        .select((row) => row.fn.countAll().as('total'))
        .where(matches)
        .executeTakeFirstOrThrow(),
      tables
        .selectFrom('user')
        .selectAll()
        .where(matches)
        .orderBy('createdAt', 'desc')
        .limit(Math.min(limit, MOST_ROWS))
        .offset(offset)
        .execute(),
    ]);
    const users = await Promise.all(
      rows.map(async (row) => ({
        id: row.id,
        email: row.email,
        name: row.name,
        plan: (await this.#plans.of(row.id)).name,
        roles: rolesOf(row.role),
        banned: isBanned(row, this.#ground.now()),
        joined: new Date(row.createdAt).toISOString(),
        sessions: await this.#sessions(row.id),
      })),
    );
    return { users, total: Number(total) };
  }

  /** The id of the user with an address. `Failure('not_found')` for none. */
  async idOf(email: string): Promise<string> {
    const row = await this.#ground.database.tables
      .selectFrom('user')
      .select('id')
      .where('email', '=', email.trim().toLowerCase())
      .executeTakeFirst();
    if (!row) throw new Failure('not_found', `there is no user ${email}`);
    return row.id;
  }

  /** Gives a plan that outlives changes of what is paid, until it is taken back with an empty name. */
  async setPlan(userId: string, plan: string, reason: string): Promise<void> {
    await this.#known(userId);
    if (plan !== '' && !this.#plans.named(plan))
      throw new Failure(
        'bad_request',
        `there is no plan ${JSON.stringify(plan)}; the plans are ${this.#ground.settings.plans.map(({ name }) => name).join(', ')}`,
      );
    await this.#plans.grant(userId, plan, null, reason);
  }

  /** The roles that somebody can have: `user`, that of the admin page, and those that the module file names for namespaces. */
  get roles(): readonly string[] {
    const { admin, sharedNamespaces } = this.#ground.settings;
    return [
      ...new Set(['user', admin.requireRole, ...Object.values(sharedNamespaces).flatMap(({ roles, write }) => [...roles, ...write])]),
    ];
  }

  /**
   * Gives a user these roles, several with commas, and takes all others; `user` has everybody. `Failure('conflict')` where nobody with the role
   * of the admin page would be left.
   */
  async setRole(userId: string, role: string): Promise<void> {
    const { role: before } = await this.#known(userId);
    const { requireRole } = this.#ground.settings.admin;
    const wanted = rolesOf(role);
    const unknown = wanted.length === 0 ? role : wanted.find((each) => !this.roles.includes(each));
    if (unknown !== undefined)
      throw new Failure(
        'bad_request',
        `a role is one of ${this.roles.join(', ')}, not ${JSON.stringify(unknown.slice(0, 100))}; several are written with commas`,
      );
    const special = this.roles.filter((each) => each !== 'user' && wanted.includes(each));
    const set = async (to: string | null): Promise<void> => {
      await this.#ground.database.tables.updateTable('user').set({ role: to }).where('id', '=', userId).execute();
    };
    const give = (): Promise<void> => set(special.join(',') || 'user');
    if (special.includes(requireRole)) await give();
    else await this.#keepingAnAdmin(userId, give, () => set(before));
  }

  /** Shuts a user out at once, and ends what it is signed in with; or lets it in again. */
  async setBanned(userId: string, banned: boolean): Promise<void> {
    await this.#known(userId);
    const set = async (to: boolean): Promise<void> => {
      await this.#ground.database.tables
        .updateTable('user')
        .set({ banned: this.#ground.database.language === 'postgres' ? to : Number(to), banReason: null, banExpires: null })
        .where('id', '=', userId)
        .execute();
    };
    if (!banned) return set(false);
    await this.#keepingAnAdmin(
      userId,
      () => set(true),
      () => set(false),
    );
    await this.signOut(userId);
  }

  /** Ends all sessions and devices of a user. */
  async signOut(userId: string): Promise<void> {
    await this.#known(userId);
    await this.#ground.database.tables.deleteFrom('session').where('userId', '=', userId).execute();
    await endDevicesOf(this.#ground.database, userId);
  }

  /** Subscriptions, newest first. */
  async subscriptions(): Promise<readonly object[]> {
    const rows = await this.#ground.database.tables
      .selectFrom('accounts_subscription')
      .innerJoin('accounts_customer', 'accounts_customer.customerId', 'accounts_subscription.customerId')
      .innerJoin('user', 'user.id', 'accounts_customer.userId')
      .select([
        'accounts_subscription.id',
        'accounts_subscription.plan',
        'accounts_subscription.status',
        'accounts_subscription.periodEnd',
        'accounts_subscription.cancelAt',
        'user.email',
      ])
      .orderBy('accounts_subscription.created', 'desc')
      .limit(MOST_ROWS)
      .execute();
    const iso = (ms: number | null): string | null => (ms === null ? null : new Date(Number(ms)).toISOString());
    return rows.map(({ periodEnd, cancelAt, ...row }) => ({ ...row, periodEnd: iso(periodEnd), cancelAt: iso(cancelAt) }));
  }

  /** Each meter's sum over all users in its present period, and how many of them used it. */
  async meters(): Promise<readonly object[]> {
    return Promise.all(
      Object.entries(this.#ground.settings.meters).map(async ([meterId, meter]) => {
        const { start, end } = periodOf(meter, this.#ground.now());
        const row = await this.#ground.database.tables
          .selectFrom('accounts_usage')
          .select((each) => [each.fn.sum('used').as('used'), each.fn.countAll().as('users')])
          .where('meter', '=', meterId)
          .where('started', '=', start)
          .executeTakeFirst();
        return {
          meterId,
          label: meter.label,
          unit: meter.unit ?? null,
          used: Number(row?.used ?? 0),
          users: Number(row?.users ?? 0),
          resetAt: new Date(end).toISOString(),
        };
      }),
    );
  }

  /** The processor's last events and what was done about them. */
  async events(): Promise<readonly object[]> {
    const rows = await this.#ground.database.tables
      .selectFrom('accounts_event')
      .select(['id', 'type', 'state', 'received', 'note'])
      .orderBy('received', 'desc')
      .limit(MOST_ROWS)
      .execute();
    return rows.map((row) => ({ ...row, received: new Date(Number(row.received)).toISOString() }));
  }

  /** New users of each of the last 30 days (UTC), oldest day first. */
  async signUps(): Promise<readonly { day: string; count: number }[]> {
    const today = Math.floor(this.#ground.now() / DAY_MS) * DAY_MS;
    const since = new Date(today - 29 * DAY_MS);
    const rows = await this.#ground.database.tables
      .selectFrom('user')
      .select('createdAt')
      .where('createdAt', '>=', this.#ground.database.language === 'sqlite' ? (since.toISOString() as never) : (since as never))
      .limit(100_000)
      .execute();
    const counts = new Map<string, number>();
    for (const { createdAt } of rows) {
      const day = new Date(momentOf(createdAt)).toISOString().slice(0, 10);
      counts.set(day, (counts.get(day) ?? 0) + 1);
    }
    return Array.from({ length: 30 }, (_, index) => new Date(today - (29 - index) * DAY_MS).toISOString().slice(0, 10)).map((day) => ({
      day,
      count: counts.get(day) ?? 0,
    }));
  }

  async #known(userId: string): Promise<{ role: string | null }> {
    const row = await this.#ground.database.tables.selectFrom('user').select('role').where('id', '=', userId).executeTakeFirst();
    if (!row) throw new Failure('not_found', 'there is no user of this id');
    return row;
  }

  /**
   * Does what may take the last admin away, and takes it back where it has: of two admins that dismiss each other at once, at least one
   * stays. `Failure('conflict')` where nobody with the role would be left.
   */
  async #keepingAnAdmin(userId: string, work: () => Promise<void>, undo: () => Promise<void>): Promise<void> {
    const { requireRole } = this.#ground.settings.admin;
    const isLast = (): Failure => new Failure('conflict', `this is the last user with the role ${requireRole}; give it to another first`);
    const before = await this.#admins();
    if (before.length === 1 && before[0] === userId) throw isLast();
    await work();
    if (!before.includes(userId) || (await this.#admins()).length > 0) return;
    await undo();
    throw isLast();
  }

  /** Who has the role of the admin page and is not banned. */
  async #admins(): Promise<readonly string[]> {
    const rows = await this.#ground.database.tables
      .selectFrom('user')
      .select(['id', 'role', 'banned', 'banExpires'])
      .where('role', 'is not', null)
      .where('role', '!=', 'user')
      .execute();
    return rows
      .filter((row) => rolesOf(row.role).includes(this.#ground.settings.admin.requireRole) && !isBanned(row, this.#ground.now()))
      .map(({ id }) => id);
  }

  async #sessions(userId: string): Promise<number> {
    const { count } = await this.#ground.database.tables
      .selectFrom('session')
      .select((row) => row.fn.countAll().as('count'))
      .where('userId', '=', userId)
      .executeTakeFirstOrThrow();
    return Number(count);
  }
}
