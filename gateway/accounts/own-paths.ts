import type { Accounts } from '../../accounts/accounts.js';
import { log } from '../../runtime/base/log.js';
import { Failure } from '../../schemas/errors.js';
import { errorBody, failureOf } from '../http/errors.js';
import type { Exchange } from '../http/transport.js';

/** The largest body of the library, that of an event of a payment processor; it has limits of its own below. */
const MOST_BYTES = 1024 * 1024;
/** Methods that a `Request` cannot have. */
const UNASKABLE = new Set(['TRACE', 'TRACK', 'CONNECT']);

/** Answers a request to a path of the accounts library. */
export function answerOwnPath(accounts: Accounts, exchange: Exchange): void {
  const { method, path, query, remoteAddress: ip } = exchange;
  const headers = new Headers();
  try {
    if (UNASKABLE.has(method)) throw new Failure('not_allowed', `${method} is not taken here.`);
    exchange.eachHeader((name, value) => headers.append(name, value));
    const request = new Request(`http://accounts.invalid${path}${query === '' ? '' : `?${query}`}`, { method, headers });
    const hasBody = method !== 'GET' && method !== 'HEAD' && method !== 'OPTIONS';
    const body = hasBody ? exchange.readBody(MOST_BYTES, () => undefined) : Promise.resolve(Buffer.alloc(0));
    body
      .then((rawBody) => rawBody && accounts.handle(request, { ip, rawBody }))
      .then((answer) => answer && send(exchange, answer))
      .catch((error: unknown) => fail(exchange, error));
  } catch (error) {
    fail(exchange, error instanceof TypeError ? new Failure('bad_request', 'The request has a name or a value that HTTP has not.') : error);
  }
}

async function send(exchange: Exchange, answer: Response): Promise<void> {
  const list: string[] = [];
  for (const [name, value] of answer.headers) if (name !== 'set-cookie' && name !== 'content-length') list.push(name, value);
  for (const cookie of answer.headers.getSetCookie()) list.push('set-cookie', cookie);
  exchange.reply(answer.status, list, new Uint8Array(await answer.arrayBuffer()));
}

function fail(exchange: Exchange, error: unknown): void {
  const failure = failureOf(error);
  if (failure.status >= 500) log('error', 'an accounts request failed', { path: exchange.path, error: failure.cause ?? failure });
  exchange.reply(failure.status, ['content-type', 'application/json'], JSON.stringify(errorBody(failure, 'house', '')));
}
