import { isMemoryId } from '../../runtime/memory/check.js';
import type { KindName, MemoryCounts, MemoryRecord, MemoryStore, PlacedRecord, ReadFilter } from '../../runtime/memory/contract.js';
import { limitOf } from '../../runtime/memory/filter.js';
import { exportLines, importLines } from '../../runtime/memory/transfer.js';
import { givenFilter, givenMemory, givenPlace, shownMemory } from '../../runtime/memory/wire.js';
import { type Endpoint, endpoint, type Request, type UploadedFile } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type {
  AddReply,
  AddRequest,
  ClearReply,
  ContextQuery,
  ContextReply,
  DeleteReply,
  ForgetReply,
  ForgetRequest,
  ImportReply,
  MemoryReply,
  PruneReply,
  QueryQuery,
  QueryReply,
  StatsReply,
} from '../../schemas/generated/core/memory.js';
import { replyInTurns } from '../http/json.js';
import { MEMORY, type MemoryContext, readsOf, renderMemories, storeOf, tag } from './memory-place.js';
import { recallOf, recallQuestion } from './memory-recall.js';

/** Bytes of a body that adds: a record as large as one may be, with room for how it is written. */
const ADD_BYTES = 1_048_576;
/** Bytes of a file that is imported. */
const IMPORT_BYTES = 2 ** 30;
const TABLES = ['working_memory', 'timeseries', 'spatial', 'graph', 'linkage', 'all'] as const;
type Table = (typeof TABLES)[number];

/** Where a query looks: around a place, along time, or through all records. */
async function findRecords(store: MemoryStore, query: QueryQuery): Promise<PlacedRecord[]> {
  const filter = givenFilter(query);
  const place = givenPlace(query);
  if (place) return readsOf(store, store.places, 'spatial').within(place, query.radius_m ?? 0, filter);
  const records = await (filter.fromMs !== undefined || filter.toMs !== undefined ? alongTime(store, filter) : store.newest(filter));
  return records.map((record) => ({ record, distanceM: Number.NaN }));
}

/** The newest time first: what time series find, however old, and what only other kinds keep. */
async function alongTime(store: MemoryStore, filter: ReadFilter): Promise<MemoryRecord[]> {
  const [points, others] = await Promise.all([store.series?.newest(filter) ?? [], store.newest(filter)]);
  const records = new Map([...points, ...others].map((record) => [record.seq, record]));
  return [...records.values()].sort((a, b) => b.timeMs - a.timeMs).slice(0, limitOf(filter));
}

function contextOf(store: MemoryStore, query: ContextQuery): Promise<MemoryRecord[][]> {
  const { recent_minutes: minutes = 10, include_graph: withGraph, include_working_memory: withWorking } = query;
  const filter = givenFilter(query);
  const recent = { ...filter, fromMs: (filter.asOfMs ?? Date.now()) - minutes * 60_000 };
  return Promise.all([
    withWorking === false ? [] : (store.working?.newest(recent) ?? []),
    withGraph === false ? [] : (store.graph?.newest(filter) ?? []),
    store.series?.newest(recent) ?? [],
  ]);
}

function recordOf(store: MemoryStore, id: string): MemoryRecord {
  const uuid = id.toLowerCase();
  if (!isMemoryId(uuid)) throw new Failure('bad_request', `'${id.slice(0, 100)}' is no UUID.`, { code: 'BadUuid' });
  const record = store.get(uuid);
  if (record) return record;
  throw notFound(store, uuid);
}

function notFound(store: MemoryStore, uuid: string): Failure {
  return new Failure('not_found', `There is no memory ${uuid} in store '${store.name}'.`, { code: 'MemoryNotFound' });
}

function clearedOf(table: Table, lost: MemoryCounts): ClearReply['cleared'] {
  const of = (kind: KindName): boolean => table === kind || table === 'all';
  return {
    ...(of('working_memory') ? { working_memory: true } : {}),
    ...(of('timeseries') ? { timeseries: lost.kinds.timeseries ?? 0 } : {}),
    ...(of('spatial') ? { spatial: lost.kinds.spatial ?? 0 } : {}),
    ...(of('graph') ? { graph: { nodes_deleted: lost.nodes, edges_deleted: lost.edges } } : {}),
    ...(table === 'linkage' || table === 'all' ? { linkage: lost.links } : {}),
  };
}

