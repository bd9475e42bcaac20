import assert from 'node:assert/strict';
import { AT, add, at, dataOf, ids, M, minutesAgo, read } from '../../support/memory/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** Records of every kind. */
export const ADDING: Scenario[] = [
  add(
    'a text',
    { data: 'The kettle is on', user_id: 'ann', session_id: 's1', tags: ['kitchen'] },
    {
      json: (reply) => {
        ids['a text'] = reply.uuid;
        assert.match(reply.uuid, /^[0-9a-f-]{36}$/);
        assert.deepEqual([reply.success, reply.store, reply.component_id], [true, 'main', 'working_memory/1']);
        assert.match(reply.message, /working_memory, timeseries/);
      },
    },
  ),
  read(
    'a record is read back',
    () => `${M}/${ids['a text']}`,
    ({ memory }) => {
      assert.deepEqual(
        [memory.data, memory.text, memory.user_id, memory.session_id, memory.tags],
        ['The kettle is on', 'The kettle is on', 'ann', 's1', ['kitchen']],
      );
      assert.deepEqual(memory.stored_in, ['working_memory', 'timeseries']);
      assert.deepEqual([memory.latitude, memory.valid_from, memory.source], [null, null, null]);
    },
  ),
  ...[21, 22, 24].map((degrees, i) =>
    add(`degrees ${degrees}`, { data: degrees, data_type: 'telemetry', series: 'heat', timestamp: at(i * 30) }),
  ),
  add('an object of numbers', {
    data: { in: 20, out: 5, note: 'x' },
    data_type: 'telemetry',
    series: 'both',
    timestamp: AT.getTime() / 1_000,
  }),
  add('a place', { data: 'Bern', latitude: 46.948, longitude: 7.447, tags: ['city', 'ch', 'lake, none'] }),
  add('a place across the date line', { data: 'Suva', latitude: -18.14, longitude: 178.44, metadata: { fiji: true } }),
  ...['Ann', 'Bob', 'Cid'].map((name) => add(`node ${name}`, { data: { name, born: 1990 }, data_type: 'node' })),
  add('Ann knows Bob', { data: { from: 'Ann', to: 'Bob', relation: 'knows', weight: 5 }, data_type: 'edge' }),
  add('Bob knows Cid', { data: { from: 'Bob', to: 'Cid', relation: 'knows', weight: 5 }, data_type: 'edge' }),
  add('Ann works with Cid', { data: { from: 'Ann', to: 'Cid', relation: 'works_with', weight: 20 }, data_type: 'edge' }),
  add('Cid knew Ann', {
    data: { from: 'Cid', to: 'Ann', relation: 'knew' },
    data_type: 'edge',
    valid_from: '2019-01-01',
    valid_to: '2020-01-01',
  }),
  add(
    'a uuid of its own',
    { data: 1, uuid: '00000000-0000-4000-8000-00000000000A', user_id: 'bob' },
    { contains: ['00000000-0000-4000-8000-00000000000a'] },
  ),
];

const CELLS = '/v1/projects/ns/cells/memory';

/** Stores of other kinds, and what they take. */
export const KINDS: Scenario[] = [
  ...[1, 2, 3].map((n) => add(`small ${n}`, { data: n }, {}, '?store_name=small')),
  read('a cap keeps the newest', 'working?store_name=small', (reply) => assert.deepEqual(dataOf(reply), [3, 2])),
  {
    name: 'a geohash store takes a place',
    method: 'POST',
    path: `${CELLS}/add`,
    body: { data: 'pole', latitude: 90, longitude: 0, timestamp: minutesAgo(1) },
  },
  read(
    'and finds it from beside the pole',
    () => `${CELLS}/places?latitude=89.9&longitude=180&radius_m=20000`,
    (reply) => assert.deepEqual(dataOf(reply), ['pole']),
  ),
  {
    name: 'and takes nothing without a place',
    method: 'POST',
    path: `${CELLS}/add`,
    body: { data: 'nowhere' },
    status: 409,
    contains: ['spatial'],
  },
];
