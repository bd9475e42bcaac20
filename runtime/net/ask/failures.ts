import { setTimeout as sleep } from 'node:timers/promises';
import { Failure, type FailureItem, type FailureKind, STATUS_OF_KIND } from '../../../schemas/errors.js';
import { isObject } from '../../base/json.js';
import { redact } from '../../base/log.js';
import { type OutboundReply, systemCode } from '../reply.js';
import { BASE_URL_SETTING } from './bases.js';

/** As much of a host's own words is repeated, in characters. */
const MAX_ERROR_CHARS = 500;

/** Whom a message is about. */
export interface Upstream {
  /** The model's name in the project file. */
  readonly name: string;
  /** The model as the host knows it. */
  readonly model: string;
  /** The host's base URL, without credentials. */
  readonly base: string;
  /** The key that was sent; it never appears in a message. */
  readonly apiKey?: string | undefined;
  /** True for our own runtime: its refusals pass on unchanged. */
  readonly ours?: boolean;
  /** What to correct where the base is wrong; `base_url` of the project file unless given. */
  readonly setting?: string | undefined;
}

/** What a host said about an error, read from any of the common body shapes. */
interface UpstreamError {
  message: string;
  code: string;
  /** The values at fault, where it lists them as we do. */
  errors?: readonly FailureItem[];
  /** What else it says, such as `context_usage`. */
  fields?: Readonly<Record<string, unknown>>;
}

type Json = Record<string, unknown>;

function record(value: unknown): Json | undefined {
  return isObject(value) ? value : undefined;
}

function firstText(...values: unknown[]): string {
  return (values.find((value) => typeof value === 'string' && value !== '') as string | undefined) ?? '';
}

/** Reads an error body: `{error: {message, code}}`, `{error}`, `{detail}` as text, object or list, `{message}`, or plain text. */
export function readErrorBody(body: unknown): UpstreamError {
  if (typeof body === 'string') return { message: /^\s*</.test(body) ? '' : body.trim(), code: '' };
  const whole = record(body) ?? {};
  const error = record(whole.error);
  const detail = record(whole.detail);
  const item = record(Array.isArray(whole.detail) ? whole.detail[0] : undefined);
  // A runtime of ours says so in OpenAI's words, and beside them in its own.
  const isMissing = error?.code === 'model_not_found' && typeof whole.message === 'string';
  const code = isMissing ? 'ModelNotFound' : (error?.code ?? error?.type ?? detail?.error ?? whole.error);
  const out: UpstreamError = {
    message: firstText(isMissing ? whole.message : error?.message, detail?.message, whole.detail, whole.message, item?.msg, whole.error),
    code: typeof code === 'string' || typeof code === 'number' ? String(code) : '',
  };
  const errors = itemsOf(whole.errors) ?? itemsOf(whole.detail);
  if (errors) out.errors = errors;
  const fields = otherMembers(whole, detail);
  if (Object.keys(fields).length > 0) out.fields = fields;
  return out;
}

function itemsOf(list: unknown): FailureItem[] | undefined {
  if (!Array.isArray(list)) return undefined;
  const items = list.filter((item) => typeof record(item)?.msg === 'string' && typeof item.type === 'string' && Array.isArray(item.loc));
  return items.length > 0 ? items : undefined;
}

/** What an error body of ours has beside the members that every one has. */
function otherMembers({ detail: _d, error: _e, message: _m, errors: _l, request_id: _r, ...rest }: Json, detail: Json | undefined): Json {
  const context = detail?.context_usage;
  return context === undefined ? rest : { ...rest, context_usage: context };
}

/** A host's own words, safe to repeat: one line, bounded, without the key that it was sent or anything that looks like one. */
export function quoteHost(text: string, apiKey: string | undefined): string {
  const line = redact(withoutKey(text, apiKey).replace(/\bsk-[\w*-]{6,}/g, '[redacted]'))
    .replace(/\p{Cc}+/gu, ' ')
    .trim();
  return line.length > MAX_ERROR_CHARS ? `${line.slice(0, MAX_ERROR_CHARS)}...` : line;
}

