import { Failure } from '../../schemas/errors.js';
import type { AppendReply, BufferList, BufferStats as WireStats } from '../../schemas/generated/universal/buffers.js';
import type { Appended, BufferService, BufferStats, Exported, ExportType, ReadAsk } from '../ml/buffers/contract.js';
import { type Row, refuseInfinite } from '../ml/cells.js';
import { RUNTIME_TIMEOUT_MS, RUNTIME_URL_SETTING, runtimeBase } from '../net/ask/bases.js';
import { readErrorBody, statusFailure, unreachableFailure } from '../net/ask/failures.js';
import { postJson, urlBelow } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';
import { homeOf } from './home.js';

/** What messages call the asked thing. */
const WHAT = 'data buffers';
const ERROR_BYTES = 64 * 1024;
/** Largest answer in bytes. */
const RESPONSE_BYTES = 256 * 2 ** 20;

function statsOf(stats: WireStats): BufferStats {
  return {
    name: stats.buffer_id,
    size: stats.size,
    windowSize: stats.window_size,
    columns: stats.columns,
    numericColumns: stats.numeric_columns,
    rowBytes: stats.memory_bytes,
    memoryBytes: stats.memory_bytes,
    appendCount: stats.append_count,
    avgAppendMs: stats.avg_append_ms,
  };
}

/** The buffers of universal runtimes elsewhere, over HTTP; each is at the runtime that its name belongs to. */
export class RemoteBuffers implements BufferService {
  readonly #outbound: Outbound;
  readonly #bases: readonly string[];

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#outbound = outbound;
    this.#bases = urls.map(runtimeBase);
  }

  async create(name: string, windowSize: number, signal: AbortSignal): Promise<BufferStats> {
    await this.#send(homeOf(name, this.#bases), 'buffers', signal, { buffer_id: name, window_size: windowSize });
    return this.get(name, signal);
  }

  async list(signal: AbortSignal): Promise<readonly BufferStats[]> {
    const lists = await Promise.all(
      this.#bases.map((base) => this.#send(base, 'buffers', signal, undefined, 'GET') as Promise<BufferList>),
    );
    return lists.flatMap(({ data }) => data.map(statsOf)).sort((a, b) => (a.name < b.name ? -1 : 1));
  }

  async get(name: string, signal: AbortSignal): Promise<BufferStats> {
    return statsOf((await this.#at(name, '', signal, 'GET')) as WireStats);
  }

  async remove(name: string, signal: AbortSignal): Promise<void> {
    await this.#at(name, '', signal, 'DELETE');
  }

  async clear(name: string, signal: AbortSignal): Promise<void> {
    await this.#at(name, '/clear', signal);
  }

  async append(name: string, rows: readonly Row[], signal: AbortSignal): Promise<Appended> {
    refuseInfinite(rows);
    const reply = (await this.#send(homeOf(name, this.#bases), 'append', signal, { buffer_id: name, data: rows })) as AppendReply;
    return { appended: reply.appended, size: reply.buffer_size, avgAppendMs: reply.avg_append_ms };
  }

  async read(name: string, { tail, features }: ReadAsk, type: ExportType, signal: AbortSignal): Promise<Exported> {
    const base = homeOf(name, this.#bases);
    const url = urlBelow(base, features ? '/v1/polars/features' : `/v1/polars/buffers/${encodeURIComponent(name)}/data`);
    if (!features && tail !== undefined) url.searchParams.set('tail', String(tail));
    const { windows, statistics, lags = [], rates, spans } = features ?? {};
    const wanted = { rolling_windows: windows ?? [], include_rolling_stats: statistics, include_lags: lags.length > 0, lag_periods: lags };
    const body = features && JSON.stringify({ buffer_id: name, ...wanted, roc_periods: rates, ewm_spans: spans, tail });
    const upstream = { name: WHAT, model: WHAT, base, ours: true, setting: RUNTIME_URL_SETTING };
    const limits = {
      headersMs: RUNTIME_TIMEOUT_MS,
      idleMs: RUNTIME_TIMEOUT_MS,
      totalMs: RUNTIME_TIMEOUT_MS,
      responseBytes: RESPONSE_BYTES,
    };
    const headers = { accept: type, ...(body === undefined ? {} : { 'content-type': 'application/json' }) };
    const asked = { url, policy: 'operator', method: body === undefined ? 'GET' : 'POST', headers, limits, signal } as const;
    const reply = await this.#outbound.request(body === undefined ? asked : { ...asked, body }).catch((error: unknown) => {
      throw error instanceof Failure && !signal.aborted ? unreachableFailure(error, upstream) : error;
    });
    if (reply.status !== 200) throw statusFailure(reply.status, readErrorBody(parseJson(await reply.text(ERROR_BYTES))), upstream);
    const chunks: Uint8Array[] = [];
    for await (const chunk of reply.chunks()) chunks.push(chunk);
    return { contentType: type, bytes: Buffer.concat(chunks) };
  }

  #at(name: string, path: string, signal: AbortSignal, method?: 'GET' | 'DELETE'): Promise<unknown> {
    return this.#send(homeOf(name, this.#bases), `buffers/${encodeURIComponent(name)}${path}`, signal, undefined, method);
  }

  #send(base: string, path: string, signal: AbortSignal, body: unknown, method?: 'GET' | 'DELETE'): Promise<unknown> {
    const call = { base, path: `/v1/polars/${path}`, body, model: WHAT, ours: true, timeoutMs: RUNTIME_TIMEOUT_MS, retries: 0 };
    return postJson(this.#outbound, { ...call, setting: RUNTIME_URL_SETTING, ...(method ? { method } : {}) }, signal);
  }
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return text;
  }
}
