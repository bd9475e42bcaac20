import type { GraphPath, MemoryRecord, SeriesBucket } from '../../runtime/memory/contract.js';
import { givenFilter, isoTime, shownMemory } from '../../runtime/memory/wire.js';
import { type Endpoint, endpoint, type WholeReply } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type {
  Bucket,
  BucketsQuery,
  BucketsReply,
  ListReply,
  NeighbourhoodQuery,
  NeighbourhoodReply,
  Path,
  PathsQuery,
  PathsReply,
  PlacesQuery,
  PointsQuery,
  SeriesNames,
  ShortestQuery,
  ShortestReply,
  WorkingQuery,
} from '../../schemas/generated/core/memory.js';
import { replyInTurns } from '../http/json.js';
import { MEMORY, type MemoryContext, readsOf, renderMemories, storeOf, tag } from './memory-place.js';

const listReply = (records: readonly MemoryRecord[]): Promise<WholeReply> =>
  replyInTurns({ success: true, results: renderMemories(records), total_count: records.length } satisfies ListReply);

const renderBucket = ({ fromMs, ...rest }: SeriesBucket): Bucket => ({ from: isoTime(fromMs), ...rest });

const renderPath = ({ nodes, edges, weight }: GraphPath): Path => ({
  nodes: [...nodes],
  edges: renderMemories(edges),
  length: edges.length,
  weight,
});

/** How edges are followed, beside what all reads have. */
function walkOf(query: NeighbourhoodQuery | PathsQuery | ShortestQuery) {
  const { direction, relation } = query;
  return { ...givenFilter(query), ...(direction ? { direction } : {}), ...(relation === undefined ? {} : { relation }) };
}

/** The shape that a query of places asks about. */
function shapeOf({ latitude: lat, longitude: lon, south, west, north, east }: PlacesQuery) {
  if (lat !== undefined && lon !== undefined) return { centre: { lat, lon } };
  if (south === undefined || west === undefined || north === undefined || east === undefined) {
    throw new Failure('bad_request', 'Give a place (latitude and longitude) or a box (south, west, north and east).', { code: 'NoPlace' });
  }
  if (south > north)
    throw new Failure('bad_request', `The south of a box (${south}) must not lie north of its north (${north}).`, { code: 'NoPlace' });
  return { box: { south, west, north, east } };
}

/** Reads of the single kinds of stores: working memory, series, places and the graph. */
export const memoryReadEndpoints: Endpoint<MemoryContext>[] = [
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/working`,
    id: 'memory_working',
    access: 'writers',
    summary: 'List working memory, the newest first',
    tag,
    query: 'core/memory#WorkingQuery',
    response: 'core/memory#ListReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const reads = readsOf(store, store.working, 'working_memory');
      return listReply(await reads.newest(givenFilter(request.query as WorkingQuery)));
    },
  }),
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/series`,
    id: 'memory_series',
    access: 'writers',
    summary: 'List the time series',
    tag,
    query: 'core/memory#StoreQuery',
    response: 'core/memory#SeriesNames',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      return { json: { success: true, series: await readsOf(store, store.series, 'timeseries').names() } satisfies SeriesNames };
    },
  }),
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/series/points`,
    id: 'memory_series_points',
    access: 'writers',
    summary: 'Read the points of a time series',
    tag,
    query: 'core/memory#PointsQuery',
    response: 'core/memory#ListReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const { series = 'default', order, ...query } = request.query as PointsQuery;
      return listReply(await readsOf(store, store.series, 'timeseries').range(series, givenFilter(query), order === 'desc'));
    },
  }),
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/series/buckets`,
    id: 'memory_series_buckets',
    access: 'writers',
    summary: 'Sum a time series up by buckets of time',
    tag,
    query: 'core/memory#BucketsQuery',
    response: 'core/memory#BucketsReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const { series = 'default', every_seconds: seconds = 60, field, ...query } = request.query as BucketsQuery;
      const reads = readsOf(store, store.series, 'timeseries');
      const buckets = await reads.downsample(series, Math.max(1, Math.round(seconds * 1_000)), field, givenFilter(query));
      return { json: { success: true, series, buckets: buckets.map(renderBucket) } satisfies BucketsReply };
    },
  }),
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/places`,
    id: 'memory_places',
    access: 'writers',
    summary: 'Find records within a radius or a box, or the nearest',
    tag,
    query: 'core/memory#PlacesQuery',
    response: 'core/memory#ListReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const query = request.query as PlacesQuery;
      const reads = readsOf(store, store.places, 'spatial');
      const { centre, box } = shapeOf(query);
      const filter = givenFilter(query);
      if (box) return listReply(await reads.box(box, filter));
      const radiusM = query.radius_m;
      const placed = await (radiusM === undefined ? reads.nearest(centre!, filter) : reads.within(centre!, radiusM, filter));
      const results = placed.map(({ record, distanceM }) => shownMemory(record, distanceM));
      return replyInTurns({ success: true, results, total_count: results.length } satisfies ListReply);
    },
  }),
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/graph/neighbourhood`,
    id: 'memory_graph_neighbourhood',
    access: 'writers',
    summary: 'Read what is linked with a node',
    tag,
    query: 'core/memory#NeighbourhoodQuery',
    response: 'core/memory#NeighbourhoodReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const query = request.query as unknown as NeighbourhoodQuery;
      const { nodes, edges, truncated } = await readsOf(store, store.graph, 'graph').neighbourhood(
        query.node,
        query.depth ?? 1,
        walkOf(query),
      );
      const [start] = nodes;
      if (nodes.length === 1 && edges.length === 0 && !start!.record)
        throw new Failure('not_found', `There is no node '${query.node}' in memory store '${store.name}'.`, { code: 'NodeNotFound' });
      const shown = nodes.map(({ name, depth, record }) => ({ name, depth, memory: record && shownMemory(record) }));
      return replyInTurns({ success: true, nodes: shown, edges: renderMemories(edges), truncated } satisfies NeighbourhoodReply);
    },
  }),
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/graph/paths`,
    id: 'memory_graph_paths',
    access: 'writers',
    summary: 'Find ways between two nodes, the shortest first',
    tag,
    query: 'core/memory#PathsQuery',
    response: 'core/memory#PathsReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const query = request.query as unknown as PathsQuery;
      const walk = { ...walkOf(query), ...(query.depth === undefined ? {} : { depth: query.depth }) };
      const { paths, truncated } = await readsOf(store, store.graph, 'graph').paths(query.from, query.to, walk);
      return replyInTurns({ success: true, paths: paths.map(renderPath), truncated } satisfies PathsReply);
    },
  }),
  endpoint<MemoryContext>({
    method: 'GET',
    path: `${MEMORY}/graph/shortest-path`,
    id: 'memory_graph_shortest_path',
    access: 'writers',
    summary: 'Find the way with the fewest edges or the least weight',
    tag,
    query: 'core/memory#ShortestQuery',
    response: 'core/memory#ShortestReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const query = request.query as unknown as ShortestQuery;
      const path = await readsOf(store, store.graph, 'graph').shortestPath(query.from, query.to, query.by ?? 'hops', walkOf(query));
      return { json: { success: true, path: path ? renderPath(path) : null } satisfies ShortestReply };
    },
  }),
];
