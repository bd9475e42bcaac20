import assert from 'node:assert/strict';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { memoryEndpoints } from '../../gateway/core/memory.js';
import { memoryReadEndpoints } from '../../gateway/core/memory-reads.js';
import { setLogLevel } from '../../runtime/base/log.js';
import { OpenMemories } from '../../runtime/memory/memories.js';
import type { Mind } from '../../runtime/memory/mind.js';
import { Projects } from '../../runtime/projects/projects.js';
import { openStore } from '../../runtime/store/store.js';
import type { Endpoint } from '../../schemas/endpoint.js';
import { formOf, writeProject } from '../support/dataset-stage.js';
import { mindOver } from '../support/memory/stage.js';
import { type Scenario, scenarios } from '../support/scenario.js';

setLogLevel('error');
const dataDir = mkdtempSync(join(tmpdir(), 'quern-api-memory-'));
const HEAD = 'version: v1\nruntime: {models: []}\n';
const ALL = '{working_memory: {}, timeseries: {}, spatial: {}, graph: {}, name: ';
writeProject(
  dataDir,
  'ns',
  'p',
  `${HEAD}memory: {default_store: main, stores: [${ALL}other}, ${ALL}main}, {name: small, working_memory: {max_records: 2}, graph: {enabled: false}}]}\n`,
);
writeProject(dataDir, 'ns', 'cells', `${HEAD}memory: {stores: [{name: cells, spatial: {index_type: geohash}}]}\n`);
writeProject(dataDir, 'ns', 'bare', HEAD);
writeProject(dataDir, 'ns', 'dangling', `${HEAD}memory: {default_store: gone, stores: [{name: main, graph: {}}]}\n`);

const M = '/v1/projects/ns/p/memory';
const ids: Record<string, string> = {};
const add = (name: string, body: object, more: Partial<Scenario> = {}, query = ''): Scenario => ({
  name,
  method: 'POST',
  path: `${M}/add${query}`,
  body,
  json: (reply) => {
    ids[name] = reply.uuid;
  },
  ...more,
});
const read = (name: string, path: string | (() => string), json: Scenario['json'], more: Partial<Scenario> = {}): Scenario => ({
  name,
  path: typeof path === 'string' && !path.startsWith('/') ? `${M}/${path}` : path,
  ...(json ? { json } : {}),
  ...more,
});
const refused = (name: string, body: object, status: number, ...contains: string[]): Scenario => ({
  name: `add refuses ${name}`,
  method: 'POST',
  path: `${M}/add`,
  body,
  status,
  contains,
});
const refusedRead = (path: string, status: number, ...contains: string[]): Scenario => ({
  name: `${path} is refused`,
  path: `${M}/${path}`,
  status,
  contains,
});
// biome-ignore lint/suspicious/noExplicitAny: a test looks into answers of every shape
const dataOf = (reply: any): unknown[] => reply.results.map((one: { data: unknown }) => one.data);
const minutesAgo = (minutes: number): string => new Date(Date.now() - minutes * 60_000).toISOString();
const AT = new Date(Math.floor(Date.now() / 3_600_000) * 3_600_000 - 7_200_000);
const at = (seconds: number): string => new Date(AT.getTime() + seconds * 1_000).toISOString();

