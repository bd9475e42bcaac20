import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { classifiersOf } from '../universal/classifiers.js';

/** The runtime's text classifiers under the core's paths, `/v1/ml/classifier/...`, with the core's defaults; those of the remote runtimes where there are such. */
export const classifierEndpoints: Endpoint<Runtime>[] = classifiersOf({ baseModel: 'all-MiniLM-L6-v2', overwrite: false }).map((one) => ({
  ...one,
  path: one.path.replace('/v1/', '/v1/ml/'),
  id: `ml_${one.id}`,
  tag: 'ml',
  handler: ({ coreClassifiers }, request) => one.handler({ classifiers: coreClassifiers }, request),
}));
