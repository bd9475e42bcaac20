import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { CircuitBreaker } from '../../../../runtime/hosts/circuit-breaker.js';
import { HostClient } from '../../../../runtime/hosts/client.js';

const ENGINE = new URL('../../../support/hosts/serial-engine.js', import.meta.url);
const LIMIT_MS = 2000;
const never = new AbortController().signal;

describe('a host that is asked one question after the other', () => {
  let client: HostClient<string>;
  const ask = (tookMs: number, signal = never) => client.call<string>('ask', tookMs, signal);

  before(async () => {
    const parts = { name: 'reader', engine: ENGINE, circuit: new CircuitBreaker('reader'), body: null, callLimitMs: LIMIT_MS, atOnce: 1 };
    ({ client } = await HostClient.open<string>(parts, never));
  });
  after(() => client.close());

  it('answers a queue that takes longer than one answer may', async () => {
    const { pid } = client;
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask(LIMIT_MS * 0.2)));
    assert.deepEqual(answers, Array(6).fill('answer'));
    assert.equal(client.pid, pid);
  });

  it('ends when one answer takes too long, which fails nobody who waits', async () => {
    const stuck = ask(60_000);
    const waits = ask(0);
    await assert.rejects(stuck, { kind: 'timed_out', message: 'reader did not answer within 2 s.' });
    assert.equal(await waits, 'answer');
  });

  it('forgets who left while waiting', async () => {
    const control = new AbortController();
    const first = ask(100);
    const left = ask(60_000, control.signal);
    const third = ask(0);
    control.abort();
    await assert.rejects(left, { name: 'AbortError' });
    assert.deepEqual(await Promise.all([first, third]), ['answer', 'answer']);
  });
});
