import assert from 'node:assert/strict';
import { createServer } from 'node:net';
import { afterEach, beforeEach, describe, it } from 'node:test';
import { Outbound } from '../../../../runtime/net/outbound.js';
import { ChatClient } from '../../../../runtime/providers/compat/client.js';
import { createLocalAccel } from '../../../../runtime/providers/local-accel.js';
import type { RunnerSettings, StartRunner } from '../../../../runtime/providers/runners.js';
import { Failure } from '../../../../schemas/errors.js';
import type { ModelConfig } from '../../../../schemas/generated/config/project.js';
import { NEVER, readAll } from '../../../conformance/provider-suite.js';
import { freePort } from '../../../support/ports.js';
import { json, ScriptedOpenAI, say } from '../../../support/scripted-openai.js';

/** Generous, so that a busy machine still gets its answer in time. */
const TIMES = { probeMs: 10_000, rememberMs: 50, cooldownMs: 60_000 };
const SETTINGS = { retry: { attempts: 1 } };
const REQUEST = { messages: [{ role: 'user' as const, content: 'go' }] };
const MODELS = json({ object: 'list', data: [] });

describe('local_accel', () => {
  let outbound: Outbound;
  let hosts: ScriptedOpenAI[];
  let started: RunnerSettings[];
  beforeEach(() => {
    outbound = new Outbound();
    hosts = [];
    started = [];
  });
  afterEach(async () => {
    await outbound.close();
    for (const host of hosts) await host.close();
  });

  const listen = async (port = 0): Promise<ScriptedOpenAI> => {
    const host = await ScriptedOpenAI.start(port);
    host.route('/v1/models', MODELS).always(say('hi'));
    hosts.push(host);
    return host;
  };
  const starter: StartRunner = async (settings) => {
    started.push(settings);
    await listen(settings.port);
  };
  const providerWith = (start: StartRunner | undefined = starter) => createLocalAccel(new ChatClient(outbound, SETTINGS), start, TIMES);
  const modelAt = (accel: ModelConfig['accel'], more: Partial<ModelConfig> = {}): ModelConfig =>
    ({ name: 'fast', provider: 'local_accel', model: 'm', accel, ...more }) as ModelConfig;
  const ask = async (provider: ReturnType<typeof providerWith>, model: ModelConfig): Promise<string> =>
    (await readAll((await provider.open(model, REQUEST, NEVER)).parts)).whole.text;
  const failure = async (work: Promise<unknown>): Promise<Failure> => {
    const error = await work.then(
      () => assert.fail('it did not fail'),
      (thrown: unknown) => thrown,
    );
    assert.ok(error instanceof Failure, `${error}`);
    return error;
  };

  it('uses a runner that answers, and sends it no members of ours', async () => {
    const host = await listen();
    assert.equal(await ask(providerWith(), modelAt({ port: host.port, context_size: 4096 })), 'hi');
    assert.deepEqual(started, []);
    assert.equal((host.seen.at(-1)!.body as { n_ctx?: number }).n_ctx, undefined);
  });

  it('asks /health of a runner without a model list', async () => {
    const host = await ScriptedOpenAI.start();
    hosts.push(host);
    host
      .route('/v1/models', json({}, 404))
      .route('/health', json({ status: 'ok' }))
      .always(say('hi'));
    assert.equal(await ask(providerWith(), modelAt({ port: host.port })), 'hi');
  });

  it('starts ours with the accel settings, once for all who ask', async () => {
    const port = await freePort();
    const provider = providerWith();
    const model = modelAt({ port, context_size: 4096, backend: 'llamacpp' });
    assert.deepEqual(await Promise.all(Array.from({ length: 10 }, () => ask(provider, model))), Array<string>(10).fill('hi'));
    assert.deepEqual(started, [{ port, contextSize: 4096 }]);
    const body = hosts[0]!.seen.at(-1)!.body as { n_ctx?: number; transformers?: object };
    assert.deepEqual([body.n_ctx, body.transformers], [4096, undefined]);
  });

  it('base_url wins over accel.port, and the old spelling of accel counts', async () => {
    const port = await freePort();
    assert.equal(await ask(providerWith(), modelAt({ port: 1 }, { base_url: `http://localhost:${port}/v1` })), 'hi');
    const other = await freePort();
    assert.equal(await ask(providerWith(), modelAt(undefined, { lemonade: { port: other } })), 'hi');
    assert.deepEqual(
      started.map((one) => one.port),
      [port, other],
    );
  });

  it('starts ours again when it is gone', async () => {
    const port = await freePort();
    const provider = providerWith();
    await ask(provider, modelAt({ port }));
    await hosts.pop()!.close();
    assert.equal(await ask(provider, modelAt({ port })), 'hi');
    assert.equal(started.length, 2);
  });

  it('does not start again for a while after a failed start', async () => {
    const port = await freePort();
    let tries = 0;
    const provider = providerWith(async () => {
      tries++;
      throw new Error('secret path of the failure');
    });
    for (let i = 0; i < 3; i++) {
      const error = await failure(ask(provider, modelAt({ port })));
      assert.deepEqual([error.kind, error.code], ['unavailable', 'RunnerStartFailed']);
      assert.ok(!error.message.includes('secret'));
    }
    assert.equal(tries, 1);
    await listen(port);
    assert.equal(await ask(provider, modelAt({ port })), 'hi', 'a runner that comes up meanwhile is used');
  });

  it('a port that is taken meanwhile is named', async () => {
    const provider = providerWith(() => Promise.reject(Object.assign(new Error('x'), { code: 'EADDRINUSE' })));
    assert.match((await failure(ask(provider, modelAt({ port: await freePort() })))).message, /port \d+ is taken/);
  });

  for (const backend of ['onnx', 'transformers'] as const)
    it(`backend ${backend} starts ours, which is told to run the ONNX export`, async () => {
      const model = modelAt({ port: await freePort(), backend }, { transformers: { device: 'cpu' } });
      assert.equal(await ask(providerWith(), model), 'hi');
      const { transformers } = hosts[0]!.seen.at(-1)!.body as { transformers?: object };
      assert.deepEqual(transformers, { device: 'cpu', model_type: 'text' });
    });

  it('a port with something else on it is not used', async () => {
    const page = await ScriptedOpenAI.start();
    hosts.push(page);
    page.always({ headers: { 'content-type': 'text/html' }, steps: [{ send: '<html></html>' }] });
    assert.equal((await failure(ask(providerWith(), modelAt({ port: page.port })))).code, 'PortTaken');
    const raw = createServer((socket) => {
      socket.on('error', () => {});
      socket.end('220 mail\r\n');
    });
    await new Promise<void>((resolve) => raw.listen(0, '127.0.0.1', resolve));
    assert.equal((await failure(ask(providerWith(), modelAt({ port: (raw.address() as { port: number }).port })))).code, 'PortTaken');
    raw.close();
    assert.deepEqual(started, []);
  });

  it('a runner that is silent, elsewhere, or cannot be started is unavailable', async () => {
    const silent = await ScriptedOpenAI.start();
    hosts.push(silent);
    silent.always({ silent: true, steps: ['hang'] });
    const withoutStart = (times: typeof TIMES) => createLocalAccel(new ChatClient(outbound, SETTINGS), undefined, times);
    const hasty = withoutStart({ ...TIMES, probeMs: 200 });
    assert.match((await failure(ask(hasty, modelAt({ port: silent.port })))).message, /within 200 ms/);
    assert.match((await failure(ask(withoutStart(TIMES), modelAt({ port: await freePort() })))).message, /not available/);
  });

  it('one caller that gives up does not end the start for the others', async () => {
    const port = await freePort();
    let go = (): void => {};
    const gate = new Promise<void>((resolve) => {
      go = resolve;
    });
    const provider = providerWith(async (settings) => {
      await gate;
      await starter(settings);
    });
    const controller = new AbortController();
    const leaving = provider.open(modelAt({ port }), REQUEST, controller.signal);
    const staying = ask(provider, modelAt({ port }));
    controller.abort(new Error('gone'));
    await assert.rejects(leaving, /gone/);
    go();
    assert.equal(await staying, 'hi');
  });
});
