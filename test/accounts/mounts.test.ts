import assert from 'node:assert/strict';
import { createServer, type Server } from 'node:http';
import { createRequire } from 'node:module';
import { type AddressInfo, connect } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { type Accounts, createAccounts } from '../../accounts/accounts.js';
import { fastifyPlugin } from '../../accounts/mounts/fastify.js';
import { honoMiddleware } from '../../accounts/mounts/hono.js';
import { nodeHandler } from '../../accounts/mounts/node.js';
import { mountOnUws } from '../../accounts/mounts/uws.js';
import { DATABASE_SERVERS, optionsFor } from '../support/accounts/database-servers.js';
import { PASSWORD } from '../support/accounts/visitor.js';

/** A server of one framework with the library on it; resolves to its port and what closes it. */
type Mounting = (accounts: Accounts) => Promise<{ port: number; close: () => unknown }>;

const portOf = (server: { address(): unknown }): number => (server.address() as AddressInfo).port;
const listening = async (server: Server): ReturnType<Mounting> => {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return { port: portOf(server), close: () => server.closeAllConnections() ?? server.close() };
};

const MOUNTS: Record<string, Mounting> = {
  'node:http': (accounts) => listening(createServer(nodeHandler(accounts))),
  'Express before its parser': async (accounts) => {
    const { default: express } = await import('express');
    return listening(createServer(express().use(nodeHandler(accounts)).use(express.json())));
  },
  'Express after its parser': async (accounts) => {
    const { default: express } = await import('express');
    return listening(createServer(express().use(express.json()).use(nodeHandler(accounts))));
  },
  Fastify: async (accounts) => {
    const { fastify } = await import('fastify');
    const app = fastify();
    app.register(fastifyPlugin(accounts) as never);
    app.post('/own', (request) => ({ got: request.body }));
    await app.listen({ port: 0, host: '127.0.0.1' });
    return { port: portOf(app.server), close: () => app.close() };
  },
  Hono: async (accounts) => {
    const [{ Hono }, { serve }] = await Promise.all([import('hono'), import('@hono/node-server')]);
    const app = new Hono();
    app.use(honoMiddleware(accounts) as never);
    return new Promise((resolve) => {
      const server = serve({ fetch: app.fetch, port: 0, hostname: '127.0.0.1' }, ({ port }) =>
        resolve({ port, close: () => server.close() }),
      );
    });
  },
  'uWebSockets.js': async (accounts) => {
    const uws = createRequire(import.meta.url)(`@uwsjs/linux-x64-${process.versions.node.split('.')[0]}`);
    const app = uws.App();
    mountOnUws(app, accounts);
    const port = await new Promise<number>((resolve) =>
      app.listen('127.0.0.1', 0, (socket: unknown) => resolve(uws.us_socket_local_port(socket))),
    );
    return { port, close: () => app.close() };
  },
};

