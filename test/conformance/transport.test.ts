import assert from 'node:assert/strict';
import { once } from 'node:events';
import { closeSync } from 'node:fs';
import { Agent, request } from 'node:http';
import { connect, type Socket } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';
import { createTransport, dispatch, type Listener, type SocketPeer } from '../../gateway/http/index.js';
import { uwsTransport } from '../../gateway/http/uws.js';
import { loadCore } from '../../native/loader.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';

/** Committed size of the disconnect storm; `DISCONNECTS=10000` runs the full one. */
const DISCONNECTS = Number(process.env.DISCONNECTS ?? 1_000);
const LIMIT_BYTES = 2 * 1024 * 1024;
/** Longer than every limit of these tests and of uWebSockets.js itself. */
const PATIENCE_MS = 120_000;
const LIMITS = { connections: 200, socketPayloadBytes: 64 * 1024 };
/** For the tests that wait for a limit to strike; a busy machine would break them elsewhere. */
const SHORT = { headerTimeoutMs: 1_000, bodyTimeoutMs: 1_000, idleTimeoutMs: 2_000, stallTimeoutMs: 1_000 };

/** What the endpoints do, seen from the test. */
class Scene {
  streamsOpen = 0;
  /** Requests to `/late` that have begun. */
  late = 0;
  /** Requests to `/held` that wait for their end. */
  held = 0;
  peer: SocketPeer | undefined;
  closedWith: number | undefined;
}

const usage = { prompt_tokens: 1, completion_tokens: 2, total_tokens: 3 };
const common = { summary: '', tag: 'test' };

async function* ticks(scene: Scene, everyMs: number, size: number): AsyncGenerator<string> {
  scene.streamsOpen += 1;
  try {
    for (let index = 0; ; index += 1) {
      await sleep(everyMs);
      yield `data: ${index} ${'x'.repeat(size)}\n\n`;
    }
  } finally {
    scene.streamsOpen -= 1;
  }
}

const endpoints: Endpoint<Scene>[] = [
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/quick/{name}',
    id: 'quick',
    handler: (_, { params }) => ({ json: { name: params.name } }),
  }),
  endpoint({ ...common, access: 'users', method: 'GET', path: '/huge', id: 'huge', handler: () => ({ bytes: 'h'.repeat(3_000_000) }) }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/late',
    id: 'late',
    handler: async (scene) => {
      scene.late += 1;
      await sleep(150);
      return { json: { late: true } };
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/held',
    id: 'held',
    handler: async (scene, { signal }) => {
      scene.held += 1;
      if (!signal.aborted) await once(signal, 'abort');
      scene.held -= 1;
      return {};
    },
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'POST',
    path: '/echo',
    id: 'echo',
    body: 'common#Usage',
    handler: (_, { body }) => ({ json: body }),
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/ticks',
    id: 'ticks',
    handler: (scene) => ({ events: ticks(scene, 2, 10) }),
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/flood',
    id: 'flood',
    handler: (scene) => ({ events: ticks(scene, 0, 50_000) }),
  }),
  endpoint({
    ...common,
    access: 'users',
    method: 'GET',
    path: '/burst',
    id: 'burst',
    handler: () => ({
      events: (async function* () {
        for (let index = 0; index < 2_000; index += 1) yield `data: ${index} ${'y'.repeat(2_000)}\n\n`;
      })(),
    }),
  }),
];

async function eventually(condition: () => boolean | Promise<boolean>, what: string): Promise<void> {
  const deadline = Date.now() + PATIENCE_MS;
  while (!(await condition())) {
    assert.ok(Date.now() < deadline, what);
    await sleep(10);
  }
}

