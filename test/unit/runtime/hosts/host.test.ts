import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { after, describe, it } from 'node:test';
import { CircuitBreaker } from '../../../../runtime/hosts/circuit-breaker.js';
import { Host } from '../../../../runtime/hosts/host.js';
import { Supervisor } from '../../../../runtime/hosts/supervisor.js';
import { Failure } from '../../../../schemas/errors.js';
import { until } from '../../../support/until.js';

const ENGINE = new URL('../../../support/hosts/echo-engine.js', import.meta.url);
const never = new AbortController().signal;

const isAlive = (pid: number): boolean => {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
};

function makeHost(more: { pingIntervalMs?: number; engine?: URL } = {}) {
  const events: unknown[] = [];
  const exits: { reason: Failure; expected: boolean }[] = [];
  const host = new Host({
    name: 'model echo',
    engine: ENGINE,
    onEvent: (event) => events.push(event),
    onExit: (reason, expected) => exits.push({ reason, expected }),
    ...more,
  });
  return { host, events, exits };
}

describe('host', () => {
  const { host, events, exits } = makeHost();
  after(() => host.close());

  it('answers calls, binary bodies included', async () => {
    await host.ready;
    const body = { words: ['a', 'ü'], numbers: Int32Array.of(1, -2), nothing: undefined };
    assert.deepEqual(await host.call('echo', body), body);
  });

  it('carries failures with kind, code and fields, and hides nothing behind other errors', async () => {
    await assert.rejects(
      host.call('fail', 7),
      (error) => error instanceof Failure && error.kind === 'invalid' && error.code === 'Told' && error.fields?.body === 7,
    );
    await assert.rejects(host.call('throw', 0), { kind: 'model_failed', message: 'not one of ours' });
  });

  it('gives events in order', async () => {
    await host.call('stream', 100);
    assert.deepEqual(
      events.splice(0),
      Array.from({ length: 100 }, (_, index) => index),
    );
  });

  it('tells the engine when a caller has gone', async () => {
    const control = new AbortController();
    const call = host.call('wait', null, control.signal);
    control.abort(new Error('gone'));
    await assert.rejects(call, { message: 'gone' });
    await until(() => events.includes('aborted'));
  });

  it('bounds the room for new objects', async () => {
    const bytes = await host.call<number>('churn', 5_000_000);
    assert.ok(bytes <= 8 * 2 ** 20, `${bytes} bytes`);
  });

  it('keeps keys of the daemon from the engine', async () => {
    process.env.HOST_TEST_API_KEY = 'canary';
    process.env.CUDA_TEST_TOKEN = 'canary';
    const { host: fresh } = makeHost();
    const names = await fresh.ready.then(() => fresh.call<string[]>('environment', null));
    await fresh.close();
    assert.ok(names.includes('PATH'));
    assert.ok(!names.includes('HOST_TEST_API_KEY') && !names.includes('CUDA_TEST_TOKEN'));
  });

  it('ends in order: the process is gone, and later calls fail', async () => {
    const pid = host.pid!;
    await host.close();
    assert.ok(!isAlive(pid));
    assert.deepEqual(
      exits.map((exit) => exit.expected),
      [true],
    );
    await assert.rejects(host.call('echo', 1), { kind: 'unavailable' });
  });

  for (const signal of ['SIGKILL', 'SIGSEGV', 'SIGABRT']) {
    it(`fails its calls with 503 after ${signal}`, async () => {
      const { host: doomed, exits: ended } = makeHost();
      await doomed.ready;
      const waiting = doomed.call('wait', null);
      const dying = doomed.call('kill', signal);
      for (const call of [waiting, dying])
        await assert.rejects(call, {
          kind: 'unavailable',
          code: 'engine_crashed',
          message: new RegExp(`model echo was ended by ${signal}`),
        });
      assert.equal(ended[0]?.expected, false);
    });
  }

  it('keeps the last words of a host for the log, not for the caller', async () => {
    const { host: doomed, exits: ended } = makeHost();
    await doomed.ready;
    await assert.rejects(
      doomed.call('exit', null),
      (error: Failure) => /exited with code 3/.test(error.message) && !error.message.includes('last words'),
    );
    assert.match(String(ended[0]?.reason.cause), /last words/);
  });

  it('kills a host that gives no sign of life', async () => {
    const { host: stuck } = makeHost({ pingIntervalMs: 30 });
    await stuck.ready;
    await assert.rejects(stuck.call('block', null), { message: /no sign of life/ });
    assert.ok(!isAlive(stuck.pid!));
  });

  it('fails to start with a message where the engine cannot be loaded', async () => {
    const { host: broken } = makeHost({ engine: new URL('./no-such-engine.js', import.meta.url) });
    await assert.rejects(broken.ready, { kind: 'unavailable' });
  });

  it('leaves no process behind when its daemon is killed', async () => {
    const script = `
      import { Host } from ${JSON.stringify(new URL('../../../../runtime/hosts/host.js', import.meta.url).href)};
      const host = new Host({ name: 'x', engine: new URL(${JSON.stringify(ENGINE.href)}), onEvent() {}, onExit() {} });
      await host.ready;
      console.log(host.pid);`;
    const daemon = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(daemon.stdout, 'data');
    const pid = Number(String(line));
    assert.ok(isAlive(pid));
    daemon.kill('SIGKILL');
    await until(() => !isAlive(pid));
  });

  it('is ended with a daemon that exits without waiting for it, even when it is stuck', async () => {
    const script = `import { Host } from ${JSON.stringify(new URL('../../../../runtime/hosts/host.js', import.meta.url).href)};
      const host = new Host({ name: 'x', engine: new URL(${JSON.stringify(ENGINE.href)}), onEvent() {}, onExit() {} });
      await host.ready;
      process.kill(host.pid, 'SIGSTOP');
      console.log(host.pid);
      setTimeout(() => process.exit(1), 50);`;
    const daemon = spawn(process.execPath, ['--input-type=module', '-e', script], { stdio: ['ignore', 'pipe', 'inherit'] });
    const [line] = await once(daemon.stdout, 'data');
    await until(() => !isAlive(Number(String(line))));
  });
});

