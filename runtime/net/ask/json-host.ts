import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';
import { checkUrl, shownUrl } from '../address.js';
import type { Outbound } from '../outbound.js';
import type { OutboundReply } from '../reply.js';
import { retryAfterMs } from './exchange.js';
import { brokenOff, statusFailure, type Upstream, unreachable, upstreamError } from './failures.js';

/** Largest answer of a host in bytes: 2,048 vectors of 4,096 numbers as JSON text fit. */
const RESPONSE_BYTES = 128 * 1024 * 1024;
/** As much of an error answer is read, in bytes. */
const ERROR_BYTES = 64 * 1024;
/** Longest wait between two attempts; a host that asks for more gets no further one. */
const LONGEST_WAIT_MS = 10_000;
const RETRY_BASE_MS = 500;
const RETRY_STATUS = new Set([408, 429, 500, 502, 503, 504]);
const RETRY_FAULT = new Set(['ConnectFailed', 'ConnectTimeout', 'ConnectionLost']);

/** One JSON request to a host of the project file. */
export interface JsonCall {
  readonly base: string;
  /** Below the base, with its first slash. */
  readonly path: string;
  /** POST unless given. */
  readonly method?: 'GET' | 'DELETE';
  /** None where it is undefined. */
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

interface Refusal {
  readonly failure: unknown;
  readonly again: boolean;
  readonly waitMs?: number | undefined;
}

/** The URL of a path below a base, which may be given with its last slash or with the whole path. */
export function urlBelow(base: string, path: string): URL {
  const url = checkUrl(base.trim(), 'operator');
  const own = url.pathname.replace(/\/+$/, '');
  url.pathname = own.endsWith(path) ? own : own.endsWith('/v1') && path.startsWith('/v1/') ? own + path.slice(3) : own + path;
  url.hash = '';
  return url;
}

async function bodyOf(reply: OutboundReply, limitBytes?: number): Promise<unknown> {
  const text = await reply.text(limitBytes);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

async function refusalOf(reply: OutboundReply, upstream: Upstream): Promise<Refusal> {
  const error = upstreamError(await bodyOf(reply, ERROR_BYTES).catch(() => ''));
  const waitMs = retryAfterMs(reply);
  const failure = statusFailure(reply.status, error, upstream, waitMs === undefined ? undefined : Math.ceil(waitMs / 1000));
  return { failure, again: RETRY_STATUS.has(reply.status) && !/insufficient_quota|billing/i.test(error.code), waitMs };
}

async function attempt(
  outbound: Outbound,
  call: JsonCall,
  url: URL,
  body: string | undefined,
  signal: AbortSignal,
): Promise<{ answer: unknown } | Refusal> {
  const { model, apiKey, timeoutMs, ours = false, setting } = call;
  const upstream: Upstream = { name: model, model, base: shownUrl(url), apiKey, ours, setting };
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
    if (signal.aborted || !(error instanceof Failure)) throw error;
    return { failure: unreachable(error, upstream), again: RETRY_FAULT.has(error.code) };
  }
  if (reply.status < 200 || reply.status >= 300) return refusalOf(reply, upstream);
  try {
    return { answer: await bodyOf(reply) };
  } catch (error) {
    if (signal.aborted) throw error;
    return { failure: brokenOff(error, upstream), again: (error as Partial<Failure>).code === 'ConnectionLost' };
  }
}

/**
 * Sends JSON to a host that a project file names and returns its answer: parsed, or the text where it is no JSON. Tries again with
 * exponential back-off and jitter, or as late as `Retry-After` asks. Throws `Failure`, or the reason of the abort.
 */
export async function postJson(outbound: Outbound, call: JsonCall, signal: AbortSignal): Promise<unknown> {
  const url = urlBelow(call.base, call.path);
  const body = call.body === undefined ? undefined : JSON.stringify(call.body);
  for (let round = 0; ; round += 1) {
    signal.throwIfAborted();
    const result = await attempt(outbound, call, url, body, signal);
    if ('answer' in result) return result.answer;
    signal.throwIfAborted();
    if (!result.again || round >= call.retries || (result.waitMs ?? 0) > LONGEST_WAIT_MS) throw result.failure;
    const backOffMs = Math.min(LONGEST_WAIT_MS, (call.retryBaseMs ?? RETRY_BASE_MS) * 2 ** round) * (0.5 + Math.random() / 2);
    await sleep(Math.max(backOffMs, result.waitMs ?? 0), undefined, { signal }).catch(() => signal.throwIfAborted());
  }
}
