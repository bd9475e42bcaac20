import { Failure } from '../../schemas/errors.js';
import { undici } from './undici.js';

/** `code` of the failures that an outgoing exchange ends with; all but the refusals have the kind `unavailable` or `timed_out`. */
export type OutboundFault =
  | 'AddressRefused'
  | 'RedirectRefused'
  | 'ConnectFailed'
  | 'ConnectTimeout'
  | 'ConnectionLost'
  | 'ResponseTimeout'
  | 'IdleTimeout'
  | 'TotalTimeout'
  | 'ResponseTooLarge'
  | 'BadResponse';

/** Makes the failure of an exchange with one host. */
export function outboundFailure(code: OutboundFault, message: string, cause?: unknown): Failure {
  return new Failure(code.endsWith('Timeout') ? 'timed_out' : 'unavailable', message, { code, cause });
}

const CONNECT_CODES = new Set([
  'ECONNREFUSED',
  'ENOTFOUND',
  'EAI_AGAIN',
  'EHOSTUNREACH',
  'ENETUNREACH',
  'EHOSTDOWN',
  'ETIMEDOUT',
  'EADDRNOTAVAIL',
]);

function codeOf(error: unknown): string {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code === 'string') return code;
  // Several addresses were tried, and each has its own error.
  return error instanceof AggregateError && error.errors.length > 0 ? codeOf(error.errors[0]) : '';
}

/** Turns whatever an exchange with `host` broke with into a `Failure`; an abort by the caller stays as it is. */
export function faultOf(error: unknown, host: string, signal: AbortSignal): unknown {
  if (signal.aborted && signal.reason !== undefined) return signal.reason;
  if (error instanceof Failure) return error;
  if (error instanceof undici().errors.ConnectTimeoutError)
    return outboundFailure('ConnectTimeout', `No connection to ${host} in time.`, error);
  if (error instanceof undici().errors.HeadersTimeoutError)
    return outboundFailure('ResponseTimeout', `${host} did not answer in time.`, error);
  if (error instanceof undici().errors.BodyTimeoutError)
    return outboundFailure('IdleTimeout', `${host} stopped sending in the middle of its answer.`, error);
  const code = codeOf(error);
  if (CONNECT_CODES.has(code)) return outboundFailure('ConnectFailed', `No connection to ${host} (${code}).`, error);
  if (error instanceof undici().errors.HTTPParserError || code === 'UND_ERR_HEADERS_OVERFLOW')
    return outboundFailure('BadResponse', `${host} does not speak HTTP.`, error);
  if (/CERT|TLS|SSL|EPROTO/.test(code)) return outboundFailure('ConnectFailed', `No secure connection to ${host} (${code}).`, error);
  return outboundFailure('ConnectionLost', `The connection to ${host} broke${code ? ` (${code})` : ''}.`, error);
}
