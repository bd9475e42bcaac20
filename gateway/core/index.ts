import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { chatEndpoints } from './chat.js';
import { projectEndpoints } from './projects.js';
import { systemEndpoints } from './system.js';

/** Everything that the core API (port 14345) serves; dispatch and OpenAPI are derived from this list. */
export const coreEndpoints: readonly Endpoint<Runtime>[] = [...systemEndpoints, ...projectEndpoints, ...chatEndpoints];
