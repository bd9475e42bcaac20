import { checkUrl, printableUrl } from '../../net/address.js';
import { type Bases, RUNTIME_TIMEOUT_MS } from '../../net/ask/bases.js';
import { backOff, noReply, RETRY, type Refusal, type RetrySettings, refusalOf, type Upstream } from '../../net/ask/failures.js';
import type { Outbound, OutboundLimits } from '../../net/outbound.js';
import type { OutboundReply } from '../../net/reply.js';

/** Limits of one chat exchange. */
const CHAT_LIMITS: OutboundLimits = {
  headersMs: RUNTIME_TIMEOUT_MS,
  idleMs: RUNTIME_TIMEOUT_MS,
  totalMs: 3_600_000,
  responseBytes: 64 * 1024 * 1024,
};

/** What an operator or a test may change of how a chat is sent. */
export interface SendSettings {
  readonly limits?: Partial<OutboundLimits>;
  readonly retry?: Partial<RetrySettings>;
}

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

/** Where the chat API lies under a base URL, which may be given with its last slash or even with the whole path. */
function chatUrl(base: string): URL {
  const url = checkUrl(base.trim(), 'operator');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  url.pathname = `${path}/chat/completions`;
  url.hash = '';
  return url;
}

function upstreamOf(call: ChatCall, url: URL): Upstream {
  const base = printableUrl(url).replace(/\/chat\/completions$/, '');
  return { name: call.name, model: call.model, base, apiKey: call.apiKey, ours: call.ours ?? false, setting: call.bases.setting };
}

/** One attempt: an accepted reply, or why not and whether another attempt may help. Throws what no attempt can mend, and aborts. */
async function attempt(
  outbound: Outbound,
  call: ChatCall,
  base: string,
  text: string,
  settings: SendSettings,
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
    return noReply(error, upstream, signal);
  }
}

/**
 * Sends a chat request until a host accepts it. Failed connections, 429 and passing 5xx are tried again with exponential back-off and
 * jitter, or as late as `Retry-After` asks; with several addresses the next one is tried at once. Nothing is sent again once a response
 * was accepted.
 */
export async function sendChat(outbound: Outbound, call: ChatCall, settings: SendSettings, signal: AbortSignal): Promise<Accepted> {
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
    await backOff(round, retry, result, signal);
  }
}
