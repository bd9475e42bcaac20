import { createRequire } from 'node:module';

let loaded: typeof import('undici') | undefined;

/** The HTTP client, loaded at its first use: it costs a tenth of the daemon's start, and many daemons never call out. */
export function undici(): typeof import('undici') {
  loaded ??= createRequire(import.meta.url)('undici') as typeof import('undici');
  return loaded;
}
