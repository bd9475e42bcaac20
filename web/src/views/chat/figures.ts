/** What is told below an answer: its model, how fast it came, and how long it is. */
import type { Message } from '$schemas/core/conversations';
import { count, duration } from '../../lib/format';

/** Answers of fewer tokens have no rate, because it would say nothing. */
const FEWEST_TOKENS = 8;
/** A rate above this is not shown: no machine is faster, so that the clock had nothing to measure. */
const MOST_TOKENS_PER_S = 100_000;

/** The figures of a message in words; those that are not known are left out. */
export function figuresOf({ model, usage, edited }: Message): string[] {
  const tokens = usage?.completion_tokens ?? 0;
  const rate = usage?.tokens_per_second ?? 0;
  const isMeasured = tokens >= FEWEST_TOKENS && rate > 0 && rate <= MOST_TOKENS_PER_S;
  return [
    model,
    isMeasured ? `${rate.toFixed(rate < 100 ? 1 : 0)} tokens/s` : undefined,
    usage?.first_token_ms ? `first token after ${duration(usage.first_token_ms)}` : undefined,
    tokens > 0 ? `${count(tokens)} ${tokens === 1 ? 'token' : 'tokens'}` : undefined,
    edited ? 'edited' : undefined,
  ].filter((one) => one !== undefined);
}
