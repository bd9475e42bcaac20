import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import type { SocketRoute } from '../http/dispatch.js';
import { anomalyEndpoints } from './anomaly.js';
import { bufferEndpoints } from './buffers.js';
import { cacheEndpoints } from './cache.js';
import { chatEndpoints } from './chat.js';
import { classifierEndpoints } from './classifiers.js';
import { classifyEndpoints } from './classify.js';
import { embeddingEndpoints } from './embeddings.js';
import { fileEndpoints } from './files.js';
import { imageEndpoints } from './images.js';
import { nerEndpoints } from './ner.js';
import { rerankEndpoints } from './rerank.js';
import { statusEndpoints } from './status.js';
import { streamEndpoints } from './streams.js';
import { visionEndpoints } from './vision.js';

/** Everything that the universal runtime (port 11540) serves; dispatch and OpenAPI are derived from this list. */
export const universalEndpoints: readonly Endpoint<Runtime>[] = [
  ...statusEndpoints,
  ...chatEndpoints,
  ...cacheEndpoints,
  ...imageEndpoints,
  ...embeddingEndpoints,
  ...rerankEndpoints,
  ...classifyEndpoints,
  ...nerEndpoints,
  ...fileEndpoints,
  ...visionEndpoints,
  ...anomalyEndpoints,
  ...bufferEndpoints,
  ...streamEndpoints,
  ...classifierEndpoints,
];

/** The WebSockets of the universal runtime. */
export const universalSockets: readonly SocketRoute<Runtime>[] = [];