async function clear({ mind }: MemoryContext, store: MemoryStore, name: string): Promise<ClearReply> {
  const table = TABLES.find((one) => one === name);
  if (!table)
    throw new Failure('bad_request', `There is no table '${name.slice(0, 100)}' in a memory store: ${TABLES.join(', ')}.`, {
      code: 'UnknownTable',
    });
  if (table === 'linkage') {
    const message = 'Nothing to clear: a record that several kinds keep is one record, so that there is no table of links.';
    return { success: true, table, cleared: { linkage: 0 }, message };
  }
  const lost = await mind.clear(store, table);
  const message = `Cleared ${table} of store '${store.name}': ${lost.records} records are gone.`;
  return { success: true, table, cleared: clearedOf(table, lost), message };
}

function statsOf(store: MemoryStore, stateFolder: string, consolidating: string | undefined): StatsReply {
  const { kinds, nodes, edges, links, bytes, records } = store.counts();
  return {
    success: true,
    working_memory: store.working ? { total_records: kinds.working_memory ?? 0 } : null,
    graph: store.graph ? { node_count: nodes, edge_count: edges } : null,
    timeseries: store.series ? { record_count: kinds.timeseries ?? 0 } : null,
    spatial: store.places ? { record_count: kinds.spatial ?? 0 } : null,
    linkage: { total_links: links },
    total_records: records,
    store_path: stateFolder,
    total_size_bytes: bytes,
    consolidation_task_id: consolidating ?? null,
    error: null,
  };
}

async function forget(context: MemoryContext, request: Request): Promise<ForgetReply> {
  const store = await storeOf(context, request);
  const { user_id: user, session_id: session, uuids } = request.body as ForgetRequest;
  if (uuids !== undefined) {
    if (user !== undefined || session !== undefined)
      throw new Failure('bad_request', 'Forget single records by uuids, or a user or a session, not both at once.', { code: 'ForgetWhom' });
    const ids = uuids.map((id) => recordOf(store, id).id);
    const { length } = await context.mind.forget(store, ids);
    await store.scrub();
    const message = `${length} memories were forgotten, what was made of them among these, and their bytes are off the disk.`;
    return { success: true, forgotten: length, message };
  }
  if (user === undefined && session === undefined)
    throw new Failure('bad_request', 'Say what to forget: give user_id, session_id, both for a session of a user, or uuids.', {
      code: 'NobodyToForget',
    });
  // Who names no store means all that is kept of somebody where nobody can look any more, too.
  const dropped = request.query.store_name === undefined ? await context.memories.dropped(store.namespace, store.project) : [];
  let forgotten = 0;
  for (const one of [store, ...dropped])
    forgotten += await one.forget({ ...(user === undefined ? {} : { user }), ...(session === undefined ? {} : { session }) });
  return { success: true, forgotten, message: `${forgotten} memories were forgotten, and their bytes are off the disk.` };
}

