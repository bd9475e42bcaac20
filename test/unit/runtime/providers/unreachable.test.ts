import assert from 'node:assert/strict';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, createServer as createSocketServer, type Server } from 'node:net';
import { after, before, describe, it } from 'node:test';
import { Outbound, type OutboundLimits, type OutboundOptions } from '../../../../runtime/net/outbound.js';
import { faultOf } from '../../../../runtime/net/reply.js';
import { ChatClient } from '../../../../runtime/providers/compat/client.js';
import { createCompatApi } from '../../../../runtime/providers/compat-api.js';
import { Failure, STATUS_OF_KIND } from '../../../../schemas/errors.js';
import { selfSigned } from '../../../support/certificate.js';
import { delta, frames, type Scene, ScriptedOpenAI } from '../../../support/scripted-openai.js';

/** What somebody reads whose model is at a host that does not answer. */
interface Row {
  readonly name: string;
  /** The model's `base_url`. */
  readonly at: () => string;
  readonly options?: () => OutboundOptions;
  /** Waits that are to end; all others are long. */
  readonly limits?: Partial<OutboundLimits>;
  /** What the host does once it is asked. */
  readonly scene?: Scene;
  readonly status: 400 | 500 | 503 | 504;
  readonly says: RegExp;
}

const CORRECT = 'correct base_url in project\\.yaml';
const HEL = frames(delta({ content: 'Hel' }));
const named = (answer: () => Promise<readonly string[]>) => (): OutboundOptions => ({ resolve: answer });
const coded = (code: string) => Object.assign(new Error(code), { code });
const certificate = selfSigned();
const expired = selfSigned(['localhost'], -1);

