import type { Accounts } from '../accounts.js';

/** What of Hono's context is used; `incoming` is there under its server for Node. */
interface HonoContext {
  readonly req: { readonly raw: Request; readonly path: string };
  readonly env?: unknown;
}

/**
 * A middleware for `app.use`. `addressOf` tells from where a request comes, for servers that are not Hono's own for Node; a server
 * that cannot tell counts all visitors as one.
 */
export function honoMiddleware(
  accounts: Accounts,
  addressOf: (context: HonoContext) => string = nodeAddress,
): (context: HonoContext, next: () => Promise<void>) => Promise<Response | undefined> {
  return async (context, next) => {
    if (accounts.owns(context.req.path)) return accounts.handle(context.req.raw, { ip: addressOf(context) });
    await next();
    return undefined;
  };
}

function nodeAddress({ env }: HonoContext): string {
  return (env as { incoming?: { socket?: { remoteAddress?: string } } } | undefined)?.incoming?.socket?.remoteAddress ?? '';
}
