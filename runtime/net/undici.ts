import { createRequire } from 'node:module';

/** What of undici is used. */
type Undici = Pick<typeof import('undici'), 'Agent' | 'errors'>;

let loaded: Undici | undefined;

/**
 * undici's agent and errors, loaded at the first request that leaves. The package's own entry also loads fetch, WebSockets, caches and mocks: some 90 ms of the event loop
 * where these parts take 30. The entry gives dispatchers their methods, such as `request`; so does this.
 */
export function undici(): Undici {
  loaded ??= loadParts(createRequire(import.meta.url));
  return loaded;
}

function loadParts(load: NodeJS.Require): Undici {
  Object.assign(load('undici/lib/dispatcher/dispatcher').prototype, load('undici/lib/api'));
  return { Agent: load('undici/lib/dispatcher/agent'), errors: load('undici/lib/core/errors') };
}
