import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { CircuitBreaker } from '../../../../runtime/hosts/circuit-breaker.js';

function makeCircuit() {
  const clock = { now: 1000 };
  return { clock, circuit: new CircuitBreaker('Model x', () => clock.now) };
}

describe('circuit', () => {
  it('stays closed for two failures and backs off longer after each', () => {
    const { circuit } = makeCircuit();
    assert.equal(circuit.backOffMs, 0);
    circuit.failed('one');
    const first = circuit.backOffMs;
    circuit.failed('two');
    assert.ok(first > 0 && circuit.backOffMs === 2 * first);
    circuit.check();
  });

  it('opens at the third failure within a minute, longer each time, up to 60 s', () => {
    const { circuit, clock } = makeCircuit();
    const opened: number[] = [];
    for (let failures = 1; failures <= 7; failures += 1) {
      circuit.failed('crash');
      if (!circuit.isOpen) continue;
      assert.throws(
        () => circuit.check(),
        (error: Error & { retryAfterS?: number }) => {
          opened.push(error.retryAfterS!);
          return /^Model x failed \d times within 60 s and is tried again in \d+ s\. Last: crash$/.test(error.message);
        },
      );
      clock.now += error60(opened.at(-1)!);
    }
    assert.deepEqual(opened.slice(0, 3), [10, 20, 40]);
    assert.ok(opened.every((seconds) => seconds <= 60));
  });

  it('forgets failures after a quiet minute', () => {
    const { circuit, clock } = makeCircuit();
    circuit.failed('a');
    circuit.failed('b');
    clock.now += 61_000;
    assert.ok(circuit.isQuiet);
    circuit.failed('c');
    circuit.check();
  });
});

const error60 = (seconds: number): number => seconds * 1000 + 1;
