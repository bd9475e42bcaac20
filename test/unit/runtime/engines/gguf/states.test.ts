import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { LoadPlan } from '../../../../../runtime/engines/gguf/plan.js';
import { stateTag } from '../../../../../runtime/engines/gguf/states.js';

const plan = { cacheTypeK: 'f16', cacheTypeV: 'f16', flashAttention: true, slots: 8, unifiedKv: false } as LoadPlan;
const file = import.meta.filename;

describe('the tag of KV states', () => {
  const tag = stateTag(file, plan, 'v1', 1);

  it('has 16 hex digits, the same for any shape of the buffer', () => {
    assert.match(tag, /^[0-9a-f]{16}$/);
    assert.equal(stateTag(file, { ...plan, slots: 4, unifiedKv: true }, 'v1', 1), tag);
  });

  const others: [name: string, tag: string][] = [
    ['streams that the states are bound to', stateTag(file, plan, 'v1', 8)],
    ['another engine', stateTag(file, plan, 'v2', 1)],
    ['another type of values', stateTag(file, { ...plan, cacheTypeV: 'q8_0' }, 'v1', 1)],
    ['another file', stateTag(process.execPath, plan, 'v1', 1)],
  ];
  for (const [name, other] of others) it(`tells ${name}`, () => assert.notEqual(other, tag));
});
