import { checkUrl } from '../address.js';
import { type Bases, RUNTIME_URL_SETTING } from './bases.js';

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
