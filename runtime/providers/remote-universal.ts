import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { languageSettings } from '../completions/options.js';
import { checkUrl } from '../net/address.js';
import { type Bases, onlyBase, RUNTIME_URL_SETTING } from './compat/bases.js';
import type { ChatClient } from './compat/open.js';
import type { CompletionRequest, Provider } from './contract.js';
import { baseUrlOf } from './key.js';

/** How long a runtime that failed is passed over while others are healthy, in milliseconds. */
const UNHEALTHY_MS = 10_000;

/** The members that only the universal runtime knows. As in process, a history is not shortened unless `extra_body` says so. */
export function universalMembers(model: ModelConfig, request: CompletionRequest): Record<string, unknown> {
  const out: Record<string, unknown> = { auto_truncate: false };
  if (model.keep_loaded) out.keep_loaded = true;
  const transformers = languageSettings(model.name, model.transformers);
  if (transformers) out.transformers = transformers;
  for (const name of ['think', 'thinking_budget', 'deterministic', 'n_ctx'] as const)
    if (request[name] !== undefined) out[name] = request[name];
  return out;
}

/** The API's base under a runtime's URL, which may be given with or without `/v1`. */
export function runtimeBase(url: string): string {
  const parsed = checkUrl(url.trim(), 'operator');
  if (parsed.pathname === '/') parsed.pathname = '/v1';
  return parsed.href.replace(/\/+$/, '');
}

/** The runtimes of `--runtime-url` in turn; one that failed is passed over for a while. */
export class RoundRobin implements Bases {
  readonly setting = RUNTIME_URL_SETTING;
  readonly #bases: readonly string[];
  readonly #failedAt = new Map<string, number>();
  #next = 0;

  constructor(
    bases: readonly string[],
    readonly now: () => number = () => performance.now(),
  ) {
    // One that is named twice is asked once, or a call would never have tried all.
    this.#bases = [...new Set(bases)];
  }

  get count(): number {
    return this.#bases.length;
  }

  pick(tried: ReadonlySet<string>): string {
    const turn = this.#bases.map((_base, i) => this.#bases[(this.#next + i) % this.#bases.length]!);
    const untried = turn.filter((base) => !tried.has(base));
    const open = untried.length > 0 ? untried : turn;
    const chosen = open.find((base) => this.#healthy(base)) ?? open[0]!;
    this.#next = (this.#bases.indexOf(chosen) + 1) % this.#bases.length;
    return chosen;
  }

  failed(base: string): void {
    this.#failedAt.set(base, this.now());
  }

  worked(base: string): void {
    this.#failedAt.delete(base);
  }

  #healthy(base: string): boolean {
    const at = this.#failedAt.get(base);
    return at === undefined || this.now() - at > UNHEALTHY_MS;
  }
}

/**
 * Speaks to universal runtimes over HTTP, as the in-process provider does without: `urls` are used in turn, and the next is tried when one
 * does not answer. A model's own `base_url` wins unless `isOurs` says that it names the runtime anyway.
 */
export function createRemoteUniversal(
  client: ChatClient,
  urls: readonly string[],
  isOurs: (base: string) => boolean = () => false,
): Provider {
  const all = new RoundRobin(urls.map(runtimeBase));
  return {
    async open(model, request, signal) {
      const own = baseUrlOf(model);
      const bases = own !== undefined && (all.count === 0 || !isOurs(own)) ? onlyBase(runtimeBase(own)) : all;
      return client.open(model, request, { bases, added: universalMembers(model, request), ours: true }, signal);
    },
  };
}