function withoutKey(text: string, apiKey: string | undefined): string {
  return apiKey ? text.replaceAll(apiKey, '[redacted]') : text;
}

/** What stands in `error.type`, which says no more than the status. */
const TYPE_OF_ERROR = /^[a-z_]+_error$/;
const CONTEXT_CODE = /context_length|context_window|exceed_context/i;
const CONTEXT_TEXT = /maximum context length|context (length|window|size)|too many tokens|prompt is too long/i;

const KIND_OF_STATUS = new Map<number, FailureKind>(
  (Object.entries(STATUS_OF_KIND) as [FailureKind, number][]).map(([kind, status]) => [status, kind]),
)
  .set(500, 'model_failed')
  .set(503, 'unavailable');

/** The failure of a status that our own runtime sent: the same status, words, code, list and further members. */
function ownRuntimeFailure(status: number, error: UpstreamError, upstream: Upstream, retryAfterS: number | undefined): Failure {
  const kind = KIND_OF_STATUS.get(status) ?? (status < 500 ? 'bad_request' : 'unavailable');
  const { code, errors, fields } = error;
  const message = withoutKey(error.message, upstream.apiKey) || `The runtime at ${upstream.base} answered with status ${status}.`;
  return new Failure(kind, message, {
    ...(code === '' || TYPE_OF_ERROR.test(code) ? {} : { code }),
    ...(errors === undefined ? {} : { errors }),
    ...(fields === undefined ? {} : { fields }),
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
  });
}

/**
 * The failure of an error status. A refused key is a `bad_request`: the project file must change, and a 503 would make clients try again.
 * So are an unknown model, a redirect and whatever else the host finds wrong with the request. 429 stays `too_many`, 408 and 504 are
 * `timed_out`, 500 is `model_failed`, other 5xx are `unavailable`.
 */
export function statusFailure(status: number, error: UpstreamError, upstream: Upstream, retryAfterS?: number): Failure {
  if (upstream.ours) return ownRuntimeFailure(status, error, upstream, retryAfterS);
  const { name, base, model, apiKey } = upstream;
  const words = quoteHost(error.message, apiKey);
  const said = words === '' ? '.' : `: ${words}`;
  const at = `Model '${name}': ${base}`;
  const retry = retryAfterS === undefined ? {} : { retryAfterS };
  // A host may repeat part of the key here, so its words are left out.
  if (status === 401 || status === 403)
    return new Failure('bad_request', `${at} refuses the API key (status ${status}): check api_key of this model in project.yaml.`, {
      code: 'ProviderKeyRefused',
    });
  if (CONTEXT_CODE.test(error.code) || ((status === 400 || status === 413) && CONTEXT_TEXT.test(words)))
    return new Failure('bad_request', `${at} says the conversation is too long${said}`, { code: 'context_length_exceeded' });
  if (status === 404)
    return new Failure('bad_request', `${at} knows no model '${model}', or base_url is not the one of its API${said}`, {
      code: 'model_not_found',
    });
  if (status >= 300 && status < 400)
    return new Failure('bad_request', `${at} redirects (status ${status}): put the final address into base_url.`, {
      code: 'ProviderRedirects',
    });
  if (status === 429)
    return new Failure('too_many', `${at} takes no more requests now${said}`, { code: error.code || 'too_many', ...retry });
  if (status === 413) return new Failure('too_large', `${at} says the request is too large${said}`);
  if (status === 408 || status === 504) return new Failure('timed_out', `${at} timed out (status ${status})${said}`);
  if (status < 500) return new Failure('bad_request', `${at} rejects the request (status ${status})${said}`, { code: 'ProviderRejected' });
  if (status === 500) return new Failure('model_failed', `${at} failed (status 500)${said}`, { code: 'ProviderFailed' });
  return new Failure('unavailable', `${at} is not available (status ${status})${said}`, { code: 'ProviderUnavailable', ...retry });
}