for (const name of ['uws', 'node'] as const) {
  describe(`transport ${name}`, () => {
    const scene = new Scene();
    let listener: Listener;
    let hasty: Listener;
    let port: number;
    before(async () => {
      setLogLevel('error');
      const application = dispatch({
        endpoints,
        context: scene,
        access: { bindHost: '127.0.0.1' },
        sockets: [
          {
            access: 'users',
            path: '/socket/{room}',
            open: (context) => ({
              open: (peer) => {
                context.peer = peer;
              },
              message: (content) => {
                context.peer!.send(content);
              },
              closed: (code) => {
                context.closedWith = code;
              },
            }),
          },
        ],
      });
      listener = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application, limits: LIMITS });
      hasty = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application, limits: { ...LIMITS, ...SHORT } });
      port = listener.port;
    });
    after(() => Promise.all([listener.drain(100), hasty.drain(100)]));

    const url = (path: string): string => `http://127.0.0.1:${port}${path}`;

    async function raw(text: string | Buffer, to = port): Promise<Socket> {
      const socket = connect(to, '127.0.0.1');
      socket.on('error', () => socket.destroy());
      await once(socket, 'connect');
      socket.write(text);
      return socket;
    }

    /** All that a connection brings until it closes, or until `enough` says so. */
    async function collected(socket: Socket, enough: (text: string) => boolean = () => false): Promise<string> {
      let text = '';
      socket.on('data', (chunk: Buffer) => {
        text += chunk.toString('latin1');
        if (enough(text)) socket.destroy();
      });
      await once(socket, 'close', { signal: AbortSignal.timeout(PATIENCE_MS) });
      return text;
    }

    const post = (path: string, body: string | Uint8Array, headers: Record<string, string> = {}): Promise<Response> =>
      fetch(url(path), { method: 'POST', body, headers: { 'content-type': 'application/json', ...headers } });

    /** Whether a request is answered: the server may still have to notice that others have left, and take no more connections until then. */
    const isServed = (): Promise<boolean> =>
      fetch(url('/quick/alive')).then(
        ({ status }) => status === 200,
        () => false,
      );

    it('answers whole, HEAD and OPTIONS requests', async () => {
      const answer = await fetch(url('/quick/a%20b'), { headers: { 'x-request-id': 'mine-1' } });
      assert.deepEqual(await answer.json(), { name: 'a b' });
      assert.equal(answer.headers.get('x-request-id'), 'mine-1');
      const head = await fetch(url('/quick/ab/'), { method: 'HEAD' });
      assert.equal(head.headers.get('content-length'), String(JSON.stringify({ name: 'ab' }).length));
      assert.equal(await head.text(), '');
      const options = await fetch(url('/echo'), { method: 'OPTIONS' });
      assert.equal(options.status, 204);
      assert.equal(options.headers.get('allow'), 'POST, OPTIONS');
    });

    it('serves what follows a HEAD request on its connection', async () => {
      const agent = new Agent({ keepAlive: true, maxSockets: 1 });
      const sockets = new Set<unknown>();
      const ask = (method: string, path: string): Promise<string> =>
        new Promise((resolve, reject) => {
          const one = request(url(path), { method, agent }).on('error', reject);
          one.on('socket', (socket) => sockets.add(socket));
          one.on('response', (answer) =>
            answer
              .setEncoding('utf8')
              .resume()
              .on('end', () => resolve(answer.headers['content-length'] ?? '')),
          );
          one.end();
        });
      for (const path of ['/quick/a', '/huge', '/quick/b']) assert.equal(await ask('HEAD', path), await ask('GET', path));
      assert.equal(sockets.size, 1);
      agent.destroy();
    });

    it('answers a body that is larger than the socket buffers', async () => {
      assert.equal((await (await fetch(url('/huge'))).text()).length, 3_000_000);
      assert.equal((await fetch(url('/huge'), { method: 'HEAD' })).headers.get('content-length'), '3000000');
    });

    it('streams everything, in order, to a reader that lags', async () => {
      const answer = await fetch(url('/burst'));
      assert.equal(answer.headers.get('content-type'), 'text/event-stream; charset=utf-8');
      let text = '';
      for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
        text += chunk;
        if (text.length < 400_000) await sleep(2);
      }
      const numbers = text.split('\n\n').flatMap((frame) => /^data: (\d+)/.exec(frame)?.[1] ?? []);
      assert.deepEqual(
        numbers,
        Array.from({ length: 2_000 }, (_, index) => String(index)),
      );
    });

    it('echoes a body sent in slices, and one sent chunked', async () => {
      const body = JSON.stringify(usage);
      const socket = await raw(
        `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n`,
      );
      const answer = collected(socket, (text) => text.includes('}'));
      for (const character of body) {
        socket.write(character);
        await sleep(1);
      }
      assert.ok((await answer).endsWith(body));
      const pieces = [...body].map((character) => `1\r\n${character}\r\n`).join('');
      const chunked = await raw(
        `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n${pieces}0\r\n\r\n`,
      );
      assert.match(await collected(chunked, (text) => text.includes('}')), /"total_tokens":3/);
    });

    it('refuses a body over the limit by its declared length, before it comes', async () => {
      const socket = await raw(
        `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${LIMIT_BYTES + 1}\r\n\r\n`,
      );
      assert.match(await collected(socket, (text) => text.includes('request_id')), /^HTTP\/1.1 413 /);
      const sent = await post('/echo', Buffer.alloc(5_000_000, 32));
      assert.equal(sent.status, 413);
      assert.match(((await sent.json()) as { detail: string }).detail, /2097152 bytes .* 5000000/);
    });

    it('refuses a chunked body as soon as it is over the limit', async () => {
      const socket = await raw(
        'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n',
      );
      const answer = collected(socket, (text) => text.includes('request_id'));
      const piece = Buffer.alloc(100_000, 32);
      for (let sent = 0; sent <= LIMIT_BYTES && socket.writable; sent += piece.length) {
        socket.write('186a0\r\n');
        socket.write(piece);
        socket.write('\r\n');
        if (socket.writableNeedDrain) await Promise.race([once(socket, 'drain'), once(socket, 'close')]);
      }
      assert.match(await answer, /^HTTP\/1.1 413 /);
    });

    it('refuses text/plain, form and untyped bodies, foreign hosts and foreign origins', async () => {
      for (const type of ['text/plain', 'application/x-www-form-urlencoded', 'application/json; charset=latin1']) {
        assert.equal((await post('/echo', '{}', { 'content-type': type })).status, 415, type);
      }
      assert.match(
        await collected(await raw('GET /quick/a HTTP/1.1\r\nHost: evil.example\r\n\r\n'), (text) => text.includes('}')),
        /^HTTP\/1.1 403 /,
      );
      assert.match(await collected(await raw('GET /quick/a HTTP/1.1\r\n\r\n')), /^HTTP\/1.1 400 /);
      assert.equal((await post('/echo', JSON.stringify(usage), { origin: 'https://evil.example' })).status, 403);
      const local = await post('/echo', JSON.stringify(usage), { origin: 'http://localhost:5173' });
      assert.equal(local.status, 200);
      assert.equal(local.headers.get('access-control-allow-origin'), 'http://localhost:5173');
    });

    it('answers bad UTF-8 and broken JSON with 422', async () => {
      assert.equal((await post('/echo', Buffer.from([0x22, 0xff, 0xfe, 0x22]))).status, 422);
      const broken = (await (await post('/echo', '{"a": 1,}')).json()) as { detail: string };
      assert.match(broken.detail, /position 8/);
    });

    it('serves 50 clients at once', async () => {
      const answers = await Promise.all(Array.from({ length: 50 }, (_, index) => fetch(url(index % 2 ? '/late' : `/quick/${index}`))));
      assert.ok(answers.every((answer) => answer.status === 200));
      await Promise.all(answers.map((answer) => answer.text()));
    });

    it('answers pipelined requests in order', async () => {
      const socket = await raw(['a', 'b', 'c'].map((part) => `GET /quick/${part} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
      const text = await collected(socket, (so) => so.includes('"c"}'));
      assert.deepEqual(
        [...text.matchAll(/"name":"(\w)"/g)].map((match) => match[1]),
        ['a', 'b', 'c'],
      );
    });

    it('refuses huge and countless headers', async () => {
      const huge = await raw(`GET /quick/a HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'a'.repeat(40_000)}\r\n\r\n`);
      assert.match(await collected(huge), /^HTTP\/1.1 431 /);
      const fits = await raw(`GET /quick/a HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'a'.repeat(12_000)}\r\n\r\n`);
      assert.match(await collected(fits, (text) => text.includes('}')), /^HTTP\/1.1 200 /);
    });

    const chunkedForms = [
      { form: 'an extension of a chunk', chunks: (body: string) => `${body.length.toString(16)};a=b;c="d e"\r\n${body}\r\n0;x\r\n\r\n` },
      { form: 'a trailer', chunks: (body: string) => `${body.length.toString(16)}\r\n${body}\r\n0\r\nX-Sum: 1\r\n\r\n` },
      {
        form: 'two chunks in upper case',
        chunks: (body: string) =>
          `A\r\n${body.slice(0, 10)}\r\n${(body.length - 10).toString(16).toUpperCase()}\r\n${body.slice(10)}\r\n0\r\n\r\n`,
      },
    ];
    const CHUNKED = 'Host: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n';
    for (const { form, chunks } of chunkedForms) {
      it(`reads a chunked body with ${form}`, async () => {
        const socket = await raw(`POST /echo HTTP/1.1\r\n${CHUNKED}${chunks(JSON.stringify(usage))}`);
        const text = await collected(socket, (so) => so.includes('}'));
        assert.match(text, /^HTTP\/1.1 200 [\s\S]*"total_tokens":3/);
      });
    }

    // By RFC 9112 the lines after the last chunk are trailers; a parser that takes them for a request lets one client speak in the name of another behind the same proxy.
    const heads = [
      'POST /echo',
      // Bodies that nobody reads.
      'GET /quick/chunked',
      'POST /nowhere',
      'GET /late',
      'GET /burst',
      'GET /huge',
      'HEAD /quick/chunked',
    ];
    for (const isLater of [false, true])
      it(`takes no trailer for a request, ${isLater ? 'later on a connection' : 'at its beginning'}`, async () => {
        const smuggle = async (head: string, isSplit: boolean, readsLate = false): Promise<void> => {
          const socket = await raw(isLater ? 'GET /quick/first HTTP/1.1\r\nHost: localhost\r\n\r\n' : '');
          let text = '';
          socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
          if (isLater) await eventually(() => text.includes('"first"'), 'the first answer comes');
          const rest = 'Host: localhost\r\n\r\n';
          socket.write(`${head} HTTP/1.1\r\n${CHUNKED}3\r\n{} \r\n0\r\nX:GET /quick/smuggled HTTP/1.1\r\n${isSplit ? '' : rest}`);
          if (readsLate) socket.pause();
          if (isSplit) await sleep(250);
          if (readsLate) socket.resume();
          // Reads what it did not before it speaks again: at the end of its answer the connection was busy writing.
          if (readsLate) await eventually(() => isWhole(text) || socket.closed, 'the answer is complete');
          if (isSplit && !socket.closed) socket.write(rest);
          await sleep(300);
          socket.destroy();
          assert.doesNotMatch(text, /smuggled/, `${head}, ${isSplit ? 'in two packets' : 'in one'}`);
        };
        /** Whether the last answer has come to its end, in chunks or with its length. */
        const isWhole = (text: string): boolean => text.endsWith('0\r\n\r\n') || text.length > 3_000_000 + 500;
        const late = ['GET /burst', 'GET /huge'].map((head) => smuggle(head, true, true));
        await Promise.all([...late, ...heads.flatMap((head) => [smuggle(head, false), smuggle(head, true)])]);
      });

    for (const second of ['4', '5', '']) {
      it(`refuses a second Content-Length (${JSON.stringify(second)}) and serves nothing behind it`, async () => {
        const request = `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 4\r\nContent-Length: ${second}\r\n\r\nnull`;
        assert.match(await collected(await raw(request)), /^HTTP\/1.1 400 /);
        const text = await collected(await raw(`${request}GET /quick/behind HTTP/1.1\r\nHost: localhost\r\n\r\n`));
        assert.doesNotMatch(text, /behind|200/);
      });
    }

    it('never mixes up a pipelined request with one whose answer takes longer', async () => {
      const socket = await raw(['/late', '/quick/b'].map((path) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`).join(''));
      const text = await collected(socket, (so) => so.includes('"b"}'));
      assert.match(text, /"late":true[\s\S]*"name":"b"/);
    });

    it('refuses contradictory and broken framing', async () => {
      for (const lines of [
        'Content-Length: 4\r\nTransfer-Encoding: chunked',
        'Content-Length: -4',
        'Content-Length: 4\r\nContent-Length: 5',
        'Content-Length: 4x',
      ]) {
        const socket = await raw(`POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n${lines}\r\n\r\nabcd`);
        assert.match(await collected(socket, (text) => text.includes('\r\n\r\n')), /^HTTP\/1.1 4\d\d /, lines);
      }
    });

    it('drops clients that are slow with headers, with the body, or say nothing', async () => {
      const starts = [
        'GET /quick/a HTTP/1.1\r\nHost: localhost\r\n',
        'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000\r\n\r\n',
        '',
      ];
      await Promise.all(
        starts.map(async (start, index) => {
          const socket = await raw(start, hasty.port);
          const trickle = setInterval(() => index < 2 && socket.write(index === 0 ? 'X-A: b\r\n' : ' '), 200);
          // What trickles in behind the end comes back as a reset.
          await collected(socket)
            .catch((error: NodeJS.ErrnoException) => assert.ok(['ECONNRESET', 'EPIPE'].includes(error.code!), String(error)))
            .finally(() => clearInterval(trickle));
        }),
      );
    });

    it('drops a stream whose reader takes nothing, and frees its source', async () => {
      const socket = await raw('GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n', hasty.port);
      socket.pause();
      await eventually(() => scene.streamsOpen === 1, 'the stream begins');
      await eventually(() => scene.streamsOpen === 0, 'the stream is dropped');
      socket.destroy();
    });

    it('stops a stream and aborts a running request when the client goes', async () => {
      const stream = await raw('GET /ticks HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await once(stream, 'data');
      const held = await raw('GET /held HTTP/1.1\r\nHost: localhost\r\n\r\n');
      await eventually(() => scene.held === 1, 'the request begins');
      stream.destroy();
      held.destroy();
      await eventually(() => scene.streamsOpen === 0 && scene.held === 0, 'both end');
    });

    it('takes no more connections than allowed', async () => {
      const open = await Promise.all(Array.from({ length: LIMITS.connections + 20 }, () => raw('').catch(() => undefined)));
      await eventually(
        () => open.filter((socket) => socket === undefined || socket.destroyed || socket.readableEnded).length >= 20,
        'the rest is closed',
      );
      for (const socket of open) socket?.destroy();
      await eventually(() => open.every((socket) => socket?.destroyed ?? true), 'all are closed');
      await eventually(isServed, 'a new connection is served');
    });

    it('carries WebSocket text and bytes, and ends too large messages', async () => {
      const socket = new WebSocketClient(port, '/socket/a');
      await socket.opened;
      socket.send(1, Buffer.from('hello'));
      assert.deepEqual(await socket.next(), { opcode: 1, payload: Buffer.from('hello') });
      socket.send(2, Buffer.from([0, 1, 255]));
      assert.deepEqual(await socket.next(), { opcode: 2, payload: Buffer.from([0, 1, 255]) });
      socket.send(2, Buffer.alloc(LIMITS.socketPayloadBytes + 1));
      await eventually(() => scene.closedWith !== undefined, 'the socket is closed');
      assert.equal(scene.peer!.send('late'), false);
      socket.end();
    });

    it('refuses WebSockets of foreign pages, foreign hosts and unknown paths', async () => {
      const ask = (path: string, host: string, origin: string): Promise<string> =>
        raw(
          `GET ${path} HTTP/1.1\r\nHost: ${host}\r\nOrigin: ${origin}\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
        ).then((socket) => collected(socket, (text) => text.includes('\r\n\r\n')));
      assert.match(await ask('/socket/a', 'localhost', 'https://evil.example'), /^HTTP\/1.1 403 /);
      assert.match(await ask('/socket/a', 'evil.example', 'http://localhost'), /^HTTP\/1.1 403 /);
      assert.match(await ask('/nowhere', 'localhost', 'http://localhost'), /^HTTP\/1.1 404 /);
      assert.match(await ask('/socket/a', 'localhost', 'http://localhost'), /^HTTP\/1.1 101 /);
    });

    it(`survives ${DISCONNECTS} clients that leave at random points`, async () => {
      const body = JSON.stringify(usage);
      const requests = [
        'GET /quick/a HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'GET /late HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'GET /ticks HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'GET /flood HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'GET /huge HTTP/1.1\r\nHost: localhost\r\n\r\n',
        'GET /nowhere HTTP/1.1\r\nHost: localhost\r\n\r\n',
        `POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`,
        'POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 9000000\r\n\r\nabc',
      ];
      let left = DISCONNECTS;
      const client = async (): Promise<void> => {
        while (left > 0) {
          left -= 1;
          const request = requests[Math.floor(Math.random() * requests.length)]!;
          const cut = Math.random() < 0.4 ? Math.floor(Math.random() * request.length) : request.length;
          const socket = await raw(request.slice(0, cut));
          if (Math.random() < 0.7) await sleep(Math.random() * 12);
          if (Math.random() < 0.5) socket.resetAndDestroy();
          else socket.destroy();
        }
      };
      await Promise.all(Array.from({ length: 32 }, client));
      await eventually(() => scene.streamsOpen === 0, 'every stream is freed');
      await eventually(isServed, 'a new connection is served');
    });
  });

  describe(`drain of ${name}`, () => {
    const start = async (): Promise<{ scene: Scene; listener: Listener; base: string }> => {
      const scene = new Scene();
      const application = dispatch({ endpoints, context: scene, access: { bindHost: '127.0.0.1' } });
      const listener = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application });
      return { scene, listener, base: `http://127.0.0.1:${listener.port}` };
    };

    it('lets a running request end and takes no new connection', async () => {
      const { scene, listener, base } = await start();
      const late = fetch(`${base}/late`);
      await eventually(() => scene.late === 1, 'the request begins');
      const drained = listener.drain(5_000);
      assert.equal((await late).status, 200);
      await drained;
      await assert.rejects(fetch(`${base}/quick/a`));
    });

    it('answers each connection that it has taken', { skip: process.platform !== 'linux' }, async () => {
      // The turns of the event loop between the bytes of a request and the drain decide who has the connection by then.
      for (let turns = 0; turns < 8; turns++) {
        const { listener } = await start();
        // What has not been taken waits in this one, as in that of a daemon that takes over.
        const kept = loadCore().duplicateConnection(listener.descriptor);
        const client = connect(listener.port, '127.0.0.1');
        const end = new Promise<string>((resolve) => {
          let text = '';
          client.on('data', (chunk) => (text += String(chunk)));
          client.once('error', (error) => resolve(error.message));
          client.once('close', () => resolve(text.split('\r\n')[0]!));
        });
        await once(client, 'connect');
        client.write('GET /quick/a HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n');
        for (let turn = 0; turn < turns; turn++) await new Promise((resolve) => setImmediate(resolve));
        await listener.drain(2_000);
        const said = await Promise.race([end, sleep(100, 'waits')]);
        assert.ok(['waits', 'HTTP/1.1 200 OK'].includes(said), `after ${turns} turns: "${said}"`);
        client.destroy();
        closeSync(kept);
      }
    });

    it('ends endless streams at the deadline', async () => {
      const { scene, listener, base } = await start();
      const answer = await fetch(`${base}/ticks`);
      await listener.drain(100);
      await answer.text().catch(() => undefined);
      await eventually(() => scene.streamsOpen === 0, 'the stream is freed');
    });

    it('lets WebSockets say goodbye, and closes them', async () => {
      let closedWith: number | undefined;
      let peer: SocketPeer;
      const socket = {
        path: '/socket',
        access: 'users' as const,
        open: () => ({
          open: (opened: SocketPeer) => {
            peer = opened;
          },
          message: () => undefined,
          stopping: () => peer.send('goodbye'),
          closed: (code: number) => {
            closedWith = code;
          },
        }),
      };
      const application = dispatch({ endpoints: [], context: {}, access: { bindHost: '127.0.0.1' }, sockets: [socket] });
      const listener = await createTransport(name).listen({ host: '127.0.0.1', port: 0, application });
      const client = new WebSocketClient(listener.port, '/socket');
      await client.opened;
      const drained = listener.drain(5_000);
      assert.deepEqual(await client.next(), { opcode: 1, payload: Buffer.from('goodbye') });
      const { opcode, payload } = await client.next();
      assert.deepEqual([opcode, payload.readUInt16BE()], [8, 1001]);
      client.end();
      await drained;
      await eventually(() => closedWith !== undefined, 'the listener is told');
    });

    it('says that a port is in use', async () => {
      const { scene, listener } = await start();
      const application = dispatch({ endpoints, context: scene, access: { bindHost: '127.0.0.1' } });
      await assert.rejects(createTransport(name).listen({ host: '127.0.0.1', port: listener.port, application }), { code: 'PortInUse' });
      await listener.drain(100);
    });
  });
}

