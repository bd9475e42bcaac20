import { Failure } from '../../schemas/errors.js';
import { WEBHOOK_PATH } from '../billing/routes.js';
import { readSettings, writePrice } from '../config/module-file.js';
import type { Settings } from '../config/settings.js';
import type { Command } from './command.js';

/** Plans at the payment processor, and its events. */
export const planCommands: readonly Command[] = [
  {
    name: 'plans push',
    summary: 'make the plans at the payment processor, and write their prices into the file',
    options: { 'dry-run': { type: 'boolean' }, api: { type: 'string' } },
    async run({ config, values, environment }) {
      const settings = await readSettings(config, environment);
      if (settings.billing.provider === 'none') throw new Failure('bad_request', 'billing.provider is none; set it to stripe');
      const paid = settings.plans.filter(({ price }) => price > 0);
      if (values['dry-run'])
        return {
          lines: paid.map(
            ({ name, price, payment_price_id }) => `${name}: ${price} ${settings.billing.currency}, ${payment_price_id ?? 'no price yet'}`,
          ),
          result: paid,
        };
      const processor = await processorOf(settings, values.api);
      const result: { plan: string; priceId: string; change: string }[] = [];
      for (const plan of paid) {
        const { priceId, change } = await processor.push(plan);
        // Each one is written at once: what breaks off in between is found again by the next push.
        if (plan.payment_price_id !== priceId) await writePrice(config, plan.name, priceId);
        result.push({ plan: plan.name, priceId, change });
      }
      return {
        lines: result.map(({ plan, priceId, change }) => `${plan}: ${priceId} (${change === 'none' ? 'as it was' : change})`),
        result,
      };
    },
  },
  {
    name: 'webhook test',
    summary: 'send a signed event that changes nothing to the running server',
    options: { url: { type: 'string' } },
    async run({ config, values, environment }) {
      const { billing, origin } = await readSettings(config, environment);
      const [secret] = billing.webhookSecrets;
      if (!secret)
        throw new Failure('bad_request', 'PAYMENT_WEBHOOK_SECRET is not set; set it to the secret of the endpoint at the processor');
      const url = new URL(WEBHOOK_PATH, typeof values.url === 'string' ? values.url : origin);
      const { signedTestEvent } = await import('../billing/stripe.js');
      const { payload, signature } = signedTestEvent(secret);
      const response = await fetch(url, {
        method: 'POST',
        headers: { 'content-type': 'application/json', 'stripe-signature': signature },
        body: payload,
        signal: AbortSignal.timeout(20_000),
      }).catch((error: Error) => {
        throw new Failure(
          'unavailable',
          `${url} cannot be reached (${(error.cause as Error | undefined)?.message ?? error.message}); start the server, or name it with --url`,
        );
      });
      const text = (await response.text()).slice(0, 500);
      if (!response.ok)
        throw new Failure('bad_request', `${url} answered ${response.status}: ${text}; the path must get the body as it came`);
      return { lines: [`${url} took the event.`], result: { url: url.href, status: response.status } };
    },
  },
];

async function processorOf(settings: Settings, api: string | boolean | undefined) {
  const { stripeProcessor } = await import('../billing/stripe.js');
  return stripeProcessor(settings, typeof api === 'string' ? new URL(api) : undefined);
}
