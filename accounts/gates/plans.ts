import type { PlanSettings } from '../config/settings.js';
import type { Ground } from '../database/database.js';

/** Tells of a paid plan that a user has now; undefined for none. */
export type PaidPlan = (userId: string) => Promise<string | undefined>;

/** Which plan each user has. */
export class Plans {
  readonly #ground: Ground;
  readonly #paid: PaidPlan;

  constructor(ground: Ground, paid: PaidPlan) {
    this.#ground = ground;
    this.#paid = paid;
  }

  /** Whether plans limit anything: without a processor nobody could pay, so everybody has everything. */
  get limits(): boolean {
    return this.#ground.settings.billing.provider !== 'none';
  }

  /** The plan of a user: what was granted while it lasts, else what is paid, else the free one. */
  async of(userId: string): Promise<PlanSettings> {
    const grant = await this.#ground.database.tables
      .selectFrom('accounts_grant')
      .selectAll()
      .where('userId', '=', userId)
      .executeTakeFirst();
    const granted = grant && (grant.until === null || Number(grant.until) > this.#ground.now()) ? this.named(grant.plan) : undefined;
    return granted ?? this.named((await this.#paid(userId)) ?? '') ?? this.named(this.#ground.settings.defaultPlan)!;
  }

  /** A plan of the module file; undefined for a name that it no longer has. */
  named(name: string): PlanSettings | undefined {
    return this.#ground.settings.plans.find((plan) => plan.name === name);
  }

  /** Gives a user a plan without payment, for good or until a moment; an empty plan takes the gift back. */
  async grant(userId: string, plan: string, until: number | null = null, reason: string | null = null): Promise<void> {
    const { tables, newOnly } = this.#ground.database;
    if (plan === '') {
      await tables.deleteFrom('accounts_grant').where('userId', '=', userId).execute();
      return;
    }
    await newOnly(tables.insertInto('accounts_grant').values({ userId, plan, until, reason })).execute();
    await tables.updateTable('accounts_grant').set({ plan, until, reason }).where('userId', '=', userId).execute();
  }
}
