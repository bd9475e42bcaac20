import { Failure } from '../../schemas/errors.js';
import type { OutboundReply } from '../net/reply.js';
import type { HubSettings } from './settings.js';

/** Seconds that a `Retry-After` header asks for, in either of its forms; undefined without one. */
function retryAfterS(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

/** What was asked of the hub, for messages. */
export interface Asked {
  readonly repository: string;
  /** A file, or empty for the repository itself. */
  readonly path: string;
}

/** The failure that an answer other than success stands for; the hub says more in `X-Error-Code` than in the status. */
export function refusal(reply: OutboundReply, { repository, path }: Asked, settings: HubSettings): Failure {
  const page = `${settings.endpoint}/${repository}`;
  const what = path === '' ? repository : `${path} of ${repository}`;
  const code = reply.header('x-error-code') ?? '';
  const { status } = reply;
  if (code === 'GatedRepo' || (status === 403 && settings.token === null)) {
    const remedy = settings.token === null ? 'set HF_TOKEN to a token of your account' : 'use a token (HF_TOKEN) of an account that has it';
    return new Failure('forbidden', `${repository} is gated: accept its terms at ${page}, and ${remedy}; then try again.`, {
      code: 'ModelGated',
      fields: { model: repository, page },
    });
  }
  if (code === 'EntryNotFound') return new Failure('not_found', `${what} is not on the hub.`, { code: 'ModelNotFound' });
  if (status === 404 || code === 'RepoNotFound' || (status === 401 && settings.token === null)) {
    const hint =
      settings.token === null ? 'if it is private, set HF_TOKEN' : 'if it is private, HF_TOKEN must belong to an account that sees it';
    return new Failure('not_found', `${what} is not on the hub at ${settings.endpoint} (${status}): check the name; ${hint}.`, {
      code: 'ModelNotFound',
      fields: { model: repository },
    });
  }
  if (status === 401 || status === 403) {
    return new Failure('forbidden', `The hub refuses ${what} (${status}): HF_TOKEN is not valid or has no right to read it; see ${page}.`, {
      code: 'ModelForbidden',
    });
  }
  if (status === 429 || status >= 500) {
    const asked = retryAfterS(reply.header('retry-after'));
    const why = status === 429 ? 'has had too many requests' : 'is in trouble';
    return new Failure('unavailable', `The hub at ${settings.endpoint} ${why} (${status}); try again later.`, {
      code: status === 429 ? 'HubBusy' : 'HubFailed',
      ...(asked === undefined ? {} : { retryAfterS: asked }),
    });
  }
  return new Failure('unavailable', `The hub answered ${status} to a request for ${what}.`, { code: 'HubRefused' });
}
