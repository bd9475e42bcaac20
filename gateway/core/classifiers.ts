import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { classifierEndpoints as universal } from '../universal/classifiers.js';

/** The runtime's text classifiers under the core's paths, `/v1/ml/classifier/...`; those of the remote runtimes where there are such. */
export const classifierEndpoints: Endpoint<Runtime>[] = universal.map((one) => ({
  ...one,
  path: one.path.replace('/v1/', '/v1/ml/'),
  id: `ml_${one.id}`,
  tag: 'ml',
  handler: ({ coreClassifiers }, request) => one.handler({ classifiers: coreClassifiers }, request),
}));