/** The failure of an error object inside a stream that began well. */
export function streamFailure(event: Json, upstream: Upstream): Failure {
  const error = readErrorBody(event);
  const numeric = Number(record(event.error)?.status ?? error.code);
  if (numeric >= 400 && numeric < 600) return statusFailure(numeric, error, upstream);
  if (upstream.ours && error.code in STATUS_OF_KIND)
    return ownRuntimeFailure(STATUS_OF_KIND[error.code as FailureKind], error, upstream, undefined);
  if (CONTEXT_CODE.test(error.code)) return statusFailure(400, error, upstream);
  const words = quoteHost(error.message, upstream.apiKey);
  return new Failure('model_failed', `Model '${upstream.name}': ${upstream.base} failed while it answered${words ? `: ${words}` : '.'}`, {
    code: 'ProviderFailed',
  });
}

/** What to do about a connection that did not come about, by the system's name of the reason; a host that refuses is not running. */
function connectRemedy(code: string, setting: string): string {
  switch (code) {
    case 'ENOTFOUND':
      return `No machine has this name: correct ${setting}.`;
    case 'EAI_AGAIN':
      return `The name service did not answer: connect this machine to its network, or correct ${setting}.`;
    case 'CERT_HAS_EXPIRED':
      return 'Its certificate has expired: whoever runs it must renew it.';
    case 'ERR_TLS_CERT_ALTNAME_INVALID':
      return `Its certificate is one of another name: correct ${setting}.`;
    case 'ERR_SSL_WRONG_VERSION_NUMBER':
    case 'EPROTO':
      return `It speaks no TLS at this port: write http:// in ${setting}.`;
    default:
      return /CERT|LEAF_SIGNATURE/.test(code)
        ? `Nobody who is trusted here has signed its certificate: set NODE_EXTRA_CA_CERTS of the daemon to the file of its authority, or correct ${setting}.`
        : `Start it, or correct ${setting}.`;
  }
}

/** What to do about an exchange that got no response. */
function remedyOf({ code, cause }: Failure, setting: string): string {
  switch (code) {
    case 'ConnectFailed':
      return connectRemedy(systemCode(cause), setting);
    case 'ConnectTimeout':
      return `Switch its machine on, open the firewall between, or correct ${setting}.`;
    case 'ConnectionLost':
      return `It ended, or it speaks another protocol, such as https: look into its log, or correct ${setting}.`;
    case 'BadResponse':
    case 'RedirectRefused':
      return `Correct ${setting}.`;
    default:
      return 'Try again: it may be loading its model, or answering others.';
  }
}

/** The failure of an exchange that got no response: what `runtime/net` threw, in the words of a provider. */
export function unreachableFailure(error: Failure, upstream: Upstream): Failure {
  const { name, base, setting = BASE_URL_SETTING } = upstream;
  if (error.code === 'AddressRefused' || error.kind === 'bad_request')
    return new Failure('bad_request', `Model '${name}': ${error.message}`, { code: error.code, cause: error });
  if (error.code === 'ConnectFailed' || error.code === 'ConnectTimeout' || error.code === 'ConnectionLost')
    return new Failure('unavailable', `Model '${name}': runtime not available at ${base}: ${error.message} ${remedyOf(error, setting)}`, {
      code: 'RuntimeUnavailable',
      cause: error,
    });
  return new Failure(error.kind, `Model '${name}': ${error.message} ${remedyOf(error, setting)}`, { code: error.code, cause: error });
}

/** What to do about an answer that broke off. */
export const BROKEN_REMEDY = 'Try again; if it happens again, the log of the host says why.';

