import type { Runtime } from '../../runtime/runtime.js';
import type { Services } from '../../runtime/services/services.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { anthropicEndpoints } from '../compat/anthropic.js';
import { inAnthropicsForm } from '../compat/anthropic-models.js';
import { completionEndpoints } from '../compat/completions.js';
import { ollamaEndpoints } from '../compat/ollama.js';
import { responseEndpoints } from '../compat/responses.js';
import { tokenEndpoints } from '../compat/tokens.js';
import type { SocketRoute } from '../http/dispatch.js';
import { anomalyEndpoints } from './anomaly.js';
import { audioChatSockets } from './audio-chat-socket.js';
import { bufferEndpoints } from './buffers.js';
import { cacheEndpoints } from './cache.js';
import { chatEndpoints } from './chat.js';
import { classifierEndpoints } from './classifiers.js';
import { embeddingEndpoints } from './embeddings.js';
import { encoderEndpoints } from './encoders.js';
import { fileEndpoints } from './files.js';
import { imageEndpoints } from './images.js';
import { speechEndpoints } from './speech.js';
import { speechSockets } from './speech-socket.js';
import { statusEndpoints } from './status.js';
import { streamEndpoints } from './streams.js';
import { transcriptionSockets } from './transcription-socket.js';
import { transcriptionEndpoints } from './transcriptions.js';
import { visionEndpoints } from './vision.js';

/** Endpoints of a service. */
export interface ServiceEndpoints {
  readonly endpoints: readonly Endpoint<Services>[];
  /** The core serves them too, under `/v1/{area}/...`, by the services that the core uses. */
  readonly core?: { readonly area: string; readonly errorShape?: Endpoint<Services>['errorShape'] };
}

/** The endpoints of all services: the list that those of a new one are added to. */
export const SERVICE_ENDPOINTS: readonly ServiceEndpoints[] = [
  { endpoints: [...embeddingEndpoints, ...encoderEndpoints], core: { area: 'nlp', errorShape: 'by-client' } },
  { endpoints: anomalyEndpoints, core: { area: 'ml' } },
  { endpoints: [...bufferEndpoints, ...streamEndpoints], core: { area: 'ml' } },
  { endpoints: classifierEndpoints, core: { area: 'ml' } },
  { endpoints: speechEndpoints },
  { endpoints: transcriptionEndpoints },
];

/** The same on a runtime, with the services of one of its places. */
export function servedBy<Place extends 'here' | 'core'>(
  place: Place,
  endpoints: readonly Endpoint<Services>[],
): Endpoint<Readonly<Record<Place, Services>>>[] {
  return endpoints.map(({ multipart, handler, ...one }) => ({
    ...one,
    ...(multipart && { multipart: { ...multipart, admit: (runtime, request) => multipart.admit?.(runtime[place], request) } }),
    handler: (runtime, request) => handler(runtime[place], request),
  }));
}

/** The APIs of other programs that the universal runtime answers to: each turns its requests into the same completions, and those into its own words. */
export const compatEndpoints: readonly Endpoint<Runtime>[] = [
  ...ollamaEndpoints,
  ...anthropicEndpoints,
  ...responseEndpoints,
  ...completionEndpoints,
  ...tokenEndpoints,
];

/** Everything that the universal runtime (port 11540) serves; dispatch and OpenAPI are derived from this list. */
export const universalEndpoints: readonly Endpoint<Runtime>[] = [
  ...statusEndpoints.map(inAnthropicsForm),
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
