import { checkUrl } from '../address.js';

/** Where the address of a model's own host is set, as messages name it. */
export const BASE_URL_SETTING = 'base_url in project.yaml';
/** Where the addresses of the universal runtimes are set that a core uses instead of its own. */
export const RUNTIME_URL_SETTING = '--runtime-url (RUNTIME_URL)';

/** The addresses that one call may go to, and what is known of their health. */
export interface Bases {
  readonly count: number;
  /** What to correct where an address is wrong, as messages name it. */
  readonly setting: string;
  /** The address for the next attempt of a call that has tried these. */
  pick(tried: ReadonlySet<string>): string;
  /** A request to it failed in a way that another attempt may mend. */
  failed(base: string): void;
  worked(base: string): void;
}

/** The same addresses for the parts of one request: whoever answered one is asked first for the next, so that one host answers them all. */
export function together(bases: Bases): Bases {
  let last: string | undefined;
  return {
    count: bases.count,
    setting: bases.setting,
    pick: (tried) => (last === undefined || tried.has(last) ? bases.pick(tried) : last),
    failed: (base) => {
      if (base === last) last = undefined;
      bases.failed(base);
    },
    worked: (base) => {
      last = base;
      bases.worked(base);
    },
  };
}

/** One address, a model's own. */
export function onlyBase(base: string): Bases {
  return { count: 1, setting: BASE_URL_SETTING, pick: () => base, failed: () => {}, worked: () => {} };
}

/** Where the chat API lies under a base URL, which may be given with its last slash or even with the whole path. */
export function chatUrl(base: string): URL {
  const url = checkUrl(base.trim(), 'operator');
  const path = url.pathname.replace(/\/+$/, '').replace(/\/chat\/completions$/, '');
  url.pathname = `${path}/chat/completions`;
  url.hash = '';
  return url;
}
