import { M, refused } from '../../support/memory/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** Records that are refused. */
export const BAD: Scenario[] = [
  refused(
    'a uuid that is there',
    { data: 2, uuid: '00000000-0000-4000-8000-00000000000a' },
    409,
    'MemoryExists',
    '00000000-0000-4000-8000-00000000000a',
  ),
  refused('a latitude of 91', { data: 1, latitude: 91, longitude: 0 }, 422, 'latitude', '91'),
  refused('a longitude of 181', { data: 1, latitude: 0, longitude: 181 }, 422, 'longitude', '181'),
  refused('half a place', { data: 1, latitude: 10 }, 422, 'longitude', 'both'),
  refused('a time that is none', { data: 1, timestamp: 'yesterday' }, 422, 'timestamp', 'ISO 8601', 'yesterday'),
  refused('the far future', { data: 1, timestamp: '9999-01-01' }, 422, 'timestamp', 'a hundred years'),
  refused('the far past', { data: 1, timestamp: -1e15 }, 422, 'timestamp'),
  {
    name: 'add refuses a number that JSON does not have',
    method: 'POST',
    path: `${M}/add`,
    headers: { 'content-type': 'application/json' },
    body: '{"data": 1, "latitude": NaN, "longitude": 1}',
    status: 422,
    contains: ['JSON'],
  },
  refused('infinity as a time', { data: 1, timestamp: 1e308 }, 422, 'timestamp'),
  refused('a record of 300 KB', { data: 'x'.repeat(300_000) }, 413, 'RecordTooLarge', '262144'),
  refused('a body of 10 MB', { data: 'x'.repeat(10_000_000) }, 413),
  refused('a type that there is not', { data: 1, data_type: 'smell' }, 422, 'data_type'),
  refused('no data', {}, 422, 'data'),
  refused('a bad uuid', { data: 1, uuid: 'mine' }, 422, 'UUID', 'mine'),
  refused('control characters in names', { data: 1, user_id: 'a\u0001b' }, 422, 'user_id', 'control'),
  refused('half of a surrogate pair', { data: 1, series: '\ud800' }, 422, 'series'),
  refused('a node without a name', { data: { age: 3 }, data_type: 'node' }, 422, 'name'),
  refused('an edge without an end', { data: { from: 'a' }, data_type: 'edge' }, 422, "'to'"),
  refused('an edge whose relation is a number', { data: { from: 'a', to: 'b', relation: 7 }, data_type: 'edge' }, 422, "'relation'"),
  refused('a fact whose object is no text', { data: { subject: 'a', object: {} }, data_type: 'fact' }, 422, "'object'"),
  refused('an edge of negative weight', { data: { from: 'a', to: 'b', weight: -1 }, data_type: 'edge' }, 422, 'weight'),
  refused(
    'a validity that ends before it begins',
    { data: 'a', data_type: 'node', valid_from: '2020-01-02', valid_to: '2020-01-01' },
    422,
    'valid_to',
  ),
  refused('a confidence of 2', { data: 'a', data_type: 'fact', confidence: 2 }, 422, 'confidence'),
  {
    ...refused('what no kind keeps', { data: 'a', data_type: 'node' }, 409, 'MemoryKindOff', 'working_memory'),
    path: `${M}/add?store_name=small`,
  },
  {
    ...refused(
      'a record older than what is kept',
      { data: 1, latitude: 1, longitude: 1, timestamp: '2001-01-01' },
      409,
      'retention_days',
      '2001',
    ),
    path: '/v1/projects/ns/cells/memory/add',
  },
  {
    ...refused('a store that there is not', { data: 1 }, 404, 'MemoryStoreNotFound', 'other, main, small'),
    path: `${M}/add?store_name=nope`,
  },
  { ...refused('a store name outside the rule', { data: 1 }, 422, 'store_name'), path: `${M}/add?store_name=My-Store` },
  { ...refused('a project without memory', { data: 1 }, 404, 'MemoryNotConfigured'), path: '/v1/projects/ns/bare/memory/add' },
  {
    ...refused('a default store that is gone', { data: 1 }, 404, 'default_store', 'gone', 'main'),
    path: '/v1/projects/ns/dangling/memory/add',
  },
  { ...refused('an unknown project', { data: 1 }, 404, 'ns/nope'), path: '/v1/projects/ns/nope/memory/add' },
];
