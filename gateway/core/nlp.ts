import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { classifyEndpoints } from '../universal/classify.js';
import { embeddingEndpoints } from '../universal/embeddings.js';
import { nerEndpoints } from '../universal/ner.js';
import { rerankEndpoints } from '../universal/rerank.js';

/** The runtime's encoders under the core's paths, `/v1/nlp/...`: the same requests and answers, from the remote runtimes where there are such. */
export const nlpEndpoints: Endpoint<Runtime>[] = [...embeddingEndpoints, ...rerankEndpoints, ...classifyEndpoints, ...nerEndpoints].map(
  (one) => ({
    ...one,
    path: one.path.replace('/v1/', '/v1/nlp/'),
    id: `nlp_${one.id}`,
    tag: 'nlp',
    errorShape: 'by-client' as const,
    handler: (runtime, request) => one.handler({ ...runtime, encoders: runtime.coreEncoders }, request),
  }),
);