const ADDING: Scenario[] = [
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
  add('a place', { data: 'Bern', latitude: 46.948, longitude: 7.447, tags: ['city', 'ch'] }),
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

const BAD: Scenario[] = [
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

const READING: Scenario[] = [
  read('query: by user', '/v1/projects/ns/p/memory/query?user_id=ann', (reply) => {
    assert.deepEqual([dataOf(reply), reply.total_count, reply.error], [['The kettle is on'], 1, null]);
  }),
  read('query: around a place, with the distance', 'query?latitude=46.95&longitude=7.44&radius_m=1000', (reply) => {
    assert.deepEqual(dataOf(reply), ['Bern']);
    assert.ok(Math.abs(reply.results[0].distance_m - 577) < 5, String(reply.results[0].distance_m));
  }),
  read('query: by time, the newest first', `query?start_time=${at(0)}&end_time=${at(60)}&data_types=telemetry`, (reply) =>
    assert.deepEqual(dataOf(reply).slice(0, 2), [24, 22]),
  ),
  read('query: by time, with the graph', `query?start_time=${minutesAgo(5)}&limit=1000`, (reply) => {
    const types = new Set(reply.results.map((one: { data_type: string }) => one.data_type));
    assert.ok(types.has('node') && types.has('edge') && types.has('text'), [...types].join(' '));
  }),
  read('query: by tags', 'query?tags=city,ch', (reply) => assert.deepEqual(dataOf(reply), ['Bern'])),
  read('query: a limit', 'query?limit=2', (reply) => assert.equal(reply.results.length, 2)),
  read('context: what came lately, and the graph', '/v1/projects/ns/p/memory/context', (reply) => {
    assert.ok(reply.working_memory.length >= 4);
    assert.equal(reply.graph.length, 6);
    assert.deepEqual([reply.success, reply.error], [true, null]);
  }),
  read('context: parts left out', 'context?include_graph=false&include_working_memory=false', (reply) =>
    assert.deepEqual([reply.graph, reply.working_memory], [[], []]),
  ),
  read('working memory of a session', '/v1/projects/ns/p/memory/working?session_id=s1', (reply) =>
    assert.deepEqual(dataOf(reply), ['The kettle is on']),
  ),
  read('the names of series', '/v1/projects/ns/p/memory/series', (reply) => assert.deepEqual(reply.series, ['both', 'default', 'heat'])),
  read('points in their order', '/v1/projects/ns/p/memory/series/points?series=heat', (reply) =>
    assert.deepEqual(dataOf(reply), [21, 22, 24]),
  ),
  read('the last point', 'series/points?series=heat&order=desc&limit=1', (reply) => assert.deepEqual(dataOf(reply), [24])),
  read('points as of a moment', `series/points?series=heat&as_of=${at(30)}`, (reply) => assert.deepEqual(dataOf(reply), [21, 22])),
  read('buckets of a minute', '/v1/projects/ns/p/memory/series/buckets?series=heat&every_seconds=60', ({ buckets }) => {
    const [first, second] = buckets;
    assert.deepEqual(first, { from: at(0), count: 2, mean: 21.5, min: 21, max: 22, sum: 43, first: 21, last: 22 });
    assert.deepEqual([second.count, second.mean, buckets.length], [1, 24, 2]);
  }),
  read('buckets of a member', 'series/buckets?series=both&field=out', ({ buckets }) =>
    assert.deepEqual([buckets.length, buckets[0].sum], [1, 5]),
  ),
  read('buckets of a text', 'series/buckets?series=both&field=note', ({ buckets }) =>
    assert.deepEqual([buckets[0].mean, buckets[0].last], [null, 'x']),
  ),
  read('the nearest places', '/v1/projects/ns/p/memory/places?latitude=-18&longitude=-179', (reply) =>
    assert.deepEqual(dataOf(reply), ['Suva', 'Bern']),
  ),
  read('a box over the date line', 'places?south=-20&north=-10&west=170&east=-170', (reply) => assert.deepEqual(dataOf(reply), ['Suva'])),
  read('the neighbourhood of a node', '/v1/projects/ns/p/memory/graph/neighbourhood?node=Ann', (reply) => {
    assert.deepEqual(
      reply.nodes.map((one: { name: string; depth: number }) => [one.name, one.depth]),
      [
        ['Ann', 0],
        ['Cid', 1],
        ['Bob', 1],
      ],
    );
    assert.equal(reply.nodes[0].memory.data.born, 1990);
    assert.equal(reply.truncated, false);
  }),
  read('the neighbourhood as of a moment', 'graph/neighbourhood?node=Ann&as_of=2019-06-01', (reply) => {
    assert.deepEqual(dataOf({ results: reply.edges }), [{ from: 'Cid', to: 'Ann', relation: 'knew' }]);
  }),
  read('one relation, one direction', 'graph/neighbourhood?node=Ann&depth=3&relation=knows&direction=in', (reply) =>
    assert.equal(reply.nodes.length, 1),
  ),
  read('ways between two nodes', '/v1/projects/ns/p/memory/graph/paths?from=Ann&to=Cid', (reply) =>
    assert.deepEqual(
      reply.paths.map((one: { nodes: string[] }) => one.nodes),
      [
        ['Ann', 'Cid'],
        ['Ann', 'Bob', 'Cid'],
      ],
    ),
  ),
  read('the way of the fewest edges', '/v1/projects/ns/p/memory/graph/shortest-path?from=Ann&to=Cid', ({ path }) =>
    assert.deepEqual([path.length, path.weight], [1, 20]),
  ),
  read('the way of the least weight', 'graph/shortest-path?from=Ann&to=Cid&by=weight', ({ path }) =>
    assert.deepEqual([path.nodes, path.weight], [['Ann', 'Bob', 'Cid'], 10]),
  ),
  read('no way', 'graph/shortest-path?from=Cid&to=Ann&direction=out', ({ path }) => assert.equal(path, null)),
  read('/v1/projects/ns/p/memory/stats', 'stats', (reply) => {
    assert.deepEqual([reply.graph, reply.spatial, reply.error], [{ node_count: 3, edge_count: 4 }, { record_count: 2 }, null]);
    assert.deepEqual([reply.working_memory.total_records, reply.timeseries.record_count, reply.total_records], [8, 8, 15]);
    assert.ok(reply.linkage.total_links === 8 && reply.total_size_bytes > 1_000 && reply.store_path.endsWith('/state'));
  }),
  read('stats of a store with kinds off', 'stats?store_name=small', (reply) =>
    assert.deepEqual([reply.graph, reply.timeseries, reply.working_memory], [null, null, { total_records: 0 }]),
  ),
  refused(
    'what no memory takes the place of',
    { data: { from: 'A', to: 'B' }, data_type: 'edge', superseded_by: 'nonsense' },
    422,
    'superseded_by',
    'nonsense',
  ),
  refusedRead('query?latitude=91&longitude=1', 422, 'latitude'),
  refusedRead('query?latitude=1', 400, 'longitude'),
  refusedRead('query?start_time=soon', 422, 'start_time', 'soon'),
  refusedRead('query?data_types=smell', 422, 'data_types', 'smell'),
  refusedRead('query?limit=1001', 422, 'limit'),
  refusedRead('context?recent_minutes=1441', 422, 'recent_minutes'),
  refusedRead('places', 400, 'latitude', 'south'),
  refusedRead('places?south=2&north=1&west=0&east=1', 400, 'north'),
  refusedRead('places?store_name=small&latitude=1&longitude=1', 409, 'MemoryKindOff', 'spatial: {}'),
  refusedRead('graph/neighbourhood?store_name=small&node=a', 409, 'MemoryKindOff'),
  refusedRead('graph/neighbourhood?node=Nobody', 404, 'NodeNotFound', 'Nobody'),
  refusedRead('series/buckets?every_seconds=0', 422, 'every_seconds'),
  refusedRead('not-a-uuid', 400, 'BadUuid', 'not-a-uuid'),
  refusedRead('00000000-0000-4000-8000-0000000000ff', 404, 'MemoryNotFound'),
];

const CELLS = '/v1/projects/ns/cells/memory';
const KINDS: Scenario[] = [
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
const MOVING: Scenario[] = [
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

const REMOVING: Scenario[] = [
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

type Context = { memories: OpenMemories; mind: Mind; dataDir: string; close(): Promise<void> };
scenarios<Context>(
  'memory',
  {
    endpoints: [...memoryEndpoints, ...memoryReadEndpoints] as Endpoint<Context>[],
    context: async () => {
      const store = await openStore(dataDir);
      const projects = new Projects({ dataDir });
      const memories = new OpenMemories({ store, projects });
      return {
        memories,
        mind: mindOver(memories),
        dataDir,
        close: async () => {
          await memories.close();
          await store.close();
          rmSync(dataDir, { recursive: true, force: true });
        },
      };
    },
    close: (context) => context.close(),
  },
  [...ADDING, ...BAD, ...READING, ...KINDS, ...MOVING, ...REMOVING],
);
