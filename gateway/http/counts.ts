import { Counter, Histogram, SECONDS } from '../../runtime/base/metrics.js';
import type { Call } from './call.js';

const ANSWERED = new Counter('quern_requests_total', 'Requests by API, path and the status of their answer.', [
  'api',
  'method',
  'path',
  'status',
]);
const TOOK = new Histogram('quern_request_seconds', 'From a request to the beginning of its answer.', ['api', 'method', 'path'], SECONDS);
const METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Counts a request to an API whose answer begins; nothing for requests that come from this process. */
export function countAnswer(api: string | undefined, { path, startedMs, exchange }: Call, status: number): void {
  if (api === undefined) return;
  const method = METHODS.has(exchange.method) ? exchange.method : 'other';
  ANSWERED.add([api, method, path, String(status)]);
  TOOK.observe([api, method, path], (performance.now() - startedMs) / 1000);
}
