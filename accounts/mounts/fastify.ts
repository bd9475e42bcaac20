import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Accounts } from '../accounts.js';
import { nodeHandler } from './node.js';

/** What of Fastify 5 is used. */
interface FastifyScope {
  removeAllContentTypeParsers(): void;
  addContentTypeParser(type: string, parser: (request: unknown, payload: unknown, done: (error: null) => void) => void): unknown;
  all(path: string, handler: (request: { raw: IncomingMessage }, reply: { raw: ServerResponse; hijack(): unknown }) => void): unknown;
}

/** A plugin for `fastify.register`. Its scope reads no bodies, for the library wants them as they came. */
export function fastifyPlugin(accounts: Accounts): (scope: FastifyScope, options: unknown, done: () => void) => void {
  const handle = nodeHandler(accounts);
  return (scope, _options, done) => {
    scope.removeAllContentTypeParsers();
    scope.addContentTypeParser('*', (_request, _payload, parsed) => parsed(null));
    for (const path of accounts.paths.flatMap((base) => [base, `${base}/*`]))
      scope.all(path, (request, reply) => {
        reply.hijack();
        handle(request.raw, reply.raw);
      });
    done();
  };
}
