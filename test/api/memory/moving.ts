import assert from 'node:assert/strict';
import { formOf } from '../../support/dataset-stage.js';
import { read } from '../../support/memory/requests.js';
import type { Scenario } from '../../support/scenario.js';

let exported = '';
const form = (text: string): Partial<Scenario> => formOf([['file', 'memory.jsonl', text]]);
const moving = (name: string, text: () => string, more: Partial<Scenario>): Scenario => ({
  name,
  method: 'POST',
  path: '/v1/projects/ns/p/memory/import?store_name=other',
  headers: () => form(text()).headers as Record<string, string>,
  body: () => form(text()).body,
  ...more,
});

/** Export and import. */
export const MOVING: Scenario[] = [
  {
    name: 'export',
    path: '/v1/projects/ns/p/memory/export',
    json: (_none, answer) => {
      exported = answer.bytes ? Buffer.from(answer.bytes).toString() : answer.text;
      assert.equal(exported.trim().split('\n').length, 15);
    },
  },
  moving('an import with a bad line is refused whole, with its number', () => `${exported}{"data": 1}\n{"data": \n`, {
    status: 422,
    contains: ['Line 17', 'Nothing was imported'],
  }),
  moving('an import with a bad value is refused whole', () => `{"data": 1}\n\n{"data": 2, "latitude": 91, "longitude": 0}\n`, {
    status: 422,
    contains: ['Line 3', 'latitude'],
  }),
  moving('an import with one uuid twice is refused whole', () => exported + exported, { status: 409, contains: ['Line 16'] }),
  moving('an import with an endless line is refused', () => `{"data": 1}\n{"data": "${'x'.repeat(1_100_000)}"}`, {
    status: 413,
    contains: ['Line 2'],
  }),
  read('nothing of them is there', 'stats?store_name=other', (reply) => assert.equal(reply.total_records, 0)),
  moving('import', () => `\uFEFF${exported}`, { json: (reply) => assert.deepEqual([reply.success, reply.imported], [true, 15]) }),
  read('what was imported is what was exported', 'stats?store_name=other', (reply) =>
    assert.deepEqual([reply.total_records, reply.graph.edge_count], [15, 4]),
  ),
  read('and is found', 'graph/shortest-path?store_name=other&from=Ann&to=Cid&by=weight', ({ path }) => assert.equal(path.weight, 10)),
  moving('the same again is refused', () => exported, { status: 409, contains: ['Line 1', 'MemoryExists'] }),
];