/** What a project remembers: adding, finding, removing, and the whole store in and out. */
export const memoryEndpoints: Endpoint<MemoryContext & { readonly dataDir: string }>[] = [
  endpoint({
    method: 'POST',
    path: `${MEMORY}/add`,
    id: 'memory_add',
    access: 'writers',
    summary: 'Remember a record',
    tool: 'adds',
    tag,
    query: 'core/memory#StoreQuery',
    body: 'core/memory#AddRequest',
    bodyLimitBytes: ADD_BYTES,
    response: 'core/memory#AddReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const [{ id, seq, kinds }] = (await store.write({ add: [givenMemory(request.body as AddRequest)] })) as [MemoryRecord];
      const message = `Remembered in ${kinds.join(', ')}.`;
      return { json: { success: true, uuid: id, store: store.name, component_id: `${kinds[0]}/${seq}`, message } satisfies AddReply };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${MEMORY}/query`,
    id: 'memory_query',
    access: 'writers',
    summary: 'Find records by words, time, place, type, tags, user and session',
    tag,
    query: 'core/memory#QueryQuery',
    response: 'core/memory#QueryReply',
    handler: async (context, request) => {
      const query = request.query as unknown as QueryQuery;
      if (query.query !== undefined) {
        const results = await recallOf(context, request, recallQuestion({ ...query, query: query.query }));
        return replyInTurns({ success: true, results, total_count: results.length, error: null } satisfies QueryReply);
      }
      const records = await findRecords(await storeOf(context, request), query);
      const results = records.map(({ record, distanceM }) => shownMemory(record, Number.isNaN(distanceM) ? undefined : distanceM));
      return replyInTurns({ success: true, results, total_count: results.length, error: null } satisfies QueryReply);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${MEMORY}/context`,
    id: 'memory_context',
    access: 'writers',
    summary: 'Read what was remembered lately, and the newest of the graph',
    tag,
    query: 'core/memory#ContextQuery',
    response: 'core/memory#ContextReply',
    handler: async (context, request) => {
      const query = request.query as unknown as ContextQuery;
      const [working, graph, series] = await contextOf(await storeOf(context, request), query);
      const recalled = query.query === undefined ? {} : { recalled: await recallOf(context, request, recallQuestion(query)) };
      const json = {
        working_memory: renderMemories(working!),
        graph: renderMemories(graph!),
        timeseries: renderMemories(series!),
        ...recalled,
      };
      return replyInTurns({ success: true, ...json, error: null } satisfies ContextReply);
    },
  }),
  endpoint({
    method: 'GET',
    path: `${MEMORY}/stats`,
    id: 'memory_stats',
    access: 'writers',
    summary: 'Count what a store keeps',
    tag,
    query: 'core/memory#StoreQuery',
    response: 'core/memory#StatsReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      return { json: statsOf(store, `${context.dataDir}/state`, await context.mind.consolidating(store)) };
    },
  }),
  endpoint({
    method: 'GET',
    path: `${MEMORY}/export`,
    id: 'memory_export',
    access: 'writers',
    summary: 'Read a whole store as JSON Lines',
    tag,
    query: 'core/memory#StoreQuery',
    mediaTypes: ['application/x-ndjson'],
    handler: async (context, request) => ({
      pieces: exportLines(await storeOf(context, request)),
      contentType: 'application/x-ndjson',
    }),
  }),
  endpoint({
    method: 'POST',
    path: `${MEMORY}/import`,
    id: 'memory_import',
    access: 'writers',
    summary: 'Add the records of a file of JSON Lines, all or none',
    tag,
    query: 'core/memory#StoreQuery',
    multipart: { form: 'core/memory#ImportForm', maxFiles: 1, fileLimitBytes: IMPORT_BYTES },
    response: 'core/memory#ImportReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const [file] = request.files as [UploadedFile];
      const imported = await importLines(store, file.path, request.signal);
      return {
        json: { success: true, imported, message: `${imported} memories were imported into store '${store.name}'.` } satisfies ImportReply,
      };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${MEMORY}/prune`,
    id: 'memory_prune',
    access: 'writers',
    summary: 'Remove what is past its time or above a cap',
    tag,
    query: 'core/memory#StoreQuery',
    response: 'core/memory#PruneReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const pruned = await store.prune();
      const remaining = store.counts().records;
      const message = `${pruned} were removed, ${remaining} records remain.`;
      return { json: { success: true, pruned_count: pruned, remaining_count: remaining, message } satisfies PruneReply };
    },
  }),
  endpoint({
    method: 'POST',
    path: `${MEMORY}/forget`,
    id: 'memory_forget',
    access: 'writers',
    tool: 'removes',
    summary: 'Forget single records, a user or a session',
    tag,
    query: 'core/memory#StoreQuery',
    body: 'core/memory#ForgetRequest',
    response: 'core/memory#ForgetReply',
    handler: async (context, request) => ({ json: await forget(context, request) }),
  }),
  endpoint({
    method: 'DELETE',
    path: `${MEMORY}/clear/{table}`,
    id: 'memory_clear',
    access: 'writers',
    summary: 'Empty one kind of a store, or all',
    tag,
    query: 'core/memory#StoreQuery',
    response: 'core/memory#ClearReply',
    handler: async (context, request) => ({ json: await clear(context, await storeOf(context, request), request.params.table!) }),
  }),
  endpoint({
    method: 'GET',
    path: `${MEMORY}/{uuid}`,
    id: 'memory_get',
    access: 'writers',
    summary: 'Read a record',
    tag,
    query: 'core/memory#StoreQuery',
    response: 'core/memory#MemoryReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const record = recordOf(store, request.params.uuid!);
      if (!store.shows(record)) throw notFound(store, record.id);
      return { json: { success: true, memory: shownMemory(record) } satisfies MemoryReply };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: `${MEMORY}/{uuid}`,
    id: 'memory_delete',
    access: 'writers',
    summary: 'Remove a record from all kinds that keep it',
    tag,
    query: 'core/memory#StoreQuery',
    response: 'core/memory#DeleteReply',
    handler: async (context, request) => {
      const store = await storeOf(context, request);
      const { id, kinds } = recordOf(store, request.params.uuid!);
      const made = (await context.mind.forget(store, [id])).length - 1;
      const message = `Removed from ${kinds.join(', ')}${made > 0 ? `, with ${made} facts and nodes that were made of it` : ''}.`;
      return { json: { success: true, uuid: id, deleted_from: [...kinds], message } satisfies DeleteReply };
    },
  }),
];