/** A WebSocket client made of a raw socket, which can break rules that a library would keep. */
class WebSocketClient {
  readonly opened: Promise<void>;
  readonly #socket: Socket;
  #received = Buffer.alloc(0);

  constructor(port: number, path: string) {
    this.#socket = connect(port, '127.0.0.1');
    this.#socket.on('error', () => this.#socket.destroy());
    this.#socket.write(
      `GET ${path} HTTP/1.1\r\nHost: localhost\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\nSec-WebSocket-Key: AAAAAAAAAAAAAAAAAAAAAA==\r\n\r\n`,
    );
    this.opened = this.#head();
  }

  async #head(): Promise<void> {
    while (!this.#received.includes('\r\n\r\n')) await this.#more();
    const end = this.#received.indexOf('\r\n\r\n') + 4;
    assert.match(this.#received.subarray(0, end).toString(), /^HTTP\/1.1 101 /);
    this.#received = this.#received.subarray(end);
  }

  async #more(): Promise<void> {
    const [chunk] = (await once(this.#socket, 'data')) as [Buffer];
    this.#received = Buffer.concat([this.#received, chunk]);
  }

  /** Sends one unfragmented frame with the mask 0. */
  send(opcode: number, payload: Buffer): void {
    const length = payload.length < 126 ? Buffer.from([0x80 | payload.length]) : Buffer.alloc(9, 0x80 | 127);
    if (length.length === 9) length.writeBigUInt64BE(BigInt(payload.length), 1);
    this.#socket.write(Buffer.concat([Buffer.from([0x80 | opcode]), length, Buffer.alloc(4), payload]));
  }

  /** The next short frame. */
  async next(): Promise<{ opcode: number; payload: Buffer }> {
    while (this.#received.length < 2 || this.#received.length < 2 + this.#received[1]!) await this.#more();
    const length = this.#received[1]!;
    const frame = { opcode: this.#received[0]! & 15, payload: this.#received.subarray(2, 2 + length) };
    this.#received = this.#received.subarray(2 + length);
    return frame;
  }

  end(): void {
    this.#socket.destroy();
  }
}

describe('transport uws where connections cannot be looked at before it has them', () => {
  let listener: Listener;
  const application = dispatch({ endpoints, context: new Scene(), access: { bindHost: '127.0.0.1' } });
  before(async () => {
    setLogLevel('error');
    listener = await uwsTransport(false).listen({ host: '127.0.0.1', port: 0, application });
  });
  after(() => listener.drain(100));

  it('answers, and takes no trailer for a request', async () => {
    assert.equal((await fetch(`http://127.0.0.1:${listener.port}/quick/a`)).status, 200);
    const body = 'Host: localhost\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n\r\n3\r\n{} \r\n0\r\n';
    const socket = connect(listener.port, '127.0.0.1');
    socket.on('error', () => socket.destroy());
    let text = '';
    socket.on('data', (chunk: Buffer) => (text += chunk.toString('latin1')));
    socket.write(`POST /echo HTTP/1.1\r\n${body}X:GET /quick/smuggled HTTP/1.1\r\n`);
    await sleep(250);
    if (!socket.closed) socket.write('Host: localhost\r\n\r\n');
    await eventually(() => text !== '', 'an answer comes');
    await sleep(250);
    socket.destroy();
    assert.match(text, /^HTTP\/1.1 4\d\d /);
    assert.doesNotMatch(text, /smuggled/);
  });

  it('says that a port is in use', () =>
    assert.rejects(uwsTransport(false).listen({ host: '127.0.0.1', port: listener.port, application }), { code: 'PortInUse' }));
});
