import type { ColumnFeatures } from '../../native/contract.js';
import { type BufferService, type BufferStats, EXPORT_TYPES, type ReadAsk } from '../../runtime/ml/buffers/contract.js';
import type { Row } from '../../runtime/ml/cells.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type {
  AppendReply,
  AppendRequest,
  CreateRequest,
  DataQuery,
  FeaturesRequest,
  BufferStats as WireStats,
} from '../../schemas/generated/universal/buffers.js';
import { negotiateType } from '../http/call.js';

/** What the endpoints of data buffers work on. */
export interface BuffersContext {
  readonly buffers: BufferService;
}

const APPEND_BYTES = 8 * 1024 * 1024;
const DEFAULT_WINDOWS = [5, 10, 20];
const DEFAULT_LAGS = [1, 2, 3];

const renderStats = (stats: BufferStats): WireStats => ({
  buffer_id: stats.name,
  size: stats.size,
  window_size: stats.windowSize,
  columns: [...stats.columns],
  numeric_columns: [...stats.numericColumns],
  memory_bytes: stats.memoryBytes,
  append_count: stats.appendCount,
  avg_append_ms: Math.round(stats.avgAppendMs * 1000) / 1000,
});

function featuresOf(wanted: Partial<FeaturesRequest>): ColumnFeatures {
  const { rolling_windows, include_rolling_stats, include_lags, lag_periods, roc_periods, ewm_spans } = wanted;
  return {
    windows: rolling_windows ?? DEFAULT_WINDOWS,
    ...(include_rolling_stats ? { statistics: include_rolling_stats } : {}),
    lags: include_lags === false ? [] : (lag_periods ?? DEFAULT_LAGS),
    rates: roc_periods ?? [],
    spans: ewm_spans ?? [],
  };
}

/** The reference system ignores a tail below 1. */
const tailOf = (tail: number | null | undefined): Pick<ReadAsk, 'tail'> => (typeof tail === 'number' && tail > 0 ? { tail } : {});

async function create({ buffers }: BuffersContext, request: Request): Promise<Reply> {
  const { buffer_id, window_size } = request.body as CreateRequest;
  const { windowSize } = await buffers.create(buffer_id, window_size ?? 1000, request.signal);
  return { json: { object: 'buffer_created', buffer_id, window_size: windowSize, status: 'created' } };
}

async function append({ buffers }: BuffersContext, request: Request): Promise<Reply> {
  const { buffer_id, data } = request.body as AppendRequest;
  const rows = (Array.isArray(data) ? data : [data]) as Row[];
  const { appended, size, avgAppendMs } = await buffers.append(buffer_id, rows, request.signal);
  const json: AppendReply = {
    object: 'append_result',
    buffer_id,
    appended,
    buffer_size: size,
    avg_append_ms: Math.round(avgAppendMs * 1000) / 1000,
  };
  return { json };
}

async function read({ buffers }: BuffersContext, request: Request, name: string, ask: ReadAsk): Promise<Reply> {
  const type = negotiateType(request.header('accept'), EXPORT_TYPES);
  const { contentType, bytes } = await buffers.read(name, ask, type, request.signal);
  return { bytes, contentType: contentType === 'text/csv' ? 'text/csv; charset=utf-8' : contentType };
}

/** Data buffers. */
export const bufferEndpoints: Endpoint<BuffersContext>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/polars/buffers',
    id: 'create_buffer',
    access: 'users',
    summary: 'Create a named data buffer',
    tag: 'buffers',
    body: 'universal/buffers#CreateRequest',
    response: 'universal/buffers#Created',
    handler: create,
  }),
  endpoint({
    method: 'GET',
    path: '/v1/polars/buffers',
    id: 'list_buffers',
    access: 'users',
    summary: 'List data buffers with their statistics',
    tag: 'buffers',
    response: 'universal/buffers#BufferList',
    handler: async ({ buffers }, { signal }) => {
      const data = (await buffers.list(signal)).map(renderStats);
      return { json: { object: 'list', data, total: data.length } };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/polars/buffers/{buffer_id}',
    names: { buffer_id: 'common#BufferName' },
    id: 'get_buffer',
    access: 'users',
    summary: 'Statistics of a data buffer',
    tag: 'buffers',
    response: 'universal/buffers#BufferStats',
    handler: async ({ buffers }, { params, signal }) => ({ json: renderStats(await buffers.get(params.buffer_id!, signal)) }),
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/polars/buffers/{buffer_id}',
    names: { buffer_id: 'common#BufferName' },
    id: 'delete_buffer',
    access: 'users',
    summary: 'Delete a data buffer',
    tag: 'buffers',
    response: 'universal/buffers#Deleted',
    handler: async ({ buffers }, { params, signal }) => {
      await buffers.remove(params.buffer_id!, signal);
      return { json: { deleted: true, buffer_id: params.buffer_id! } };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/v1/polars/buffers/{buffer_id}/clear',
    names: { buffer_id: 'common#BufferName' },
    id: 'clear_buffer',
    access: 'users',
    summary: 'Take all rows out of a data buffer',
    tag: 'buffers',
    response: 'universal/buffers#Cleared',
    handler: async ({ buffers }, { params, signal }) => {
      await buffers.clear(params.buffer_id!, signal);
      return { json: { cleared: true, buffer_id: params.buffer_id!, size: 0 } };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/v1/polars/append',
    id: 'append_to_buffer',
    access: 'users',
    summary: 'Append rows to a data buffer',
    tag: 'buffers',
    body: 'universal/buffers#AppendRequest',
    bodyLimitBytes: APPEND_BYTES,
    response: 'universal/buffers#AppendReply',
    handler: append,
  }),
  endpoint({
    method: 'POST',
    path: '/v1/polars/features',
    id: 'buffer_features',
    access: 'users',
    summary: 'Rows of a data buffer with rolling features',
    tag: 'buffers',
    body: 'universal/buffers#FeaturesRequest',
    response: 'universal/buffers#DataReply',
    handler: (context, request) => {
      const body = request.body as FeaturesRequest;
      return read(context, request, body.buffer_id, { ...tailOf(body.tail), features: featuresOf(body) });
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/polars/buffers/{buffer_id}/data',
    names: { buffer_id: 'common#BufferName' },
    id: 'buffer_data',
    access: 'users',
    summary: 'Rows of a data buffer',
    tag: 'buffers',
    query: 'universal/buffers#DataQuery',
    response: 'universal/buffers#DataReply',
    handler: (context, request) => {
      const { tail, with_features } = request.query as DataQuery;
      return read(context, request, request.params.buffer_id!, { ...tailOf(tail), ...(with_features ? { features: featuresOf({}) } : {}) });
    },
  }),
];
