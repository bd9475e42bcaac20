import type { DaemonOptions } from '../../gateway/daemon/options.js';

/** Where one of the two APIs of a daemon answers; an address that means every interface becomes one that can be called. */
export function baseOf(host: string, port: number): string {
  const shown = host.includes(':') ? `[${host}]` : host.replace(/^0\.0\.0\.0$/, '127.0.0.1');
  return `http://${shown === '[::]' ? '[::1]' : shown}:${port}`;
}

/** The headers that a daemon with a key wants of a command. */
export function keyHeaders({ apiKey }: Pick<DaemonOptions, 'apiKey'>): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}
