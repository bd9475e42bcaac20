import type { Runtime } from '../../runtime/runtime.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { SERVICE_ENDPOINTS, servedBy } from '../universal/services.js';

/** The runtime's services under the core's paths, such as `/v1/ml/...`: the same requests and answers, from the remote runtimes where there are such. */
export const serviceEndpoints: Endpoint<Runtime>[] = SERVICE_ENDPOINTS.flatMap(({ endpoints, core }) => {
  if (!core) return [];
  const { area, ...rest } = core;
  return servedBy('core', endpoints).map((one) => ({
    ...one,
    ...rest,
    path: one.path.replace('/v1/', `/v1/${area}/`),
    id: `${area}_${one.id}`,
    tag: area,
  }));
});
