import type { Request } from '../../schemas/endpoint.js';

/** A project as paths name it. */
export type ProjectPlace = [namespace: string, project: string];

/** The project that the path of a request names. */
export function placeOf({ params }: Pick<Request, 'params'>): ProjectPlace {
  return [params.namespace!, params.project!];
}