describe('supervisor', () => {
  function makeSupervisor(open?: (host: Host) => Promise<number>) {
    let clock = 0;
    const circuit = new CircuitBreaker('Model echo', () => clock);
    let opened = 0;
    const supervisor = new Supervisor<number>({
      name: 'model echo',
      engine: ENGINE,
      circuit,
      open: open ?? (async () => ++opened),
      onEvent: () => {},
      onExit: () => {},
    });
    const crash = async (): Promise<void> => {
      const { host } = await supervisor.ready();
      await assert.rejects(host.call('kill', 'SIGKILL'));
    };
    return { supervisor, circuit, crash, pass: (ms: number) => (clock += ms) };
  }

  it('starts a new process after a crash, opened again', async () => {
    const { supervisor, crash } = makeSupervisor();
    const first = await supervisor.ready();
    await crash();
    const second = await supervisor.ready();
    assert.notEqual(second.host.pid, first.host.pid);
    assert.deepEqual([first.opened, second.opened], [1, 2]);
    assert.equal(await second.host.call('echo', 'works'), 'works');
    await supervisor.close();
  });

  it('opens the circuit after three crashes and tries again after the cooldown', async () => {
    const { supervisor, crash, pass } = makeSupervisor();
    for (let round = 0; round < 3; round += 1) await crash();
    await assert.rejects(supervisor.ready(), {
      kind: 'unavailable',
      code: 'circuit_open',
      message: /Model echo failed 3 times.*again in 10 s/,
      retryAfterS: 10,
    });
    pass(10_001);
    const { host } = await supervisor.ready();
    assert.equal(await host.call('echo', 1), 1);
    await supervisor.close();
  });

  it('lets many callers share one start', async () => {
    const { supervisor } = makeSupervisor();
    const lives = await Promise.all(Array.from({ length: 20 }, () => supervisor.ready()));
    assert.equal(new Set(lives.map((life) => life.host.pid)).size, 1);
    await supervisor.close();
  });

  it('gives a failed opening to all who wait, ends the process, and starts afresh', async () => {
    const pids: number[] = [];
    let bad = true;
    const { supervisor } = makeSupervisor(async (host) => {
      pids.push(host.pid!);
      if (bad) throw new Failure('invalid', 'bad file');
      return 5;
    });
    const all = await Promise.allSettled([supervisor.ready(), supervisor.ready()]);
    assert.ok(all.every((one) => one.status === 'rejected' && one.reason.kind === 'invalid'));
    assert.ok(!isAlive(pids[0]!));
    bad = false;
    assert.equal((await supervisor.ready()).opened, 5);
    await supervisor.close();
    assert.ok(pids.every((pid) => !isAlive(pid)));
  });

  it('stops a process that is still opening when it is closed', async () => {
    const { supervisor } = makeSupervisor((host) => host.call('wait', null));
    const ready = supervisor.ready();
    ready.catch(() => {});
    await until(() => supervisor.pid !== undefined);
    await supervisor.close();
    await assert.rejects(ready, { kind: 'unavailable' });
    await assert.rejects(supervisor.ready(), { kind: 'unavailable' });
  });
});

describe('abort signals', () => {
  it('reject a call at once when they are aborted before it', async () => {
    const { host } = makeHost();
    await host.ready;
    await assert.rejects(host.call('echo', 1, AbortSignal.abort(new Error('early'))), { message: 'early' });
    assert.equal(await host.call('echo', 2, never), 2);
    await host.close();
  });
});
