import { Failure } from '../../schemas/errors.js';
import type { Route } from '../http/route.js';
import type { Billing } from './billing.js';

/** Where the processor sends its events. */
export const WEBHOOK_PATH = '/api/module/webhook';
const MOST_EVENT_BYTES = 1024 * 1024;

/** Paying; without a processor each of them says so. */
export function billingRoutes(billing: Billing | undefined, webhookPaths: readonly string[]): readonly Route[] {
  const there = (): Billing => {
    if (billing) return billing;
    throw new Failure('unavailable', 'nothing is sold here: billing.provider is none', { code: 'no_processor' });
  };
  return [
    {
      method: 'POST',
      path: '/api/module/checkout',
      run: async (call) => {
        const caller = await call.inSession();
        const { planId } = call.body();
        if (typeof planId !== 'string') throw new Failure('bad_request', 'planId is the name of a plan');
        return there().checkout(caller, planId);
      },
    },
    {
      method: 'GET',
      path: '/api/module/billing',
      run: async (call) => {
        const caller = await call.signedIn();
        return billing ? billing.overview(caller) : { subscription: null, invoices: [], plan: null, stale: false };
      },
    },
    { method: 'POST', path: '/api/module/cancel', run: async (call) => there().cancel(await call.inSession()) },
    { method: 'POST', path: '/api/module/reactivate', run: async (call) => there().reactivate(await call.inSession()) },
    { method: 'POST', path: '/api/module/billing-portal', run: async (call) => there().portal(await call.inSession()) },
    ...[WEBHOOK_PATH, ...webhookPaths].map(
      (path): Route => ({
        method: 'POST',
        path,
        mostBytes: MOST_EVENT_BYTES,
        run: (call) => there().event(call.bytes, call.request.headers.get('stripe-signature')),
      }),
    ),
  ];
}
