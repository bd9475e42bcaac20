import type { FailureItem } from '../../schemas/errors.js';
import type { ModuleFile } from '../../schemas/generated/accounts/module.js';
import type { NudgeSettings, Settings } from './settings.js';

/** What a nudge may wait for. */
const NUDGE_TRIGGERS = [
  'approaching_limit',
  'limit_reached',
  'trial_ending',
  'payment_failed',
  'subscription_ending',
  'free_plan',
] as const;
/** Those of meters, which may name one after a colon. */
const OF_METERS: ReadonlySet<string> = new Set(['approaching_limit', 'limit_reached']);

/** A trigger in its two parts: what it waits for, and of which meter where it names one. */
export function triggerOf(text: string): { trigger: string; meter: string | undefined } {
  const at = text.indexOf(':');
  return at < 0 ? { trigger: text, meter: undefined } : { trigger: text.slice(0, at), meter: text.slice(at + 1) };
}

/** The nudges of a module file with their defaults, those of its meters among them as `meter:<name>`. */
export function nudgesOf({ nudges = {}, meters = {} }: ModuleFile): Settings['nudges'] {
  const defaults = { cta: 'Upgrade', style: 'toast', position: 'bottom', dismissible: true, show_once_per: 'session' } as const;
  const ofMeters = Object.entries(meters).flatMap(([name, { nudge, label = name }]): [string, NudgeSettings][] => {
    if (!nudge) return [];
    const { trigger = 'approaching_limit', message = `You have used {used} of {limit} (${label}).`, ...rest } = nudge;
    return [[`meter:${name}`, { ...defaults, ...rest, message, trigger: `${trigger}:${name}` }]];
  });
  return Object.fromEntries([...Object.entries(nudges).map(([name, nudge]) => [name, { ...defaults, ...nudge }]), ...ofMeters]);
}

/** Triggers that are none, and meters that are not there. */
export function* nudgeFaults({ nudges, meters }: Settings): Generator<FailureItem> {
  for (const [name, nudge] of Object.entries(nudges)) {
    const { trigger, meter } = triggerOf(nudge.trigger);
    const loc = ['nudges', name, 'trigger'];
    if (!(NUDGE_TRIGGERS as readonly string[]).includes(trigger) || (meter !== undefined && !OF_METERS.has(trigger)))
      yield {
        type: 'unknown_trigger',
        loc,
        msg: `there is no trigger "${nudge.trigger}"; the triggers are ${NUDGE_TRIGGERS.join(', ')}`,
        input: nudge.trigger,
      };
    else if (meter !== undefined && !Object.hasOwn(meters, meter))
      yield { type: 'unknown_meter', loc, msg: `there is no meter "${meter}"`, input: nudge.trigger };
  }
}
