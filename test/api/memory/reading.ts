import assert from 'node:assert/strict';
import { at, dataOf, minutesAgo, read, refused, refusedRead } from '../../support/memory/requests.js';
import type { Scenario } from '../../support/scenario.js';

/** Records as lists, series, places and graphs. */
export const READING: Scenario[] = [
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
  read('query: by a tag with a comma', 'query?tags=lake%5C,%20none,city', (reply) => assert.deepEqual(dataOf(reply), ['Bern'])),
  read('query: by a part of it', 'query?tags=lake', (reply) => assert.deepEqual(dataOf(reply), [])),
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
