import { Failure } from '../../schemas/errors.js';
import { orAborted } from '../base/loop.js';
import { checkUrl, hostOf } from '../net/address.js';
import { kindOfAddress } from '../net/ip.js';
import type { Outbound } from '../net/outbound.js';

/** What a runner that we start is told. */
export interface RunnerSettings {
  readonly port: number;
  /** Tokens. */
  readonly contextSize: number;
}

/** Starts an OpenAI-shaped listener on 127.0.0.1 and resolves when it accepts requests. */
export type StartRunner = (settings: RunnerSettings) => Promise<void>;

/** A runner that answers: where its API lies, and whether it is one that we started. */
export interface Runner {
  readonly base: string;
  readonly ours: boolean;
}

/** What is asked of a place before it is used. */
export interface RunnerWish {
  /** The project's name of the model, for messages. */
  readonly name: string;
  readonly base: string;
  readonly contextSize: number;
}

/** Limits of finding and starting a runner, in milliseconds. */
export interface RunnerTimes {
  readonly probeMs: number;
  /** How long an answer of a probe is believed. */
  readonly rememberMs: number;
  /** After a failed start nothing is started there for this long. */
  readonly cooldownMs: number;
}

/** Times unless told otherwise. */
const RUNNER_TIMES: RunnerTimes = { probeMs: 500, rememberMs: 5000, cooldownMs: 10_000 };

const MAX_PROBE_BYTES = 1024 * 1024;

type Found = 'speaks' | 'nothing' | 'other' | 'silent';

/** Finds OpenAI-shaped runners on their ports and starts ours where nothing answers, once for all who ask at the same time. */
export class Runners {
  readonly #outbound: Outbound;
  readonly #start: StartRunner | undefined;
  readonly #times: RunnerTimes;
  readonly #known = new Map<string, Runner & { until: number }>();
  readonly #pending = new Map<string, Promise<Runner>>();
  readonly #failed = new Map<string, { failure: Failure; until: number }>();

  constructor(outbound: Outbound, start: StartRunner | undefined, times: RunnerTimes = RUNNER_TIMES) {
    this.#outbound = outbound;
    this.#start = start;
    this.#times = times;
  }

  /** The runner at this place. Throws `Failure` when none answers and none can be started, and the signal's reason on abort. */
  async ensure(wish: RunnerWish, signal: AbortSignal): Promise<Runner> {
    const url = checkUrl(wish.base, 'operator');
    const known = this.#known.get(url.origin);
    if (known && known.until > performance.now()) return known;
    let pending = this.#pending.get(url.origin);
    if (!pending) {
      pending = this.#find(wish, url).finally(() => this.#pending.delete(url.origin));
      this.#pending.set(url.origin, pending);
    }
    return orAborted(pending, signal);
  }

  /** Forgets what is known of a place whose runner stopped answering. */
  forget(base: string): void {
    this.#known.delete(new URL(base).origin);
  }

  async #find(wish: RunnerWish, url: URL): Promise<Runner> {
    const cooling = this.#failed.get(url.origin);
    const found = await this.#probe(url);
    if (found === 'speaks') return this.#remember(url, { base: wish.base, ours: false }, this.#times.rememberMs);
    if (cooling && cooling.until > performance.now()) throw cooling.failure;
    try {
      const runner = await this.#startAt(wish, url, found);
      this.#failed.delete(url.origin);
      return this.#remember(url, runner, Number.POSITIVE_INFINITY);
    } catch (error) {
      const failure = startFailure(error, wish, url);
      if (failure.code === 'RunnerStartFailed')
        this.#failed.set(url.origin, { failure, until: performance.now() + this.#times.cooldownMs });
      throw failure;
    }
  }

  #remember(url: URL, runner: Runner, forMs: number): Runner {
    this.#known.set(url.origin, { ...runner, until: performance.now() + forMs });
    return runner;
  }

  async #startAt(wish: RunnerWish, url: URL, found: Found): Promise<Runner> {
    const at = `${url.protocol}//${url.host}`;
    const model = `Model '${wish.name}'`;
    if (found === 'other')
      throw new Failure(
        'unavailable',
        `${model}: what listens at ${at} does not speak the chat API. Set accel.port or base_url to another port.`,
        {
          code: 'PortTaken',
        },
      );
    if (found === 'silent')
      throw new Failure('unavailable', `${model}: the runner at ${at} does not answer within ${this.#times.probeMs} ms.`, {
        code: 'RuntimeUnavailable',
        retryAfterS: 1,
      });
    if (!isLoopback(url) || !this.#start)
      throw new Failure(
        'unavailable',
        `${model}: runtime not available at ${at}, and only a runner on this machine can be started for you.`,
        {
          code: 'RuntimeUnavailable',
        },
      );
    const port = Number(url.port || '80');
    await this.#start({ port, contextSize: wish.contextSize });
    return { base: `http://127.0.0.1:${port}/v1`, ours: true };
  }

  async #probe(url: URL): Promise<Found> {
    const path = url.pathname.replace(/\/+$/, '');
    const models = await this.#ask(new URL(`${path}/models`, url.origin));
    return models === 'other' ? this.#ask(new URL('/health', url.origin)) : models;
  }

  /** Any JSON object short of 404 counts: a runner that still loads its model answers 503, one that wants a key 401. */
  async #ask(url: URL): Promise<Found> {
    const limits = { totalMs: this.#times.probeMs, responseBytes: MAX_PROBE_BYTES };
    try {
      const reply = await this.#outbound.request({ url, policy: 'operator', limits });
      const text = await reply.text();
      const isObject = text.trimStart().startsWith('{') && typeof JSON.parse(text) === 'object';
      return isObject && reply.status !== 404 && reply.status !== 405 ? 'speaks' : 'other';
    } catch (error) {
      if (!(error instanceof Failure)) return 'other';
      if (error.code === 'ConnectFailed') return 'nothing';
      return error.kind === 'timed_out' ? 'silent' : 'other';
    }
  }
}

function isLoopback(url: URL): boolean {
  const host = hostOf(url);
  return url.protocol === 'http:' && (host === 'localhost' || kindOfAddress(host) === 'loopback');
}

function startFailure(error: unknown, wish: RunnerWish, url: URL): Failure {
  if (error instanceof Failure && /^(PortTaken|RuntimeUnavailable)$/.test(error.code)) return error;
  const taken = (error as { code?: unknown } | null)?.code === 'EADDRINUSE';
  const why = taken ? `port ${url.port} is taken` : error instanceof Failure ? error.message : 'see the log';
  return new Failure('unavailable', `Model '${wish.name}': no runner could be started on port ${url.port || '80'}: ${why}`, {
    code: 'RunnerStartFailed',
    retryAfterS: 10,
    cause: error,
  });
}
