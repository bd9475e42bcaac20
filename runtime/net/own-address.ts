import { checkUrl, hostOf } from './address.js';
import { kindOfAddress } from './ip.js';

/** Whether an address is one of these ports of this machine, so that no HTTP is needed. Throws `bad_request` for what is no address. */
export function isOwnAddress(base: string, ports: readonly (number | undefined)[]): boolean {
  const url = checkUrl(base, 'operator');
  const here = hostOf(url) === 'localhost' || kindOfAddress(hostOf(url)) === 'loopback';
  return here && ports.includes(Number(url.port || '80'));
}
