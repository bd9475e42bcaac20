import { checkServerIdentity, rootCertificates } from 'node:tls';
import type { DaemonOptions } from '../../gateway/daemon/options.js';
import { certificateOf, readPem } from '../../gateway/daemon/tls.js';
import type { OutboundOptions } from '../../runtime/net/outbound.js';

/** Which of the two APIs of a daemon. */
export type Api = 'core' | 'runtime';

/** Where an API of a daemon answers; an address that means every interface becomes one that can be called. */
export function baseOf(options: DaemonOptions, api: Api): string {
  const [host, port] = api === 'core' ? [options.host, options.port] : [options.runtimeHost, options.runtimePort];
  const shown = host.includes(':') ? `[${host}]` : host.replace(/^0\.0\.0\.0$/, '127.0.0.1');
  return `${options.tls || options.ca !== null ? 'https' : 'http'}://${shown === '[::]' ? '[::1]' : shown}:${port}`;
}

/** The headers that a daemon with a key wants of a command. */
export function keyHeaders({ apiKey }: Pick<DaemonOptions, 'apiKey'>): Record<string, string> {
  return apiKey === null ? {} : { authorization: `Bearer ${apiKey}` };
}

/**
 * What a command trusts of the daemon: besides Node's authorities the certificate of `--ca` or, on the daemon's own machine, of `--tls-cert`. Who has that very
 * certificate need not be called by a name in it, for a command calls 127.0.0.1. Throws `bad_request` for a file that is none.
 */
export function trustOf({ ca, tls }: Pick<DaemonOptions, 'ca' | 'tls'>): OutboundOptions {
  const [flag, path] = tls ? (['tls-cert', tls.cert] as const) : (['ca', ca] as const);
  if (path === null || path === 'system') return {};
  const pem = readPem(flag, path);
  const { fingerprint256 } = certificateOf(flag, path, pem);
  return {
    tls: {
      ca: [...rootCertificates, pem],
      allowPartialTrustChain: true,
      checkServerIdentity: (host, peer) => (peer.fingerprint256 === fingerprint256 ? undefined : checkServerIdentity(host, peer)),
    },
  };
}
