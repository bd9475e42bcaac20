import { checkUrl } from '../../net/address.js';

/** The addresses that one call may go to, and what is known of their health. */
export interface Bases {
  readonly count: number;
  /** The address for the next attempt of a call that has tried these. */
  pick(tried: ReadonlySet<string>): string;
  /** A request to it failed in a way that another attempt may mend. */
  failed(base: string): void;
  worked(base: string): void;
}

/** One address. */
export function onlyBase(base: string): Bases {
  return { count: 1, pick: () => base, failed: () => {}, worked: () => {} };
}

/** Where the chat API lies under a base URL, which may be given with its last slash or even with the whole path. */
export function chatUrl(base: string): URL {
  const url = checkUrl(base.trim(), 'operator');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  url.pathname = `${path}/chat/completions`;
  url.hash = '';
  return url;
}
