import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';
import { shownUrl } from '../address.js';
import type { Outbound } from '../outbound.js';
import type { OutboundReply } from '../reply.js';
import { type Bases, chatUrl } from './bases.js';
import { statusFailure, type Upstream, unreachable, upstreamError } from './failures.js';
import { CHAT_LIMITS, type ChatSettings, MAX_ERROR_BYTES, RETRY } from './limits.js';

/** One chat request to one of several addresses. */
export interface ChatCall {
  readonly bases: Bases;
  readonly body: Record<string, unknown>;
  /** The project's name of the model. */
  readonly name: string;
  /** The model as the host knows it. */
  readonly model: string;
  readonly apiKey?: string | undefined;
  /** True when the host is our own runtime. */
  readonly ours?: boolean;
}

/** An accepted request: status 2xx, body unread. */
export interface Accepted {
  reply: OutboundReply;
  upstream: Upstream;
}

const RETRY_STATUS = new Set([408, 429, 500, 502, 503, 504, 520, 522, 524, 529]);
const RETRY_FAULT = new Set(['ConnectFailed', 'ConnectTimeout', 'ConnectionLost']);
/** 429s that waiting does not mend. */
const FINAL_CODE = /insufficient_quota|billing/i;

/** The wait that `Retry-After` asks for, in milliseconds; `undefined` without a readable one. */
export function retryAfterMs(reply: Pick<OutboundReply, 'header'>, now = Date.now()): number | undefined {
  const precise = Number(reply.header('retry-after-ms'));
  if (precise > 0) return precise;
  const value = reply.header('retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

interface Refusal {
  failure: Failure;
  again: boolean;
  /** What the host asked to wait. */
  waitMs?: number | undefined;
}

async function refusalOf(reply: OutboundReply, upstream: Upstream): Promise<Refusal> {
  let body: unknown = '';
  try {
    const text = await reply.text(MAX_ERROR_BYTES);
    body = text;
    body = JSON.parse(text);
  } catch {
    // Plain text, or an error answer that broke off: the status says enough.
  }
  const error = upstreamError(body);
  const waitMs = retryAfterMs(reply);
  const retryAfterS = waitMs === undefined ? undefined : Math.ceil(waitMs / 1000);
  const failure = statusFailure(reply.status, error, upstream, retryAfterS);
  return { failure, again: RETRY_STATUS.has(reply.status) && !FINAL_CODE.test(error.code), waitMs };
}

function upstreamOf(call: ChatCall, url: URL): Upstream {
  const base = shownUrl(url).replace(/\/chat\/completions$/, '');
  return { name: call.name, model: call.model, base, apiKey: call.apiKey, ours: call.ours ?? false, setting: call.bases.setting };
}

/** One attempt: an accepted reply, or why not and whether another attempt may help. Throws what no attempt can mend, and aborts. */
async function attempt(
  outbound: Outbound,
  call: ChatCall,
  base: string,
  text: string,
  settings: ChatSettings,
  signal: AbortSignal,
): Promise<Accepted | Refusal> {
  const headers: Record<string, string> = { 'content-type': 'application/json', accept: 'text/event-stream, application/json' };
  if (call.apiKey !== undefined) headers.authorization = `Bearer ${call.apiKey}`;
  let upstream: Upstream = { name: call.name, model: call.model, base: '', apiKey: call.apiKey };
  try {
    const url = chatUrl(base);
    upstream = upstreamOf(call, url);
    const limits = { ...CHAT_LIMITS, ...settings.limits };
    const reply = await outbound.request({ url, policy: 'operator', method: 'POST', headers, body: text, limits, signal });
    if (reply.status >= 200 && reply.status < 300) return { reply, upstream };
    const refusal = await refusalOf(reply, upstream);
    signal.throwIfAborted();
    return refusal;
  } catch (error) {
    if (signal.aborted || !(error instanceof Failure)) throw error;
    return { failure: unreachable(error, upstream), again: RETRY_FAULT.has(error.code) };
  }
}

/**
 * Sends a chat request until a host accepts it. Failed connections, 429 and passing 5xx are tried again with exponential back-off and
 * jitter, or as late as `Retry-After` asks; with several addresses the next one is tried at once. Nothing is sent again once a response
 * was accepted.
 */
export async function sendChat(outbound: Outbound, call: ChatCall, settings: ChatSettings, signal: AbortSignal): Promise<Accepted> {
  const retry = { ...RETRY, ...settings.retry };
  const attempts = Math.max(retry.attempts, call.bases.count);
  const text = JSON.stringify(call.body);
  const tried = new Set<string>();
  for (let round = 1; ; round++) {
    signal.throwIfAborted();
    const base = call.bases.pick(tried);
    const result = await attempt(outbound, call, base, text, settings, signal);
    if ('reply' in result) {
      call.bases.worked(base);
      return result;
    }
    tried.add(base);
    if (result.again) call.bases.failed(base);
    if (!result.again || round >= attempts || (result.waitMs ?? 0) > retry.capMs) throw result.failure;
    if (tried.size < call.bases.count) continue;
    const backOff = Math.min(retry.capMs, retry.baseMs * 2 ** (round - 1)) * (0.5 + Math.random() / 2);
    await pause(Math.max(backOff, result.waitMs ?? 0), signal);
  }
}

async function pause(ms: number, signal: AbortSignal): Promise<void> {
  try {
    await sleep(ms, undefined, { signal });
  } catch {
    signal.throwIfAborted();
  }
}
