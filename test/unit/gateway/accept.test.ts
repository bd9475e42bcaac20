import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { negotiateType } from '../../../gateway/http/call.js';
import { Failure } from '../../../schemas/errors.js';

const TYPES = ['application/json', 'text/csv', 'application/x-other'] as const;

describe('the type that an Accept header likes best', () => {
  const cases: [accept: string | undefined, type: (typeof TYPES)[number]][] = [
    [undefined, 'application/json'],
    ['', 'application/json'],
    ['*/*', 'application/json'],
    ['text/csv', 'text/csv'],
    ['TEXT/CSV; charset=utf-8', 'text/csv'],
    ['text/*, application/json;q=0.9', 'text/csv'],
    ['text/csv;q=0.5, application/x-other;q=0.6', 'application/x-other'],
    ['application/json;q=0, */*', 'text/csv'],
    ['*/*;q=0.1, text/csv;q=0.2', 'text/csv'],
    ['application/*', 'application/json'],
    ['nonsense,, ;q=1, text/csv', 'text/csv'],
  ];
  for (const [accept, type] of cases) it(String(accept), () => assert.equal(negotiateType(accept, TYPES), type));

  for (const accept of ['image/png', 'text/csv;q=0', 'text/csv;q=5', '*/*;q=0', 'text/csv;q=x'])
    it(`${accept} likes none`, () => {
      assert.throws(
        () => negotiateType(accept, TYPES),
        (error) => error instanceof Failure && error.status === 406 && error.message.includes('text/csv'),
      );
    });
});