/** The failure of an answer that broke off: what reading it threw, in the words of a provider. Aborts by the caller stay as they are. */
export function brokenAnswerFailure(error: unknown, upstream: Upstream): unknown {
  if (!(error instanceof Failure)) return error;
  const isLate = /^(Idle|Total|Response)Timeout$/.test(error.code);
  if (!isLate && error.code !== 'ConnectionLost' && error.code !== 'ResponseTooLarge' && error.code !== 'BadAnswer') return error;
  const remedy = isLate || error.code === 'ConnectionLost' ? ` ${BROKEN_REMEDY}` : '';
  const message = `Model '${upstream.name}': ${error.message}${remedy}`;
  return new Failure(isLate ? 'timed_out' : 'model_failed', message, { code: error.code, cause: error });
}

/** As much of an error answer is read, in bytes. */
const MAX_ERROR_BYTES = 64 * 1024;
const RETRY_STATUS = new Set([408, 429, 500, 502, 503, 504, 520, 522, 524, 529]);
const RETRY_FAULT = new Set(['ConnectFailed', 'ConnectTimeout', 'ConnectionLost']);
/** 429s that waiting does not mend. */
const FINAL_CODE = /insufficient_quota|billing/i;

/** When and how often a request is sent again. Times in milliseconds. */
export interface RetrySettings {
  /** Requests in all. */
  readonly attempts: number;
  /** Wait before the second request; it doubles from there. */
  readonly baseMs: number;
  /** Longest wait; a host that asks for more with `Retry-After` gets no further request. */
  readonly capMs: number;
}

/** Retries unless told otherwise. */
export const RETRY: RetrySettings = { attempts: 3, baseMs: 500, capMs: 10_000 };

/** The wait that `Retry-After` asks for, in milliseconds; `undefined` without a readable one. */
export function retryAfterMs(reply: Pick<OutboundReply, 'header'>, now = Date.now()): number | undefined {
  const precise = Number(reply.header('retry-after-ms'));
  if (precise > 0) return precise;
  const value = reply.header('retry-after')?.trim() ?? '';
  if (/^\d{1,9}(\.\d+)?$/.test(value)) return Number(value) * 1000;
  const date = Date.parse(value);
  return Number.isNaN(date) ? undefined : Math.max(0, date - now);
}

/** Why an attempt brought no answer. */
export interface Refusal {
  readonly failure: unknown;
  /** Another attempt may help. */
  readonly again: boolean;
  /** What the host asked to wait, in milliseconds. */
  readonly waitMs?: number | undefined;
}

/** A reply as JSON, or as its text where it is none. Throws `too_large` beyond the limit, and what reading throws. */
export async function contentOf(reply: OutboundReply, limitBytes?: number): Promise<unknown> {
  const text = await reply.text(limitBytes);
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}

/** The refusal of a reply whose status is no success. */
export async function refusalOf(reply: OutboundReply, upstream: Upstream): Promise<Refusal> {
  // Where an error answer breaks off, its status says enough.
  const error = readErrorBody(await contentOf(reply, MAX_ERROR_BYTES).catch(() => ''));
  const waitMs = retryAfterMs(reply);
  const failure = statusFailure(reply.status, error, upstream, waitMs === undefined ? undefined : Math.ceil(waitMs / 1000));
  return { failure, again: RETRY_STATUS.has(reply.status) && !FINAL_CODE.test(error.code), waitMs };
}

/** The refusal of a request that got no reply. Throws what is no failure of the network, such as the reason of an abort. */
export function noReply(error: unknown, upstream: Upstream, signal: AbortSignal): Refusal {
  if (signal.aborted || !(error instanceof Failure)) throw error;
  return { failure: unreachableFailure(error, upstream), again: RETRY_FAULT.has(error.code) };
}

/** Waits before attempt `round` + 1, the first being 1: exponentially longer with jitter, or as long as the host asked. Throws the reason of an abort. */
export async function backOff(
  round: number,
  { baseMs, capMs }: Omit<RetrySettings, 'attempts'>,
  refusal: Refusal,
  signal: AbortSignal,
): Promise<void> {
  const ownMs = Math.min(capMs, baseMs * 2 ** (round - 1)) * (0.5 + Math.random() / 2);
  await sleep(Math.max(ownMs, refusal.waitMs ?? 0), undefined, { signal }).catch(() => signal.throwIfAborted());
}
