import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { bufferEndpoints } from '../universal/buffers.js';
import { streamEndpoints } from '../universal/streams.js';

/** The runtime's data buffers and streaming detectors under the core's paths, `/v1/ml/...`: the same requests and answers, from the remote runtimes where there are such. */
export const tableEndpoints: Endpoint<Runtime>[] = [...bufferEndpoints, ...streamEndpoints].map((one) => ({
  ...one,
  path: one.path.replace('/v1/', '/v1/ml/'),
  id: `ml_${one.id}`,
  tag: 'ml',
  handler: ({ coreBuffers, coreStreams }: Runtime, request) => one.handler({ buffers: coreBuffers, streams: coreStreams }, request),
}));