for (const [name, mount] of Object.entries(MOUNTS))
  describe(`accounts on ${name}`, () => {
    let accounts: Accounts;
    let close: () => unknown;
    let port: number;
    let base: string;
    before(async () => {
      accounts = await createAccounts(optionsFor(await DATABASE_SERVERS[0]!.open()));
      ({ port, close } = await mount(accounts));
      base = `http://127.0.0.1:${port}`;
    });
    after(async () => {
      await close?.();
      await accounts?.close();
    });
    const post = (path: string, body: unknown, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json', ...headers }, body: JSON.stringify(body) });

    it('signs up and in with every cookie, and out without a body', async () => {
      assert.deepEqual(await (await fetch(`${base}/api/auth/ok`)).json(), { ok: true });
      assert.equal((await post('/api/auth/sign-up/email', { email: 'ann@example.com', password: PASSWORD, name: 'Ann' })).status, 200);
      const signedIn = await post('/api/auth/sign-in/email', { email: 'ann@example.com', password: PASSWORD });
      assert.equal(signedIn.status, 200);
      const cookies = signedIn.headers.getSetCookie().map((line) => line.split(';')[0]!);
      assert.deepEqual(cookies.map((pair) => pair.split('=')[0]).sort(), ['demo.device', 'demo.session_token']);
      const cookie = cookies.join('; ');
      const session = (await (await fetch(`${base}/api/auth/get-session`, { headers: { cookie } })).json()) as { user: { email: string } };
      assert.equal(session.user.email, 'ann@example.com');
      const out = await fetch(`${base}/api/auth/sign-out`, { method: 'POST', headers: { cookie, origin: 'http://localhost:3000' } });
      assert.equal(out.status, 200);
      assert.equal(await (await fetch(`${base}/api/auth/get-session`, { headers: { cookie } })).json(), null);
    });

    it('refuses what a page of another origin sends with a cookie', async () => {
      for (const origin of ['https://evil.example', 'null', 'http://localhost:3000.evil.example', ''])
        for (const path of ['/api/auth/sign-out', '/api/module/anything'])
          assert.equal(
            (await post(path, {}, { cookie: 'demo.session_token=x.y', ...(origin ? { origin } : {}) })).status,
            403,
            `${origin} ${path}`,
          );
    });

    it('counts attempts by the connection, whatever a client says of its address', async () => {
      let last = 0;
      for (let attempt = 0; attempt < 10 && last !== 429; attempt += 1) {
        const answer = await post(
          '/api/auth/sign-in/email',
          { email: 'ann@example.com', password: 'wrong horse 9' },
          { 'x-forwarded-for': `10.0.0.${attempt}`, 'x-accounts-address': `10.1.0.${attempt}` },
        );
        last = answer.status;
        if (last === 429) assert.ok(Number(answer.headers.get('retry-after')) > 0);
      }
      assert.equal(last, 429);
    });

    it('refuses a body that is too large, no JSON, or of another type', async () => {
      const path = '/api/auth/sign-in/email';
      const large = await post(path, { email: 'x'.repeat(900_000), password: PASSWORD }).catch(() => undefined);
      assert.ok(large === undefined || large.status === 413, `answered ${large?.status}`);
      const broken = await fetch(base + path, { method: 'POST', headers: { 'content-type': 'application/json' }, body: '{"email":' });
      assert.equal(broken.status, 400);
      const plain = await fetch(base + path, { method: 'POST', headers: { 'content-type': 'text/plain' }, body: 'hello' });
      assert.ok([400, 415].includes(plain.status));
    });

    it('answers methods, bytes and addresses that no browser would send, and goes on', async () => {
      const heads = [
        'TRACE /api/auth/ok HTTP/1.1',
        'PURGE /api/auth/ok HTTP/1.1',
        'GET /api/auth/ok%00 HTTP/1.1',
        'GET /api/auth/%ff%fe?%ff=%GG HTTP/1.1',
        'GET /api/auth/ok HTTP/1.1\r\nX-Odd: \xff\xfe\x80\r\nCookie: demo.session_token=%ff%; demo.session_token=\xe9',
        'GET /api/module/config HTTP/1.1\r\nX-Forwarded-For: , ,;, \xff\r\nAuthorization: Bearer \xff',
      ];
      for (const head of heads) {
        const answer = await new Promise<string>((resolve, reject) => {
          let text = '';
          const socket = connect(port, '127.0.0.1', () =>
            socket.write(Buffer.from(`${head}\r\nHost: localhost\r\nConnection: close\r\n\r\n`, 'latin1')),
          );
          socket.setTimeout(60_000, () => socket.destroy(new Error(`no answer to ${head}`)));
          // A server may reset the connection behind its answer.
          socket.on('data', (chunk) => (text += chunk)).on('error', (error) => (text === '' ? reject(error) : resolve(text)));
          socket.on('data', () => socket.end());
          socket.on('close', () => resolve(text));
        });
        assert.match(answer, /^HTTP\/1\.1 [24]\d\d /, `${head}: ${answer.slice(0, 100)}`);
      }
      const { status, headers } = await fetch(`${base}/api/module/config`, { method: 'HEAD' });
      assert.deepEqual([status, headers.get('content-type')], [200, 'application/json']);
      assert.deepEqual(await (await fetch(`${base}/api/auth/ok`)).json(), { ok: true });
    });

    it('goes on after a client that vanishes', async () => {
      const socket = connect(port, '127.0.0.1');
      const head = 'POST /api/auth/sign-in/email HTTP/1.1\r\nhost: a\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n';
      await new Promise((resolve) => socket.write(`${head}{"email":`, resolve));
      // The server reads it before what is asked next.
      assert.equal((await fetch(`${base}/api/auth/ok`)).status, 200);
      socket.destroy();
      assert.equal((await fetch(`${base}/api/auth/ok`)).status, 200);
    });
  });
