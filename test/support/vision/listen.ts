import { createTransport, dispatch } from '../../../gateway/http/index.js';
import type { Endpoint } from '../../../schemas/endpoint.js';
import { freePort } from '../ports.js';

/** Serves endpoints on a free port of this machine. */
export async function listenOn<Context>(
  endpoints: readonly Endpoint<Context>[],
  context: Context,
): Promise<{ url: string; end(): Promise<void> }> {
  const port = await freePort();
  const application = dispatch({ endpoints, context, access: { bindHost: '127.0.0.1' } });
  const listener = await createTransport('node').listen({ host: '127.0.0.1', port, application });
  return { url: `http://127.0.0.1:${port}`, end: () => listener.drain(0) };
}
