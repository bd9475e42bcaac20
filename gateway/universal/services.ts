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

/** The same on a context that has the services of one place. */
export function servedBy<Context>(endpoints: readonly Endpoint<Services>[], place: (context: Context) => Services): Endpoint<Context>[] {
  return endpoints.map(({ multipart, handler, ...one }) => ({
    ...one,
    ...(multipart && {
      multipart: { ...multipart, admit: (context: Context, request) => multipart.admit?.(place(context), request) },
    }),
    handler: (context, request) => handler(place(context), request),
  }));
}
