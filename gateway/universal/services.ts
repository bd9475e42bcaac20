import type { Services } from '../../runtime/services/services.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { anomalyEndpoints } from './anomaly.js';
import { bufferEndpoints } from './buffers.js';
import { classifierEndpoints } from './classifiers.js';
import { embeddingEndpoints } from './embeddings.js';
import { encoderEndpoints } from './encoders.js';
import { speechEndpoints } from './speech.js';
import { streamEndpoints } from './streams.js';
import { transcriptionEndpoints } from './transcriptions.js';

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
