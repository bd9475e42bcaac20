import type { DetectorList, StreamReply, StreamRequest, DetectorStats as WireStats } from '../../schemas/generated/universal/streams.js';
import { infinitiesOf, wrongValue } from '../ml/cells.js';
import type { DetectorStats, StreamResult, StreamService } from '../ml/streams/contract.js';
import { LARGEST_SAMPLE, sampleFields } from '../ml/streams/samples.js';
import { RUNTIME_TIMEOUT_MS, RUNTIME_URL_SETTING, runtimeBase } from '../net/ask/bases.js';
import { postJson } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';
import type { DetectorSettings } from '../store/store.js';
import { homeOf } from './home.js';

/** Throws `invalid` for an infinity: JSON would carry it on as null. Where there is a schema, its fields alone count. */
function refuseInfinite(samples: readonly unknown[], schema: DetectorSettings['schema']): void {
  for (const [row, sample] of samples.entries())
    for (const [key, value] of infinitiesOf(sampleFields(sample, row)))
      if (schema === null || Object.hasOwn(schema, key)) throw wrongValue(row, key, value, `is no number up to ${LARGEST_SAMPLE}`);
}

function bodyOf(name: string, settings: DetectorSettings, data: readonly unknown[]): StreamRequest {
  const { backend, minSamples, retrainInterval, windowSize, contamination, normalization, threshold, rollingWindows, lags, schema } =
    settings;
  return {
    model: name,
    data: data as StreamRequest['data'],
    backend: backend as NonNullable<StreamRequest['backend']>,
    min_samples: minSamples,
    retrain_interval: retrainInterval,
    window_size: windowSize,
    contamination,
    normalization,
    threshold,
    rolling_windows: rollingWindows,
    include_lags: lags.length > 0,
    lag_periods: lags,
    schema,
  };
}

function statsOf(stats: WireStats): DetectorStats {
  return {
    name: stats.model_id,
    settings: {
      backend: stats.backend,
      minSamples: stats.min_samples,
      retrainInterval: stats.retrain_interval,
      windowSize: stats.window_size,
      contamination: stats.contamination ?? 0.1,
      normalization: stats.normalization ?? 'standardization',
      threshold: stats.threshold,
      rollingWindows: stats.rolling_windows ?? [],
      lags: stats.lag_periods ?? [],
      schema: stats.schema ?? null,
    },
    status: stats.status,
    version: stats.model_version,
    collected: stats.samples_collected,
    total: stats.total_processed,
    sinceTraining: stats.samples_since_retrain,
    threshold: stats.threshold,
    columns: stats.columns ?? [],
    anomalies: stats.anomalies ?? 0,
    ignored: stats.ignored_values ?? 0,
    failures: stats.training_failures ?? 0,
    lastError: stats.last_error ?? null,
    drift: stats.drift ?? { value: null, samples: 0, level: 'unknown' },
  };
}

/** The streaming detectors of universal runtimes elsewhere, over HTTP; each is at the runtime that its name belongs to. */
export class RemoteStreams implements StreamService {
  readonly #outbound: Outbound;
  readonly #bases: readonly string[];

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#outbound = outbound;
    this.#bases = urls.map(runtimeBase);
  }

  async submit(name: string, settings: DetectorSettings, samples: readonly unknown[], signal: AbortSignal): Promise<StreamResult> {
    refuseInfinite(samples, settings.schema);
    const reply = (await this.#send(homeOf(name, this.#bases), '', signal, bodyOf(name, settings, samples))) as StreamReply;
    return {
      status: reply.status,
      results: reply.results.map((one) => {
        return { score: one.score, isAnomaly: one.is_anomaly, raw: one.raw_score, untilReady: one.samples_until_ready };
      }),
      version: reply.model_version,
      collected: reply.samples_collected,
      untilReady: reply.samples_until_ready,
      threshold: reply.threshold,
    };
  }

  async list(signal: AbortSignal): Promise<readonly DetectorStats[]> {
    const lists = await Promise.all(
      this.#bases.map((base) => this.#send(base, '/detectors', signal, undefined, 'GET') as Promise<DetectorList>),
    );
    return lists.flatMap(({ data }) => data.map(statsOf));
  }

  async get(name: string, signal: AbortSignal): Promise<DetectorStats> {
    return statsOf((await this.#at(name, '', signal, 'GET')) as WireStats);
  }

  async reset(name: string, signal: AbortSignal): Promise<void> {
    await this.#at(name, '/reset', signal);
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.#at(name, '', signal, 'DELETE');
  }

  #at(name: string, path: string, signal: AbortSignal, method?: 'GET' | 'DELETE'): Promise<unknown> {
    return this.#send(homeOf(name, this.#bases), `/${encodeURIComponent(name)}${path}`, signal, undefined, method);
  }

  #send(base: string, path: string, signal: AbortSignal, body: unknown, method?: 'GET' | 'DELETE'): Promise<unknown> {
    const call = {
      base,
      path: `/v1/anomaly/stream${path}`,
      body,
      model: 'streaming detectors',
      ours: true,
      timeoutMs: RUNTIME_TIMEOUT_MS,
      retries: 0,
    };
    return postJson(this.#outbound, { ...call, setting: RUNTIME_URL_SETTING, ...(method ? { method } : {}) }, signal);
  }
}
