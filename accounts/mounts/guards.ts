import type { ServerResponse } from 'node:http';
import type { Accounts } from '../accounts.js';
import { guarded, type Wanted } from '../gates/guard.js';
import { answerOf } from '../http/answers.js';
import type { Caller } from '../identity/sessions.js';
import { headersOf, type NodeRequest } from './node.js';

/**
 * A middleware for Express 5 (and for `node:http` with a `next` of its own) that lets requests through which have what is wanted, and
 * sets `request.user`; others get 401, 403 or 429 with the reason and the address of a better plan.
 */
export function expressGuard(
  accounts: Accounts,
  wanted: Wanted = {},
): (request: NodeRequest & { user?: Caller }, response: ServerResponse, next: (error?: unknown) => void) => void {
  if (wanted.feature !== undefined) accounts.features.declare(wanted.feature);
  return (request, response, next) => {
    guarded(accounts, headersOf(request), wanted).then(
      (caller) => {
        if (caller) request.user = caller;
        next();
      },
      async (error: unknown) => {
        const answer = answerOf(error, next);
        response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
      },
    );
  };
}

/** The same for handlers that take a `Request`: undefined to go on, or the answer that refuses. */
export async function refusalOf(accounts: Accounts, request: Request, wanted: Wanted = {}): Promise<Response | undefined> {
  try {
    await guarded(accounts, request.headers, wanted);
    return undefined;
  } catch (error) {
    return answerOf(error, (unexpected) => {
      throw unexpected;
    });
  }
}
