import { Failure } from '../../schemas/errors.js';
import { hostOf } from './address.js';
import { kindOfAddress } from './ip.js';

/** Which proxy requests to an address go by; null = none. Throws `invalid` for a proxy that cannot be used. */
export type ProxyChoice = (url: URL) => URL | null;

/** A variable in the spelling that other programs read first, then in capitals. */
const variable = (env: NodeJS.ProcessEnv, name: string): string | undefined =>
  env[name.toLowerCase()]?.trim() || env[name]?.trim() || undefined;

/** Without a scheme a proxy speaks http, as for other programs. Throws without the value, which may hold a password. */
function proxyUrl(name: string, value: string): URL {
  const text = /^[a-z][a-z0-9+.-]*:\/\//i.test(value) ? value : `http://${value}`;
  const url = URL.canParse(text) ? new URL(text) : null;
  if (url && /^https?:$/.test(url.protocol)) return url;
  const what = url ? `names a proxy of the kind ${url.protocol.slice(0, -1)}` : 'is no address of a proxy';
  throw new Failure('invalid', `${name} ${what}: write it as http://host:port or https://host:port.`, { code: 'InvalidProxy' });
}

const portOf = (url: URL): string => url.port || (url.protocol === 'https:' ? '443' : '80');

/** Whether an entry of `NO_PROXY` means a host: its name or address, or a name that it ends with; at one port where the entry has one. */
function isMeant(entry: string, url: URL): boolean {
  const host = hostOf(url).toLowerCase();
  const bare = entry.replace(/^\[(.*)\]$/, '$1').toLowerCase();
  if (kindOfAddress(bare) !== undefined) return host === bare;
  const [, name = '', port = portOf(url)] = /^(?:\*?\.)?([^:]*)(?::(\d+))?$/.exec(bare) ?? [];
  return name !== '' && port === portOf(url) && (host === name || host.endsWith(`.${name}`));
}

/**
 * Proxies by `HTTPS_PROXY`, `HTTP_PROXY` and `ALL_PROXY`, as other programs read them, their spelling in small letters first; none for what `NO_PROXY`
 * lists (`*` = everything) and for this machine itself.
 */
export function proxiesOf(env: NodeJS.ProcessEnv): ProxyChoice {
  const without = (variable(env, 'NO_PROXY') ?? '').split(/[\s,]+/).filter((entry) => entry !== '');
  return (url) => {
    const own = url.protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
    const name = variable(env, own) === undefined ? 'ALL_PROXY' : own;
    const value = variable(env, name);
    const isHere = hostOf(url).toLowerCase() === 'localhost' || kindOfAddress(hostOf(url)) === 'loopback';
    if (value === undefined || isHere || without.some((entry) => entry === '*' || isMeant(entry, url))) return null;
    return proxyUrl(name, value);
  };
}
