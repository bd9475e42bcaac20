import type { PlanSettings } from '../config/settings.js';

/** A subscription as the processor has it now. Times are milliseconds since 1970. */
export interface ProcessorSubscription {
  readonly id: string;
  readonly customerId: string;
  /** The plan's name; empty for what is none of ours. */
  readonly plan: string;
  /** One of the processor's words; those that are not known give no access. */
  readonly status: string;
  readonly periodStart: number | null;
  readonly periodEnd: number | null;
  /** When it will end, where it was cancelled in any of the ways that there are. */
  readonly cancelAt: number | null;
  readonly trialEnd: number | null;
  readonly card: { readonly brand: string; readonly last4: string } | null;
  readonly created: number;
}

/** One invoice; `date` in seconds since 1970, `amount` in whole units of the currency, as clients read them. */
export interface Invoice {
  readonly id: string;
  readonly date: number;
  readonly amount: number;
  readonly currency: string;
  readonly status: string;
  readonly pdfUrl: string | null;
  readonly hostedUrl: string | null;
}

/** An event whose signature held: what it is, and what to look up because of it. */
export interface ProcessorEvent {
  readonly id: string;
  readonly type: string;
  readonly customerId: string | undefined;
  readonly subscriptionId: string | undefined;
}

/** A payment processor. Every method but `event` asks it over the network, and rejects when it does not answer. */
export interface Processor {
  /** The customer of a user, made at the first time; the same one however many ask at once. */
  customer(user: { id: string; email: string; name: string }): Promise<string>;
  /** A page on which the customer pays; `attempt` is the same for requests that are to have the same page. */
  checkout(options: {
    customerId: string;
    userId: string;
    plan: PlanSettings;
    trialDays: number;
    attempt: string;
  }): Promise<{ id: string; url: string; expires: number }>;
  /** Whether a page of payment is still open. */
  isOpen(checkoutId: string): Promise<boolean>;
  /** A page on which the customer changes cards and subscriptions. */
  portal(customerId: string): Promise<string>;
  /** Undefined where the processor does not know it any more. */
  subscription(id: string): Promise<ProcessorSubscription | undefined>;
  subscriptions(customerId: string): Promise<readonly ProcessorSubscription[]>;
  /** The last ten. */
  invoices(customerId: string): Promise<readonly Invoice[]>;
  /** Ends a subscription: at the end of its period, or at once. */
  cancel(id: string, when: 'end_of_period' | 'immediate'): Promise<ProcessorSubscription>;
  /** Takes a cancellation back, however it was made. */
  reactivate(id: string): Promise<ProcessorSubscription>;
  /** The event in a body as it came. `Failure('bad_request')` for one that the processor has not signed, or not lately. */
  event(body: Uint8Array, signature: string | null, now: number): ProcessorEvent;
  /** Makes product and price of a plan what the module file says; resolves to the price, and to what was done. */
  push(plan: PlanSettings): Promise<{ priceId: string; change: 'none' | 'created' | 'repriced' }>;
  /** The addresses to which the processor sends events. */
  endpoints(): Promise<readonly { readonly url: string; readonly isOn: boolean; readonly events: readonly string[] }[]>;
  /** A price, in whole units of its currency; undefined where there is none of this name. */
  price(
    id: string,
  ): Promise<{ readonly isOn: boolean; readonly amount: number; readonly currency: string; readonly interval: string } | undefined>;
}
