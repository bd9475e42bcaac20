import type { ServerResponse } from 'node:http';
import { Failure } from '../../schemas/errors.js';
import type { Accounts } from '../accounts.js';
import { answerOf } from '../http/answers.js';
import type { Caller } from '../identity/sessions.js';
import { headersOf, type NodeRequest } from './node.js';

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
export async function requireAccess(
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

/**
 * A middleware for Express 5 (and for `node:http` with a `next` of its own) that lets requests through which have what is wanted, and
 * sets `request.user`; others get 401, 403 or 429 with the reason and the address of a better plan.
 */
export function expressGuard(
  accounts: Accounts,
  wanted: Wanted = {},
): (request: NodeRequest & { user?: Caller }, response: ServerResponse, next: (error?: unknown) => void) => void {
  if (wanted.feature !== undefined) accounts.features.declare(wanted.feature);
  return (request, response, next) => {
    requireAccess(accounts, headersOf(request), wanted).then(
      (caller) => {
        if (caller) request.user = caller;
        next();
      },
      async (error: unknown) => {
        const answer = answerOf(error, next);
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      },
    );
  };
}

/** The same for handlers that take a `Request`: undefined to go on, or the answer that refuses. */
export async function refusalOf(accounts: Accounts, request: Request, wanted: Wanted = {}): Promise<Response | undefined> {
  try {
    await requireAccess(accounts, request.headers, wanted);
    return undefined;
  } catch (error) {
    return answerOf(error, (unexpected) => {
      throw unexpected;
    });
  }
}
