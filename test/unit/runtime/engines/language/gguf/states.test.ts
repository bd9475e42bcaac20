import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadPlan } from '../../../../../../runtime/engines/language/gguf/plan.js';
import { stateTag } from '../../../../../../runtime/engines/language/gguf/states.js';

const plan = { cacheTypeK: 'f16', cacheTypeV: 'f16', flashAttention: true, slots: 8, unifiedKv: false } as LoadPlan;
const body = (more: Partial<LoadPlan> = {}, isLongRope = false) => ({ path: import.meta.filename, plan: { ...plan, ...more }, isLongRope });

describe('the tag of KV states', () => {
  const tag = stateTag(body(), 'v1', 1);

  it('has 16 hex digits, the same for any shape of the buffer', () => {
    assert.match(tag, /^[0-9a-f]{16}$/);
    assert.equal(stateTag(body({ slots: 4, unifiedKv: true }), 'v1', 1), tag);
  });

  const others: [name: string, tag: string][] = [
    ['streams that the states are bound to', stateTag(body(), 'v1', 8)],
    ['another engine', stateTag(body(), 'v2', 1)],
    ['another type of values', stateTag(body({ cacheTypeV: 'q8_0' }), 'v1', 1)],
    ['another file', stateTag({ ...body(), path: process.execPath }, 'v1', 1)],
  ];
  it('is bound to the context where keys are turned by its length', () => {
    const long = (contextSize: number): string => stateTag(body({ contextSize }, true), 'v1', 1);
    assert.equal(long(4096), long(4096));
    assert.notEqual(long(4096), long(16_384));
  });

  for (const [name, other] of others) it(`tells ${name}`, () => assert.notEqual(other, tag));
});
