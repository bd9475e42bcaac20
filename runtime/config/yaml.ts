import { createRequire } from 'node:module';

let loaded: typeof import('yaml') | undefined;

/** The YAML library, loaded at the first file that is read: its 70 modules are not part of the daemon's start. */
export function yaml(): typeof import('yaml') {
  loaded ??= createRequire(import.meta.url)('yaml') as typeof import('yaml');
  return loaded;
}
