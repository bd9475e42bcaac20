import { checkUrl } from '../address.js';

/** How long a universal runtime is waited for, as the reference system waits; it may load a model first. */
export const RUNTIME_TIMEOUT_MS = 300_000;

/** Where the address of a model's own host is set, as messages name it. */
export const BASE_URL_SETTING = 'base_url in project.yaml';
/** Where the addresses of the universal runtimes are set that a core uses instead of its own. */
export const RUNTIME_URL_SETTING = '--runtime-url (RUNTIME_URL)';

/** The addresses that one call may go to, and what is known of their health. */
export interface Bases {
  readonly count: number;
  /** What to correct where an address is wrong, as messages name it. */
  readonly setting: string;
  /** The address for the next attempt of a call that has tried these. */
  pick(tried: ReadonlySet<string>): string;
  /** A request to it failed in a way that another attempt may mend. */
  failed(base: string): void;
  worked(base: string): void;
}

/** The same addresses for the parts of one request: whoever answered one is asked first for the next, so that one host answers them all. */
export function sameBaseFirst(bases: Bases): Bases {
  let last: string | undefined;
  return {
    count: bases.count,
    setting: bases.setting,
    pick: (tried) => (last === undefined || tried.has(last) ? bases.pick(tried) : last),
    failed: (base) => {
      if (base === last) last = undefined;
      bases.failed(base);
    },
    worked: (base) => {
      last = base;
      bases.worked(base);
    },
  };
}

/** One address, a model's own. */
export function onlyBase(base: string): Bases {
  return { count: 1, setting: BASE_URL_SETTING, pick: () => base, failed: () => {}, worked: () => {} };
}

/** How long a runtime that failed is passed over while others are healthy, in milliseconds. */
const UNHEALTHY_MS = 10_000;

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
