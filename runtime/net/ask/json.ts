import { Failure, type FailureKind } from '../../../schemas/errors.js';
import { checkUrl, printableUrl } from '../address.js';
import type { Outbound } from '../outbound.js';
import type { OutboundReply } from '../reply.js';
import type { Bases } from './bases.js';
import { backOff, brokenAnswerFailure, contentOf, noReply, RETRY, type Refusal, refusalOf, type Upstream } from './failures.js';

/** Largest answer of a host in bytes: 2,048 vectors of 4,096 numbers as JSON text fit. */
const RESPONSE_BYTES = 128 * 1024 * 1024;
/** After these the next base is asked. What else is refused would be refused there too, and says nothing against the one that refuses it. */
const PASSING: ReadonlySet<FailureKind> = new Set(['unavailable', 'timed_out', 'busy']);

/** One JSON request to a host of the project file. */
export interface JsonCall {
  readonly base: string;
  /** Below the base, with its first slash. */
  readonly path: string;
  readonly query?: Readonly<Record<string, string>>;
  /** POST unless given. */
  readonly method?: 'GET' | 'DELETE';
  /** None where it is undefined; bytes go out as they are, with a content type among `headers`. */
  readonly body: unknown;
  /** What messages call the asked thing. */
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** The host is a universal runtime like ours: its refusals are passed on as they are. */
  readonly ours?: boolean;
  /** What to correct where the base is wrong; `base_url` of the project file unless given. */
  readonly setting?: string;
  /** Sent as they are, lower-case names. */
  readonly headers?: Readonly<Record<string, string>>;
  /** Of one attempt. */
  readonly timeoutMs: number;
  /** Further attempts after a failed connection, 429 or a passing 5xx. */
  readonly retries: number;
  readonly retryBaseMs?: number | undefined;
}

/** The URL of a path below a base, which may be given with its last slash or with the whole path. */
export function urlBelow(base: string, path: string): URL {
  const url = checkUrl(base.trim(), 'operator');
  const own = url.pathname.replace(/\/+$/, '');
  url.pathname = own.endsWith(path) ? own : own.endsWith('/v1') && path.startsWith('/v1/') ? own + path.slice(3) : own + path;
  url.hash = '';
  return url;
}

async function attempt(
  outbound: Outbound,
  call: JsonCall,
  url: URL,
  body: string | Uint8Array | undefined,
  signal: AbortSignal,
): Promise<{ answer: unknown } | Refusal> {
  const { model, apiKey, timeoutMs, ours = false, setting } = call;
  const upstream: Upstream = { name: model, model, base: printableUrl(url), apiKey, ours, setting };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...(apiKey === undefined ? {} : { authorization: `Bearer ${apiKey}` }),
    ...call.headers,
  };
  const limits = { headersMs: timeoutMs, idleMs: timeoutMs, totalMs: timeoutMs, responseBytes: RESPONSE_BYTES };
  let reply: OutboundReply;
  try {
    const asked = { url, policy: 'operator', method: call.method ?? 'POST', headers, limits, signal } as const;
    reply = await outbound.request(body === undefined ? asked : { ...asked, body });
  } catch (error) {
    return noReply(error, upstream, signal);
  }
  if (reply.status < 200 || reply.status >= 300) return refusalOf(reply, upstream);
  try {
    return { answer: await contentOf(reply) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { failure: brokenAnswerFailure(error, upstream), again: (error as Partial<Failure>).code === 'ConnectionLost' };
  }
}

/**
 * Sends JSON to a host that a project file names and returns its answer: parsed, or the text where it is no JSON. Tries again with
 * exponential back-off and jitter, or as late as `Retry-After` asks. Throws `Failure`, or the reason of the abort.
 */
export async function postJson(outbound: Outbound, call: JsonCall, signal: AbortSignal): Promise<unknown> {
  const url = urlBelow(call.base, call.path);
  for (const [name, value] of Object.entries(call.query ?? {})) url.searchParams.set(name, value);
  const body = call.body === undefined || call.body instanceof Uint8Array ? call.body : JSON.stringify(call.body);
  for (let round = 1; ; round += 1) {
    signal.throwIfAborted();
    const result = await attempt(outbound, call, url, body, signal);
    if ('answer' in result) return result.answer;
    signal.throwIfAborted();
    if (!result.again || round > call.retries || (result.waitMs ?? 0) > RETRY.capMs) throw result.failure;
    await backOff(round, { ...RETRY, ...(call.retryBaseMs === undefined ? {} : { baseMs: call.retryBaseMs }) }, result, signal);
  }
}

/** One JSON request to whichever of several hosts answers. */
type SharedCall = Omit<JsonCall, 'base' | 'setting'>;

/** An answer, and who gave it. */
export interface Answered {
  readonly base: string;
  readonly answer: unknown;
}

/**
 * Sends JSON to one of several hosts that do the same, and to the next where it is not there or has no room. Throws as `postJson` does: what the last one said
 * where none answers.
 */
export async function postToOne(outbound: Outbound, bases: Bases, call: SharedCall, signal: AbortSignal): Promise<Answered> {
  const tried = new Set<string>();
  for (;;) {
    const base = bases.pick(tried);
    tried.add(base);
    try {
      const answer = await postJson(outbound, { ...call, base, setting: bases.setting }, signal);
      bases.worked(base);
      return { base, answer };
    } catch (error) {
      signal.throwIfAborted();
      if (!(error instanceof Failure) || !PASSING.has(error.kind)) throw error;
      bases.failed(base);
      if (tried.size >= bases.count) throw error;
    }
  }
}
