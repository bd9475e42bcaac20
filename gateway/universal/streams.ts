import type { DetectorStats, StreamResult, StreamService } from '../../runtime/ml/streams/contract.js';
import type { DetectorSettings } from '../../runtime/store/store.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type { StreamReply, StreamRequest, DetectorStats as WireStats } from '../../schemas/generated/universal/streams.js';

/** What the endpoints of streaming detectors work on. */
export interface StreamsContext {
  readonly streams: StreamService;
}

const SAMPLES_BYTES = 8 * 1024 * 1024;
const DEFAULT_LAGS = [1, 2, 3];

/** A null counts as absent. */
function settingsOf(body: StreamRequest): DetectorSettings {
  return {
    backend: body.backend ?? 'ecod',
    minSamples: body.min_samples ?? 50,
    retrainInterval: body.retrain_interval ?? 100,
    windowSize: body.window_size ?? 1000,
    contamination: body.contamination ?? 0.1,
    normalization: body.normalization ?? 'standardization',
    threshold: body.threshold ?? null,
    rollingWindows: body.rolling_windows ?? [],
    lags: body.include_lags ? (body.lag_periods ?? DEFAULT_LAGS) : [],
    schema: body.schema ?? null,
  };
}

const replyOf = (model: string, result: StreamResult): StreamReply => ({
  object: 'streaming_result',
  model,
  status: result.status,
  results: result.results.map(({ score, isAnomaly, raw, untilReady }, index) => {
    return { index, score, is_anomaly: isAnomaly, raw_score: raw, samples_until_ready: untilReady };
  }),
  model_version: result.version,
  samples_collected: result.collected,
  samples_until_ready: result.untilReady,
  threshold: result.threshold,
});

const renderStats = ({ name, settings, ...stats }: DetectorStats): WireStats => ({
  model_id: name,
  backend: settings.backend,
  status: stats.status,
  model_version: stats.version,
  samples_collected: stats.collected,
  total_processed: stats.total,
  samples_since_retrain: stats.sinceTraining,
  min_samples: settings.minSamples,
  retrain_interval: settings.retrainInterval,
  window_size: settings.windowSize,
  threshold: stats.threshold,
  is_ready: stats.status !== 'collecting',
  normalization: settings.normalization,
  contamination: settings.contamination,
  rolling_windows: settings.rollingWindows,
  lag_periods: settings.lags,
  schema: settings.schema,
  columns: [...stats.columns],
  anomalies: stats.anomalies,
  ignored_values: stats.ignored,
  training_failures: stats.failures,
  last_error: stats.lastError,
  drift: { method: 'population_stability_index', ...stats.drift },
});

async function submit({ streams }: StreamsContext, request: Request): Promise<Reply> {
  const body = request.body as StreamRequest;
  const model = body.model ?? 'default-stream';
  const samples = Array.isArray(body.data) ? body.data : [body.data];
  return { json: replyOf(model, await streams.submit(model, settingsOf(body), samples, request.signal)) };
}

/** Streaming detectors. */
export const streamEndpoints: Endpoint<StreamsContext>[] = [
  endpoint({
    method: 'POST',
    path: '/v1/anomaly/stream',
    id: 'stream_samples',
    access: 'users',
    summary: 'Score samples with a detector that learns from them',
    tag: 'streams',
    body: 'universal/streams#StreamRequest',
    bodyLimitBytes: SAMPLES_BYTES,
    response: 'universal/streams#StreamReply',
    handler: submit,
  }),
  endpoint({
    method: 'GET',
    path: '/v1/anomaly/stream/detectors',
    id: 'list_stream_detectors',
    access: 'users',
    summary: 'List streaming detectors with their statistics',
    tag: 'streams',
    response: 'universal/streams#DetectorList',
    handler: async ({ streams }, { signal }) => {
      const data = (await streams.list(signal)).map(renderStats);
      return { json: { object: 'list', data, total: data.length } };
    },
  }),
  endpoint({
    method: 'GET',
    path: '/v1/anomaly/stream/{model_id}',
    names: { model_id: 'common#BufferName' },
    id: 'get_stream_detector',
    access: 'users',
    summary: 'Statistics of a streaming detector',
    tag: 'streams',
    response: 'universal/streams#Detector',
    handler: async ({ streams }, { params, signal }) => {
      return { json: { object: 'streaming_detector', ...renderStats(await streams.get(params.model_id!, signal)) } };
    },
  }),
  endpoint({
    method: 'POST',
    path: '/v1/anomaly/stream/{model_id}/reset',
    names: { model_id: 'common#BufferName' },
    id: 'reset_stream_detector',
    access: 'users',
    summary: 'Make a streaming detector forget samples and model',
    tag: 'streams',
    response: 'universal/streams#Reset',
    handler: async ({ streams }, { params, signal }) => {
      await streams.reset(params.model_id!, signal);
      return { json: { object: 'reset_result', model: params.model_id!, status: 'collecting', reset: true } };
    },
  }),
  endpoint({
    method: 'DELETE',
    path: '/v1/anomaly/stream/{model_id}',
    names: { model_id: 'common#BufferName' },
    id: 'delete_stream_detector',
    access: 'users',
    summary: 'Delete a streaming detector',
    tag: 'streams',
    response: 'universal/streams#Deleted',
    handler: async ({ streams }, { params, signal }) => {
      await streams.remove(params.model_id!, signal);
      return { json: { object: 'delete_result', model: params.model_id!, deleted: true } };
    },
  }),
];
