import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { anomalyEndpoints as universal } from '../universal/anomaly.js';

/** The runtime's batch anomaly detection under the core's paths, `/v1/ml/anomaly/...`: the same requests and answers, from the remote runtimes where there are such. */
export const anomalyEndpoints: Endpoint<Runtime>[] = universal.map((one) => ({
  ...one,
  path: one.path.replace('/v1/', '/v1/ml/'),
  id: `ml_${one.id}`,
  tag: 'ml',
  handler: ({ coreAnomaly }, request) => one.handler({ anomaly: coreAnomaly }, request),
}));
