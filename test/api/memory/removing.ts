import assert from 'node:assert/strict';
import { add, dataOf, ids, M, read } from '../../support/memory/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** What is forgotten, deleted, cleared and pruned. */
export const REMOVING: Scenario[] = [
  { name: 'forget nobody', method: 'POST', path: '/v1/projects/ns/p/memory/forget', body: {}, status: 400, contains: ['user_id'] },
  {
    name: 'forget a user',
    method: 'POST',
    path: `${M}/forget`,
    body: { user_id: 'ann' },
    json: (reply) => assert.equal(reply.forgotten, 1),
  },
  read('it is gone', () => `${M}/${ids['a text']}`, undefined, { status: 404 }),
  {
    name: 'forget a session nobody had',
    method: 'POST',
    path: `${M}/forget`,
    body: { session_id: 'none' },
    json: (reply) => assert.equal(reply.forgotten, 0),
  },
  {
    name: 'delete',
    method: 'DELETE',
    path: () => `${M}/${ids['a place']}`,
    json: (reply) => {
      assert.deepEqual([reply.uuid, reply.deleted_from], [ids['a place'], ['working_memory', 'timeseries', 'spatial']]);
    },
  },
  { name: 'delete again', method: 'DELETE', path: () => `${M}/${ids['a place']}`, status: 404 },
  { name: 'delete what is no uuid', method: 'DELETE', path: `${M}/x`, status: 400, contains: ['BadUuid'] },
  read('the nearest is another', 'places?latitude=46.9&longitude=7.4', (reply) => assert.deepEqual(dataOf(reply), ['Suva'])),
  { name: 'clear what there is not', method: 'DELETE', path: `${M}/clear/attic`, status: 400, contains: ['attic', 'working_memory'] },
  {
    name: 'clear the links',
    method: 'DELETE',
    path: `${M}/clear/linkage`,
    json: (reply) => assert.deepEqual(reply.cleared, { linkage: 0 }),
  },
  {
    name: 'clear the graph',
    method: 'DELETE',
    path: '/v1/projects/ns/p/memory/clear/graph',
    json: (reply) => assert.deepEqual(reply.cleared, { graph: { nodes_deleted: 3, edges_deleted: 4 } }),
  },
  {
    name: 'clear working memory',
    method: 'DELETE',
    path: `${M}/clear/working_memory`,
    json: (reply) => assert.deepEqual(reply.cleared, { working_memory: true }),
  },
  read('the series stay', 'series/points?series=heat', (reply) => assert.deepEqual(dataOf(reply), [21, 22, 24])),
  {
    name: 'prune',
    method: 'POST',
    path: '/v1/projects/ns/p/memory/prune',
    json: (reply) => assert.deepEqual([reply.pruned_count, reply.remaining_count], [0, 6]),
  },
  {
    name: 'clear all',
    method: 'DELETE',
    path: `${M}/clear/all`,
    json: ({ cleared }) => {
      assert.deepEqual([cleared.working_memory, cleared.timeseries, cleared.spatial], [true, 6, 1]);
    },
  },
  read('nothing is left', 'stats', (reply) => assert.deepEqual([reply.total_records, reply.total_size_bytes], [0, 0])),
  add('and it goes on', { data: 'anew' }),
  read('from the beginning', 'working', (reply) => assert.deepEqual(dataOf(reply), ['anew'])),
];
