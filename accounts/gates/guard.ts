import { Failure } from '../../schemas/errors.js';
import type { Accounts } from '../accounts.js';
import type { Caller } from '../identity/sessions.js';

/** What a request must have to go on. Checked in this order: who asks, its role, its plan, its feature, its meter. */
export interface Wanted {
  readonly role?: string;
  /** One of these plans. */
  readonly plan?: string | readonly string[];
  readonly feature?: string;
  /** Counted once the rest holds. */
  readonly meter?: string;
  readonly count?: number;
  /** What a key must be allowed to; a session may do all. */
  readonly scope?: string;
}

/**
 * Lets a request through, and resolves to who asks: undefined for nobody in particular, where a feature is open to anyone. Throws a
 * `Failure`: `unauthorized` for nobody, `forbidden` for a wrong role, scope or plan, `too_many` for a meter that is used up.
 */
export async function guarded(
  accounts: Pick<Accounts, 'identify' | 'features' | 'meters'>,
  headers: Headers,
  wanted: Wanted,
): Promise<Caller | undefined> {
  const caller = await accounts.identify(headers);
  const isOpen =
    wanted.feature !== undefined && !wanted.role && !wanted.plan && !wanted.meter && (await accounts.features.has(caller, wanted.feature));
  if (!caller) {
    if (isOpen) return undefined;
    throw new Failure('unauthorized', 'sign in first, or send a valid token', {
      code: 'unauthenticated',
      fields: { reason: 'unauthenticated' },
    });
  }
  if (wanted.role !== undefined && !caller.roles.includes(wanted.role))
    throw new Failure('forbidden', `this is for the role ${wanted.role}`, {
      code: 'role_required',
      fields: { reason: 'role_required', required_role: wanted.role },
    });
  if (wanted.scope !== undefined && caller.scopes && !caller.scopes.includes(wanted.scope))
    throw new Failure('forbidden', `this key lacks the scope ${wanted.scope}`, {
      code: 'scope_required',
      fields: { reason: 'scope_required', required_scope: wanted.scope },
    });
  if (wanted.plan !== undefined) accounts.features.requirePlan(caller.plan, [wanted.plan].flat());
  if (wanted.feature !== undefined) await accounts.features.require(caller, wanted.feature);
  if (wanted.meter !== undefined) await accounts.meters.track(caller.userId, wanted.meter, wanted.count ?? 1);
  return caller;
}
