import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Outbound, type OutboundRequest } from '../../../../runtime/net/outbound.js';
import { Failure } from '../../../../schemas/errors.js';
import { json, ScriptedOpenAI } from '../../../support/scripted-openai.js';

describe('Outbound', () => {
  let host: ScriptedOpenAI;
  let outbound: Outbound;
  beforeEach(async () => {
    host = await ScriptedOpenAI.start();
    outbound = new Outbound();
  });
  afterEach(async () => {
    await outbound.close();
    await host.close();
  });

  const ask = (more: Partial<OutboundRequest> = {}) => outbound.request({ url: `${host.origin}/x`, policy: 'operator', ...more });
  const failsWith = async (code: string, work: Promise<unknown>): Promise<Failure> => {
    const error = await work.then(
      () => assert.fail(`no ${code}`),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Failure, `${error}`);
    assert.equal(error.code, code);
    return error;
  };

  it('brings status, headers and body', async () => {
    host.script(json({ a: 1 }, 418, { 'x-mine': 'yes' }));
    const reply = await ask({ method: 'POST', body: '{"b":2}', headers: { 'content-type': 'application/json' } });
    assert.deepEqual([reply.status, reply.header('x-mine'), JSON.parse(await reply.text())], [418, 'yes', { a: 1 }]);
    assert.deepEqual(host.seen[0]!.body, { b: 2 });
  });

  it('refuses a loopback host of a request, and opens no socket', async () => {
    for (const name of [`127.0.0.1:${host.port}`, `[::ffff:127.0.0.1]:${host.port}`, `2130706433:${host.port}`, `localhost:${host.port}`])
      await failsWith('AddressRefused', outbound.request({ url: `http://${name}/`, policy: 'request' }));
    assert.equal(host.opened, 0);
  });

  describe('with a resolver', () => {
    const named = async (
      answers: readonly string[][],
      policy: 'operator' | 'request',
    ): Promise<{ asked: () => number; send: () => Promise<number> }> => {
      await outbound.close();
      let asked = 0;
      outbound = new Outbound({ resolve: async () => answers[Math.min(asked++, answers.length - 1)]! });
      const url = `http://models.example.org:${host.port}/x`;
      return {
        asked: () => asked,
        send: async () => {
          const reply = await outbound.request({ url, policy });
          await reply.text();
          return reply.status;
        },
      };
    };

    it('connects to the address that was checked, and asks once per connection', async () => {
      host.always(json({}));
      const { asked, send } = await named([['127.0.0.1'], ['169.254.169.254']], 'operator');
      assert.equal(await send(), 200);
      assert.equal(asked(), 1);
      assert.equal(host.seen[0]!.headers.host, `models.example.org:${host.port}`);
    });

    it('a name that rebinds to a metadata address is refused at the next connection', async () => {
      host.script({ headers: { connection: 'close' }, steps: [] });
      const { send } = await named([['127.0.0.1'], ['169.254.169.254']], 'operator');
      await send();
      await host.seen[0]!.over;
      await failsWith('AddressRefused', send());
      assert.equal(host.opened, 1);
    });

    for (const answer of [['127.0.0.1'], ['10.0.0.1'], ['::ffff:127.0.0.1'], ['8.8.8.8', '127.0.0.1'], ['169.254.169.254'], ['fe80::1']])
      it(`a public name that resolves to ${answer} is refused in a request`, async () => {
        const { send } = await named([answer], 'request');
        await failsWith('AddressRefused', send());
        assert.equal(host.opened, 0);
      });

    it('a socket opened for an operator never serves a request', async () => {
      host.always(json({}));
      const { send } = await named([['127.0.0.1']], 'operator');
      await send();
      await failsWith('AddressRefused', outbound.request({ url: `http://models.example.org:${host.port}/x`, policy: 'request' }));
    });

    it('the next address is tried when the first does not listen', async () => {
      host.always(json({}));
      const { send } = await named([['127.0.0.9', '127.0.0.1']], 'operator');
      assert.equal(await send(), 200);
    });

    it('a name without addresses, and one that cannot be resolved, are connection failures', async () => {
      const { send } = await named([[]], 'operator');
      await failsWith('ConnectFailed', send());
      await outbound.close();
      outbound = new Outbound({ resolve: () => Promise.reject(Object.assign(new Error('no'), { code: 'ENOTFOUND' })) });
      await failsWith('ConnectFailed', ask({ url: 'http://nowhere.example.org/' }));
    });
  });

  describe('redirects', () => {
    const to = (location: string, status = 302) => ({ status, headers: { location }, steps: [] });

    it('are replies unless asked for', async () => {
      host.script(to('/y'));
      assert.equal((await ask()).status, 302);
    });

    it('on the same origin keep the credentials', async () => {
      host.script(to('/y'), json({}));
      assert.equal((await ask({ redirects: 2, headers: { authorization: 'Bearer k' } })).status, 200);
      assert.deepEqual([host.seen[1]!.path, host.seen[1]!.headers.authorization], ['/y', 'Bearer k']);
    });

    it('to another origin get the stricter policy', async () => {
      const other = await ScriptedOpenAI.start();
      host.script(to(`${other.origin}/steal`));
      await failsWith('AddressRefused', ask({ redirects: 2, headers: { authorization: 'Bearer k' } }));
      assert.equal(other.opened, 0);
      await other.close();
    });

    it('after a POST become a GET without a body, and 307 keeps both', async () => {
      host.script(to('/y', 303), json({}), to('/z', 307), json({}));
      await (await ask({ method: 'POST', body: 'b', redirects: 1 })).text();
      await (await ask({ method: 'POST', body: 'b', redirects: 1 })).text();
      assert.deepEqual(
        host.seen.map(({ method, body }) => `${method} ${body}`),
        ['POST b', 'GET ', 'POST b', 'POST b'],
      );
    });

    it('are limited', async () => {
      host.always(to('/again'));
      await failsWith('RedirectRefused', ask({ redirects: 3 }));
      assert.equal(host.seen.length, 4);
    });

    it('to another scheme or a broken URL are refused', async () => {
      host.script(to('file:///etc/passwd'), to('http://[oops'));
      await failsWith('AddressRefused', ask({ redirects: 1 }));
      await failsWith('RedirectRefused', ask({ redirects: 1 }));
    });
  });

  describe('limits', () => {
    it('waiting for the headers', async () => {
      host.script({ silent: true, steps: ['hang'] });
      assert.equal((await failsWith('ResponseTimeout', ask({ limits: { headersMs: 100 } }))).kind, 'timed_out');
    });
    it('silence in the body', async () => {
      host.script({ steps: [{ send: 'x' }, 'hang'] });
      await failsWith('IdleTimeout', (await ask({ limits: { idleMs: 100 } })).text());
    });
    it('the whole exchange, however busy', async () => {
      host.script({ steps: [{ endless: 'x' }] });
      const whole = ask({ limits: { totalMs: 1_000 } }).then((reply) => reply.text());
      await failsWith('TotalTimeout', whole);
      assert.equal(await host.seen[0]!.over, false);
    });
    it('the size of the body', async () => {
      host.script({ steps: [{ endless: 'x'.repeat(1000) }] });
      await failsWith('ResponseTooLarge', (await ask({ limits: { responseBytes: 5000 } })).text());
      assert.equal(await host.seen[0]!.over, false);
    });
    it('the size of the headers', async () => {
      host.script({ headers: Object.fromEntries(Array.from({ length: 40 }, (_value, i) => [`x-${i}`, 'y'.repeat(1000)])), steps: [] });
      await failsWith('BadResponse', ask());
    });
    it('a connect that is not accepted', async () => {
      await failsWith('ConnectFailed', ask({ url: 'http://127.0.0.1:9/' }));
    });
    it('text is cut where the reader wants', async () => {
      host.script({ steps: [{ endless: 'abc' }] });
      assert.equal(await (await ask()).text(4), 'abca');
      assert.equal(await host.seen[0]!.over, false);
    });
  });

  it('an abort before, while waiting and while reading gives its reason and closes the socket', async () => {
    host.always({ steps: [{ endless: 'x' }] });
    await assert.rejects(ask({ signal: AbortSignal.abort(new Error('early')) }), /early/);
    const controller = new AbortController();
    const reply = await ask({ signal: controller.signal });
    const reading = reply.text();
    controller.abort(new Error('later'));
    await assert.rejects(reading, /later/);
    assert.equal(await host.seen.at(-1)!.over, false);
  });

  it('https to a host that speaks http fails as a connection', async () => {
    assert.match((await failsWith('ConnectFailed', ask({ url: `https://127.0.0.1:${host.port}/` }))).message, /secure/);
  });

  it('a peer that does not speak HTTP is named as such', async () => {
    const server = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('SSH-2.0-hello\r\n');
    });
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number };
    await failsWith('BadResponse', ask({ url: `http://127.0.0.1:${port}/` }));
    server.close();
  });

  it('close ends what is under way', async () => {
    host.always({ silent: true, steps: ['hang'] });
    const pending = assert.rejects(ask());
    await outbound.close();
    await pending;
  });
});
