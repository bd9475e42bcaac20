import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { chatEndpoints } from './chat.js';
import { statusEndpoints } from './status.js';

/** Everything that the universal runtime (port 11540) serves; dispatch and OpenAPI are derived from this list. */
export const universalEndpoints: readonly Endpoint<Runtime>[] = [...statusEndpoints, ...chatEndpoints];
