import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { callsOf, Lazy } from '../base/once.js';
import type { Outbound } from '../net/outbound.js';
import type { ChatSettings } from './compat/client.js';
import type { Provider } from './contract.js';
import type { RunnerTimes, StartRunner } from './runners.js';

/** The provider names of the API; project files may also use the older spellings of `PROVIDER_OF_SPELLING`. */
export type ProviderId = 'compat_api' | 'local_runner' | 'local_accel' | 'universal';

/** Every spelling of a provider in a project file. */
const PROVIDER_OF_SPELLING = {
  compat_api: 'compat_api',
  openai: 'compat_api',
  local_runner: 'local_runner',
  ollama: 'local_runner',
  local_accel: 'local_accel',
  lemonade: 'local_accel',
  universal: 'universal',
} as const satisfies Record<ModelConfig['provider'], ProviderId>;

/** The port of the universal runtime unless it is told another. */
export const UNIVERSAL_PORT = 11540;

/** What the providers are made of. */
export interface ProviderParts {
  /** Closed by whoever made it. */
  readonly outbound: Outbound;
  /** The universal runtime, wherever it is. */
  readonly universal: Provider;
  /** Starts our engine on a port for `local_accel`; without it only runners that already answer are used. */
  readonly startRunner?: StartRunner;
  readonly settings?: ChatSettings;
  readonly runnerTimes?: RunnerTimes;
}

/** The providers of one daemon, by name: the list that a new one is added to. */
export function createProviders(parts: ProviderParts): Record<ProviderId, Provider> {
  const chats = new Lazy(async () => new (await import('./compat/client.js')).ChatClient(parts.outbound, parts.settings));
  const client = () => chats.get();
  return {
    compat_api: lazily(async () => (await import('./compat-api.js')).createCompatApi(await client())),
    local_runner: lazily(async () => (await import('./local-runner.js')).createLocalRunner(await client())),
    local_accel: lazily(async () =>
      (await import('./local-accel.js')).createLocalAccel(await client(), parts.startRunner, parts.runnerTimes),
    ),
    universal: parts.universal,
  } satisfies Record<ProviderId, Provider>;
}

/** A provider whose code is loaded at its first completion: a start does not wait for it, and most daemons use one or two of them. */
const lazily = (load: () => Promise<Provider>): Provider => callsOf(new Lazy(load));

/** The provider name of a model, whichever way its project file spells it. */
export function providerOf(model: ModelConfig): ProviderId {
  return PROVIDER_OF_SPELLING[model.provider];
}
