import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { defaultThreads } from '../../../../runtime/hosts/memory.js';

describe('threads of an engine', () => {
  for (const [cores, threads] of [
    [1, 1],
    [2, 1],
    [4, 3],
    [64, 8],
  ] as const) {
    it(`are ${threads} on ${cores} cores`, () => assert.equal(defaultThreads(cores), threads));
  }
});
