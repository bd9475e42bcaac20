import { Failure } from '../../schemas/errors.js';
import type { Subscriptions } from '../billing/subscriptions.js';
import { triggerOf } from '../config/nudges.js';
import type { NudgeSettings } from '../config/settings.js';
import type { Ground } from '../database/database.js';
import type { SubscriptionRow } from '../database/tables.js';
import type { Caller } from '../identity/sessions.js';
import { upgradeUrl } from './features.js';
import type { Meters, Reading } from './meters.js';
import type { Plans } from './plans.js';

/** A word to a user, as its page shows it. */
export interface ShownNudge {
  readonly id: string;
  /** What it tells of, without a meter. */
  readonly trigger: string;
  readonly message: string;
  readonly cta: string;
  /** Where its button leads. */
  readonly link: string;
  readonly style: NudgeSettings['style'];
  readonly position: NudgeSettings['position'];
  readonly dismissible: boolean;
  readonly show_once_per: NudgeSettings['show_once_per'];
  readonly discount_code: string | null;
  readonly color: string | null;
  /** The meter that it tells of. */
  readonly meter: string | null;
}

const DAY_MS = 24 * 3600 * 1000;
/** A trial, or a subscription that was cancelled, is ending in its last days. */
const ENDING_MS = 3 * DAY_MS;
/** The share of a limit that is near it, where the meter names none. */
const NEAR = 0.8;

/** Words to users by what they have used and paid, and which of them each user has put away. */
export class Nudges {
  readonly #ground: Ground;
  readonly #plans: Plans;
  readonly #meters: Meters;
  readonly #subscriptions: Subscriptions | undefined;

  constructor(ground: Ground, parts: { plans: Plans; meters: Meters; subscriptions: Subscriptions | undefined }) {
    this.#ground = ground;
    this.#plans = parts.plans;
    this.#meters = parts.meters;
    this.#subscriptions = parts.subscriptions;
  }

  /** What the caller is to be told now; what was put away stays away for its session, its day (in UTC) or for ever. */
  async list(caller: Caller): Promise<readonly ShownNudge[]> {
    const { nudges } = this.#ground.settings;
    if (Object.keys(nudges).length === 0 || !this.#plans.limits) return [];
    const [plan, subscription, readings, away] = await Promise.all([
      this.#plans.of(caller.userId),
      this.#subscriptions?.current(caller.userId),
      this.#meters.all(caller.userId),
      this.#putAway(caller),
    ]);
    return Object.entries(nudges).flatMap(([id, nudge]) => {
      if (away.has(id)) return [];
      const reason = this.#reason(nudge, { isFree: plan.name === this.#ground.settings.defaultPlan, subscription, readings });
      return reason ? [this.#shown(id, nudge, { plan: plan.display_name, ...reason })] : [];
    });
  }

  /** Puts a nudge away. `Failure('not_found')` for one that is not there, `conflict` for one that stays. */
  async dismiss(caller: Caller, id: string): Promise<void> {
    const nudge = Object.hasOwn(this.#ground.settings.nudges, id) ? this.#ground.settings.nudges[id] : undefined;
    if (!nudge) throw new Failure('not_found', `there is no nudge ${JSON.stringify(id.slice(0, 80))}`, { code: 'unknown_nudge' });
    if (!nudge.dismissible) throw new Failure('conflict', 'this nudge stays until its reason is gone', { code: 'not_dismissible' });
    const { tables, newOnly } = this.#ground.database;
    const seen = { session: caller.credentialId, at: this.#ground.now() };
    await newOnly(tables.insertInto('accounts_nudge').values({ userId: caller.userId, nudge: id, ...seen })).execute();
    await tables.updateTable('accounts_nudge').set(seen).where('userId', '=', caller.userId).where('nudge', '=', id).execute();
  }

  async #putAway({ userId, credentialId }: Caller): Promise<ReadonlySet<string>> {
    const rows = await this.#ground.database.tables.selectFrom('accounts_nudge').selectAll().where('userId', '=', userId).execute();
    const today = Math.floor(this.#ground.now() / DAY_MS);
    const isAway = ({ nudge, session, at }: { nudge: string; session: string; at: number }): boolean => {
      const per = this.#ground.settings.nudges[nudge]?.show_once_per;
      return per === 'ever' || (per === 'session' ? session === credentialId : Math.floor(Number(at) / DAY_MS) === today);
    };
    return new Set(rows.filter(isAway).map(({ nudge }) => nudge));
  }

  /** What a nudge tells of, where its time has come. */
  #reason(
    { trigger: text }: NudgeSettings,
    now: { isFree: boolean; subscription: SubscriptionRow | undefined; readings: readonly Reading[] },
  ): { reading?: Reading; days?: number } | undefined {
    const { trigger, meter } = triggerOf(text);
    const until = (end: number | null | undefined): { days: number } | undefined => {
      const left = Number(end ?? 0) - this.#ground.now();
      return left > 0 && left <= ENDING_MS ? { days: Math.ceil(left / DAY_MS) } : undefined;
    };
    switch (trigger) {
      case 'free_plan':
        return now.isFree ? {} : undefined;
      case 'payment_failed':
        return now.subscription?.status === 'past_due' ? {} : undefined;
      case 'trial_ending':
        return now.subscription?.status === 'trialing' ? until(now.subscription.trialEnd) : undefined;
      case 'subscription_ending':
        return until(now.subscription?.cancelAt);
      default: {
        const reading = now.readings.find((each) => (meter === undefined || each.meterId === meter) && this.#isReached(each, trigger));
        return reading && { reading };
      }
    }
  }

  #isReached({ meterId, used, limit }: Reading, trigger: string): boolean {
    if (limit === null) return false;
    return used >= (trigger === 'limit_reached' ? limit : limit * (this.#ground.settings.meters[meterId]?.warning_at ?? NEAR));
  }

  #shown(id: string, nudge: NudgeSettings, { plan, days, reading }: { plan: string; days?: number; reading?: Reading }): ShownNudge {
    const { settings } = this.#ground;
    const label = reading && (settings.meters[reading.meterId]?.label ?? reading.meterId);
    const words: Readonly<Record<string, unknown>> = {
      plan,
      days,
      meter: label,
      used: reading?.used,
      limit: reading?.limit,
      remaining: reading?.remaining,
    };
    const { message, cta, link, style, position, dismissible, show_once_per } = nudge;
    return {
      id,
      trigger: triggerOf(nudge.trigger).trigger,
      message: message.replace(/\{(\w+)\}/g, (whole, name: string) => String(words[name] ?? whole)),
      cta,
      link: link === undefined ? upgradeUrl(settings, null) : new URL(link, settings.app.domain).href,
      ...{ style, position, dismissible, show_once_per },
      discount_code: nudge.discount_code ?? null,
      color: nudge.color ?? null,
      meter: reading?.meterId ?? null,
    };
  }
}
