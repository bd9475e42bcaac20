import { setTimeout as sleep } from 'node:timers/promises';
import { Failure } from '../../../schemas/errors.js';
import type { OutboundReply } from '../reply.js';
import { readErrorBody, statusFailure, type Upstream, unreachableFailure } from './failures.js';

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
