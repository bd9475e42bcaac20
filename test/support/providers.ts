import type { Provider } from '../../runtime/providers/contract.js';
import { createProviders, type ProviderParts } from '../../runtime/providers/index.js';
import { modelServices } from '../../runtime/services/model-services.js';
import { openSomeServices } from './services.js';

/** What providers are tested with: `universal` is the runtime in this process, which is used unless `runtimeUrls` are given or a model names another. */
export interface TestedProviders extends ProviderParts {
  readonly runtimeUrls?: readonly string[];
  readonly runtimePort?: number;
}

/** The providers of a daemon, with the universal one where a daemon has it: here or elsewhere. */
export function testedProviders({
  universal,
  runtimeUrls = [],
  runtimePort,
  ...parts
}: TestedProviders): ReturnType<typeof createProviders> {
  const { outbound, settings: chats } = parts;
  const more = { ...(chats && { chats }), ...(runtimePort === undefined ? {} : { runtimePort }) };
  const completions: Provider = runtimeUrls.length > 0 ? openSomeServices({ outbound, runtimeUrls, ...more }).core.completions : universal;
  const core = { ...openSomeServices({ outbound }).core, completions };
  return createProviders({ ...parts, universal: modelServices({ core, outbound, ...more }).completions });
}