describe('the host of a model that cannot be reached', () => {
  let host: ScriptedOpenAI;
  const servers: Record<string, Server> = {};
  const portOf = (name: string): number => (servers[name]!.address() as AddressInfo).port;
  const serve = (_request: IncomingMessage, response: ServerResponse): void => void response.end('{}');
  before(async () => {
    host = await ScriptedOpenAI.start();
    servers.signed = createTlsServer(certificate, serve);
    servers.expired = createTlsServer(expired, serve);
    servers.silent = createSocketServer(() => undefined);
    servers.mail = createSocketServer((socket) => socket.end('220 mail.example.org ESMTP\r\n'));
    for (const server of Object.values(servers)) await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  });
  after(async () => {
    await host.close();
    for (const server of Object.values(servers)) server.close();
  });

  const rows: Row[] = [
    {
      name: 'nobody listens',
      at: () => 'http://127.0.0.1:9/v1',
      status: 503,
      says: new RegExp(
        `^Model 'm': runtime not available at http://127\\.0\\.0\\.1:\\d+/v1: No connection to \\S+ \\(ECONNREFUSED\\)\\. Start it, or ${CORRECT}\\.$`,
      ),
    },
    {
      name: 'no machine has its name',
      at: () => 'http://nowhere.example.org/v1',
      options: named(() => Promise.reject(coded('ENOTFOUND'))),
      status: 503,
      says: new RegExp(`\\(ENOTFOUND\\)\\. No machine has this name: ${CORRECT}\\.$`),
    },
    {
      name: 'nobody knows the name now',
      at: () => 'http://nowhere.example.org/v1',
      options: named(() => Promise.reject(coded('EAI_AGAIN'))),
      status: 503,
      says: new RegExp(`\\(EAI_AGAIN\\)\\. The name service did not answer: connect this machine to its network, or ${CORRECT}\\.$`),
    },
    {
      name: 'the connection does not come about in time',
      at: () => 'http://slow.example.org/v1',
      options: () => ({ resolve: () => new Promise(() => undefined), connectMs: 200 }),
      status: 503,
      says: new RegExp(`No connection to \\S+ in time\\. Switch its machine on, open the firewall between, or ${CORRECT}\\.$`),
    },
    {
      name: 'the handshake does not come about in time',
      at: () => `https://127.0.0.1:${portOf('silent')}/v1`,
      options: () => ({ connectMs: 200 }),
      status: 503,
      says: /No connection to \S+ in time\. Switch its machine on/,
    },
    {
      name: 'its certificate is signed by nobody',
      at: () => `https://localhost:${portOf('signed')}/v1`,
      status: 503,
      says: new RegExp(
        `No secure connection to \\S+ \\(DEPTH_ZERO_SELF_SIGNED_CERT\\)\\. Nobody who is trusted here .* set NODE_EXTRA_CA_CERTS of the daemon .*, or ${CORRECT}\\.$`,
      ),
    },
    {
      name: 'its certificate has expired',
      at: () => `https://localhost:${portOf('expired')}/v1`,
      options: () => ({ tls: { ca: expired.cert } }),
      status: 503,
      says: /\(CERT_HAS_EXPIRED\)\. Its certificate has expired: whoever runs it must renew it\.$/,
    },
    {
      name: 'its certificate is one of another name',
      at: () => `https://127.0.0.1:${portOf('signed')}/v1`,
      options: () => ({ tls: { ca: certificate.cert } }),
      status: 503,
      says: new RegExp(`Its certificate is one of another name: ${CORRECT}\\.$`),
    },
    {
      name: 'it speaks no TLS',
      at: () => host.origin.replace('http', 'https'),
      status: 503,
      says: /It speaks no TLS at this port: write http:\/\/ in base_url in project\.yaml\.$/,
    },
    {
      name: 'it speaks TLS alone',
      at: () => `http://127.0.0.1:${portOf('signed')}/v1`,
      status: 503,
      // Some servers close the connection, others send what is no HTTP.
      says: /(?:another protocol, such as https: .* c|does not speak HTTP\. C)orrect base_url in project\.yaml\.$/,
    },
    {
      name: 'it is no host of models',
      at: () => `http://127.0.0.1:${portOf('mail')}/v1`,
      status: 503,
      says: /does not speak HTTP\. Correct base_url in project\.yaml\.$/,
    },
    {
      name: 'it breaks before it answers',
      at: () => host.origin,
      scene: { silent: true, steps: ['reset'] },
      status: 503,
      says: /broke[^.]*\. It ended, or/,
    },
    {
      name: 'it does not answer',
      at: () => host.origin,
      limits: { headersMs: 200 },
      scene: { silent: true, steps: ['hang'] },
      status: 504,
      says: /did not answer in time\. Try again: it may be loading its model, or answering others\.$/,
    },
    {
      name: 'it breaks in the middle of its answer',
      at: () => host.origin,
      scene: { steps: [...HEL, 'reset'] },
      status: 500,
      says: /^Model 'm': The connection to \S+ broke[^.]*\. Try again; if it happens again, the log of the host says why\.$/,
    },
    {
      name: 'it ends in the middle of its answer',
      at: () => host.origin,
      scene: { steps: HEL },
      status: 500,
      says: /broke off in the middle of its answer\. Try again; /,
    },
    {
      name: 'it falls silent in the middle of its answer',
      at: () => host.origin,
      limits: { idleMs: 200 },
      scene: { steps: [...HEL, 'hang'] },
      status: 504,
      says: /stopped sending in the middle of its answer\. Try again; /,
    },
    {
      name: 'it is a page for people',
      at: () => host.origin,
      scene: { headers: { 'content-type': 'text/html' }, steps: [{ send: '<html>' }] },
      status: 500,
      says: /answered with text\/html, which is not the chat API: check base_url in project\.yaml\.$/,
    },
    { name: 'it says nothing', at: () => host.origin, scene: { steps: [] }, status: 500, says: /sent an empty answer\. Try again; / },
  ];

  for (const { name, at, options, limits = {}, scene, status, says } of rows)
    it(`${name}: the message says what to do`, async () => {
      const outbound = new Outbound(options?.());
      if (scene) host.script(scene);
      const client = new ChatClient(outbound, { retry: { attempts: 1 }, limits });
      const model = { name: 'm', provider: 'compat_api' as const, model: 'x', base_url: at() };
      const answer = async (): Promise<void> => {
        const { parts } = await createCompatApi(client).open(model, { messages: [{ role: 'user', content: 'a' }] }, AbortSignal.any([]));
        for await (const _part of parts);
      };
      await assert.rejects(answer, (failure: unknown) => {
        assert.ok(failure instanceof Failure, String(failure));
        assert.match(failure.message, says);
        assert.equal(STATUS_OF_KIND[failure.kind], status, failure.kind);
        return true;
      });
      await outbound.close();
    });

  it('tells of several addresses what one of them said, and of none that they were too slow', () => {
    const faults = (...codes: string[]) => faultOf(new AggregateError(codes.map(coded)), 'h', AbortSignal.any([])) as Failure;
    const late = 'ERR_SOCKET_CONNECTION_TIMEOUT';
    assert.deepEqual(
      [faults(late, late), faults(late, 'ETIMEDOUT'), faults(late, 'ECONNREFUSED'), faults('UNABLE_TO_VERIFY_LEAF_SIGNATURE')].map(
        ({ code, message }) => [code, message],
      ),
      [
        ['ConnectTimeout', 'No connection to h in time.'],
        ['ConnectTimeout', 'No connection to h in time.'],
        ['ConnectFailed', 'No connection to h (ECONNREFUSED).'],
        ['ConnectFailed', 'No secure connection to h (UNABLE_TO_VERIFY_LEAF_SIGNATURE).'],
      ],
    );
  });
});
