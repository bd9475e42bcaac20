import { Failure } from '../../../schemas/errors.js';
import type { OutboundReply } from '../../net/reply.js';
import type { HubSettings } from './settings.js';

/** What the hub says of a repository that it has taken from everybody. */
const DISABLED = 'Access to this resource is disabled.';

/** The longest pause that is asked of our own callers. */
const LONGEST_PASSED_ON_S = 3600;

/** Seconds that a `Retry-After` header asks for, in either of its forms; undefined without one. */
function retryAfterS(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000;
  return Number.isFinite(seconds) ? Math.max(0, Math.ceil(seconds)) : undefined;
}

/** Seconds until requests are counted anew, by the hub's own header, such as `"api";r=0;t=55`; undefined while some are left. */
function resetS(header: string | undefined): number | undefined {
  const ends = (header ?? '').split(',').flatMap((limit) => {
    const [, left, seconds] = /;\s*r\s*=\s*(\d{1,9})\s*;\s*t\s*=\s*(\d{1,9})/.exec(limit) ?? [];
    return left !== undefined && Number(left) === 0 ? [Number(seconds)] : [];
  });
  // One more, because it counts whole seconds.
  return ends.length > 0 ? Math.max(...ends) + 1 : undefined;
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
  if (status === 403 && reply.header('x-error-message') === DISABLED)
    return new Failure('forbidden', `${repository} is disabled on the hub: nobody can read it now; see ${page}.`, {
      code: 'ModelForbidden',
    });
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
    const asked = retryAfterS(reply.header('retry-after')) ?? (status === 429 ? resetS(reply.header('ratelimit')) : undefined);
    const why = status === 429 ? 'has had too many requests' : 'is in trouble';
    return new Failure(
      'unavailable',
      `The hub at ${settings.endpoint} ${why} (${status}); try again ${asked === undefined ? 'later' : `in ${Math.min(asked, LONGEST_PASSED_ON_S)} s`}.`,
      {
        code: status === 429 ? 'HubBusy' : 'HubFailed',
        ...(asked === undefined ? {} : { retryAfterS: Math.min(asked, LONGEST_PASSED_ON_S) }),
      },
    );
  }
  return new Failure('unavailable', `The hub answered ${status} to a request for ${what}.`, { code: 'HubRefused' });
}
