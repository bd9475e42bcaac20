import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import { type ApiTitle, openApiDocument } from '../../schemas/openapi.js';
import { webPage } from '../web.js';

/** `GET /openapi.json`, for a list of endpoints, and the web interface, which begins with it at `/docs`. The document is made on first request. */
export function documentationEndpoints<Context>(about: ApiTitle, list: readonly Endpoint<Context>[]): Endpoint<Context>[] {
  let text: string | undefined;
  return [
    endpoint<Context>({
      method: 'GET',
      path: '/openapi.json',
      id: 'openapi',
      access: 'users',
      summary: 'This API as an OpenAPI 3.1 document',
      tag: 'documentation',
      hidden: true,
      handler: () => {
        text ??= JSON.stringify(openApiDocument(about, list as readonly Endpoint<never>[]));
        return { bytes: text, contentType: 'application/json' };
      },
    }),
    endpoint<Context>({
      method: 'GET',
      path: '/docs',
      id: 'docs',
      access: 'anyone',
      summary: 'This API as a page',
      tag: 'documentation',
      hidden: true,
      handler: async (_context, request) => {
        const page = await webPage(request.header('accept-encoding'));
        if (page) return page;
        throw new Failure('not_found', 'The web interface was not built: run "npm start". The same is at /openapi.json.');
      },
    }),
  ];
}
