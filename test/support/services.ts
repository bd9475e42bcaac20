import { type OpenServices, openServices, type ServiceParts } from '../../runtime/services/services.js';

/** The services that need no more than the given parts; a call of another one fails. */
export function openSomeServices(parts: Partial<ServiceParts>): OpenServices {
  return openServices({ runtimeUrls: [], ...parts } as ServiceParts);
}
