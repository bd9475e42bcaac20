import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { compatEndpoints } from '../compat/index.js';
import type { SocketRoute } from '../http/dispatch.js';
import { audioChatSockets } from './audio-chat-socket.js';
import { cacheEndpoints } from './cache.js';
import { chatEndpoints } from './chat.js';
import { fileEndpoints } from './files.js';
import { imageEndpoints } from './images.js';
import { SERVICE_ENDPOINTS, servedBy } from './services.js';
import { speechSockets } from './speech-socket.js';
import { statusEndpoints } from './status.js';
import { transcriptionSockets } from './transcription-socket.js';
import { visionEndpoints } from './vision.js';

/** Everything that the universal runtime (port 11540) serves; dispatch and OpenAPI are derived from this list. */
export const universalEndpoints: readonly Endpoint<Runtime>[] = [
  ...statusEndpoints,
  ...chatEndpoints,
  ...cacheEndpoints,
  ...imageEndpoints,
  ...fileEndpoints,
  ...visionEndpoints,
  ...SERVICE_ENDPOINTS.flatMap(({ endpoints }) => servedBy('here', endpoints)),
  ...compatEndpoints,
];

/** The WebSockets of the universal runtime. */
export const universalSockets: readonly SocketRoute<Runtime>[] = [...speechSockets, ...transcriptionSockets, ...audioChatSockets];
