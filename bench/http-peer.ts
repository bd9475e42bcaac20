// Fastify and raw uWebSockets.js, each serving the same bytes on one path, in a process of its own.
import { createRequire } from 'node:module';
import fastify from 'fastify';

/** Which peer to be, where, and what to answer. */
export interface HttpPeerPlan {
  kind: 'fastify' | 'uws';
  port: number;
  path: string;
  body: string;
}

interface RawResponse {
  writeHeader(name: string, value: string): RawResponse;
  end(body: string): void;
}
interface RawApp {
  get(path: string, handler: (response: RawResponse) => void): RawApp;
  listen(host: string, port: number, done: (socket: unknown) => void): void;
}

async function serve(plan: HttpPeerPlan): Promise<void> {
  if (plan.kind === 'fastify') {
    const app = fastify();
    // The object is serialised for each request, as a Fastify user would write it.
    const value = JSON.parse(plan.body) as unknown;
    app.get(plan.path, () => value);
    await app.listen({ host: '127.0.0.1', port: plan.port });
    return;
  }
  const major = process.versions.node.split('.')[0];
  const uws = createRequire(import.meta.url)(`@uwsjs/linux-x64-${major}`) as { App(): RawApp };
  await new Promise<void>((resolve) => {
    uws
      .App()
      .get(plan.path, (response) => response.writeHeader('content-type', 'application/json').end(plan.body))
      .listen('127.0.0.1', plan.port, () => resolve());
  });
}

process.on('message', (plan: HttpPeerPlan) => {
  serve(plan).then(
    () => process.send!({ result: true }),
    (error: unknown) => process.send!({ error: String(error) }),
  );
});
