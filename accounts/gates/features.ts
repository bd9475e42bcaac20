import { Failure } from '../../schemas/errors.js';
import { ANYONE, SIGNED_IN } from '../config/module-file.js';
import type { Settings } from '../config/settings.js';
import type { Caller } from '../identity/sessions.js';
import type { Plans } from './plans.js';

/** Opens features to those whose plan has them. */
export class Features {
  readonly #settings: Settings;
  readonly #plans: Plans;

  constructor(settings: Settings, plans: Plans) {
    this.#settings = settings;
    this.#plans = plans;
  }

  /** Whether somebody, or nobody in particular, may use a feature. Throws an `Error` for a feature that the module file does not have. */
  async has(caller: Caller | undefined, feature: string): Promise<boolean> {
    const plans = this.#plansOf(feature);
    if (plans.includes(ANYONE)) return true;
    if (!caller) return false;
    return !this.#plans.limits || plans.includes(SIGNED_IN) || plans.includes((await this.#plans.of(caller.userId)).name);
  }

  /** Passes where `has` is true; else `Failure('forbidden')` that says which plan has the feature and where to get it. */
  async require(caller: Caller | undefined, feature: string): Promise<void> {
    if (await this.has(caller, feature)) return;
    const names = this.#plansOf(feature);
    const required = this.#settings.plans.find(({ name }) => names.includes(name))?.name ?? null;
    const current = caller ? (await this.#plans.of(caller.userId)).name : null;
    const upgrade = upgradeUrl(this.#settings, required);
    throw new Failure(
      caller ? 'forbidden' : 'unauthorized',
      caller
        ? `${feature} is not part of the plan ${current}; ${required === null ? 'no plan has it' : `the plan ${required} has it: ${upgrade}`}`
        : `sign in to use ${feature}`,
      {
        code: 'feature_not_available',
        fields: {
          feature,
          reason: caller ? 'wrong_plan' : 'unauthenticated',
          required_plan: required,
          current_plan: current,
          upgrade_url: upgrade,
          checkout_url: upgrade,
        },
      },
    );
  }

  /** Passes for one of the wanted plans, and for anyone where nothing is sold; else `Failure('forbidden')` that says where to get one. */
  requirePlan(current: string, wanted: readonly string[]): void {
    if (!this.#plans.limits || wanted.includes(current)) return;
    const [required = null] = wanted;
    const upgrade = upgradeUrl(this.#settings, required);
    throw new Failure('forbidden', `this needs the plan ${wanted.join(' or ')}; you have ${current}. Get it at ${upgrade}`, {
      code: 'wrong_plan',
      fields: { reason: 'wrong_plan', required_plan: required, current_plan: current, upgrade_url: upgrade, checkout_url: upgrade },
    });
  }

  /** Checks at a server's start that the features that it asks for are in the module file: an `Error` that names the others. */
  declare(...features: readonly string[]): void {
    for (const feature of features) this.#plansOf(feature);
  }

  #plansOf(feature: string): readonly string[] {
    const plans = Object.hasOwn(this.#settings.features, feature) ? this.#settings.features[feature] : undefined;
    if (!plans)
      throw new Error(
        `module.yaml has no feature "${feature}"; its features are ${Object.keys(this.#settings.features).join(', ') || 'none'}`,
      );
    return plans;
  }
}

/** Where a person gets a better plan. */
export function upgradeUrl({ app }: Settings, plan: string | null): string {
  return new URL(plan === null ? '/pricing' : `/pricing?plan=${encodeURIComponent(plan)}`, app.domain).href;
}
