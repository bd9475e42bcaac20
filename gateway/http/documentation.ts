import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import { type ApiTitle, openApiDocument } from '../../schemas/openapi.js';
import { DOCS_PAGE } from '../docs-page.js';

/** The page's own script and style, and requests to this listener: nothing else. */
const PAGE_POLICY =
  "default-src 'none'; script-src 'unsafe-inline'; style-src 'unsafe-inline'; connect-src 'self'; img-src data:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'";

/** `GET /openapi.json` and the page that shows it, for a list of endpoints. The document is made on first request. */
export function documentationEndpoints<Context>(about: ApiTitle, list: readonly Endpoint<Context>[]): Endpoint<Context>[] {
  let text: string | undefined;
  const page = DOCS_PAGE.replaceAll('{{title}}', () => about.title);
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
      handler: () => ({
        bytes: page,
        contentType: 'text/html; charset=utf-8',
        headers: { 'Content-Security-Policy': PAGE_POLICY, 'Referrer-Policy': 'no-referrer' },
      }),
    }),
  ];
}
