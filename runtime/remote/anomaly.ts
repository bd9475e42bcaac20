import { Failure } from '../../schemas/errors.js';
import type { FitResponse, LoadResponse, ModelList, SaveResponse, ScoreResponse } from '../../schemas/generated/universal/anomaly.js';
import { breathe } from '../base/loop.js';
import { quote } from '../config/names.js';
import type {
  AnomalyService,
  FitAsk,
  FitResult,
  ListedAnomalyModel,
  ModelAsk,
  ModelFacts,
  ScoreAsk,
  ScoreResult,
} from '../ml/anomaly/contract.js';
import type { RowSchema } from '../ml/anomaly/encoder.js';
import { notFinite } from '../ml/anomaly/rows.js';
import { partsOf } from '../ml/anomaly/shelf.js';
import { checkedName, checkedNewName, LATEST, resolveLatest, VersionNames } from '../ml/names.js';
import { infinitiesOf } from '../ml/tables/cells.js';
import { RUNTIME_URL_SETTING, runtimeBase } from '../net/ask/bases.js';
import { postJson } from '../net/ask/json.js';
import type { Outbound } from '../net/outbound.js';
import { homeOfVersions } from './home.js';

/** A fit may take long there. */
const TIMEOUT_MS = 600_000;

/**
 * The detectors of universal runtimes elsewhere, over HTTP. All versions of a name are at one of them, since each keeps its own files.
 * Versions are made and found here, so that it works with runtimes that leave that to the core, too.
 */
export class RemoteAnomaly implements AnomalyService {
  readonly #outbound: Outbound;
  readonly #bases: readonly string[];
  readonly #versions = new VersionNames();

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#outbound = outbound;
    this.#bases = urls.map(runtimeBase);
  }

  async fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    const base = homeOfVersions(checkedNewName(ask.model), this.#bases);
    await refuseInfinite(ask.data, ask.schema);
    if (ask.overwrite) return this.#fit(base, ask.model, ask, signal);
    const there = async () => (await this.#listAt(base, signal)).data.map(listed);
    return this.#versions.with(ask.model, there, (name) => this.#fit(base, name, ask, signal));
  }

  async #fit(base: string, name: string, ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    const { backend, data, schema, contamination, normalization, epochs, batchSize, description } = ask;
    const body = {
      model: name,
      backend,
      data,
      schema,
      contamination,
      normalization,
      epochs,
      batch_size: batchSize,
      overwrite: true,
      description,
    };
    const reply = (await this.#send(base, 'fit', body, signal)) as FitResponse;
    const { threshold, input_dim: columns } = reply.model_params;
    const path = reply.saved_path;
    const filename = path.slice(path.search(/[^/\\]*$/));
    const { schema: learned = null, features = null } = reply.encoder ?? {};
    const times = { samples: reply.samples_fitted, columns, trainingTimeMs: reply.training_time_ms };
    return { model: name, threshold, normalization, filename, path, encoderPath: null, schema: learned, features, ...times };
  }

  async score(ask: ScoreAsk, signal: AbortSignal): Promise<ScoreResult> {
    const { data, threshold, explain, featureNames } = ask;
    await refuseInfinite(data);
    const { base, model } = await this.#found(ask, signal);
    const { backend, normalization } = ask;
    const body = { model, backend, normalization, data, threshold, explain, feature_names: featureNames };
    const reply = (await this.#send(base, 'score', body, signal)) as ScoreResponse;
    if (!Array.isArray(reply.data) || reply.data.length !== data.length) {
      throw new Failure('model_failed', `${base} answered ${reply.data?.length ?? 'no'} scores for ${data.length} rows.`);
    }
    const names = explain ? Object.keys(reply.data[0]?.contributions ?? {}) : undefined;
    const contributions = names && Float64Array.from(reply.data.flatMap((one) => names.map((name) => one.contributions?.[name] ?? 0)));
    return {
      model: reply.model,
      threshold: reply.summary.threshold,
      raw: Float64Array.from(reply.data, (one) => one.raw_score),
      scores: Float64Array.from(reply.data, (one) => one.score),
      explanation: names && contributions && { names, contributions },
    };
  }

  async save(ask: ModelAsk, description: string | undefined, signal: AbortSignal): Promise<ModelFacts> {
    const { base, model } = await this.#found(ask, signal);
    const { backend, normalization } = ask;
    const reply = (await this.#send(base, 'save', { model, backend, normalization, description }, signal)) as SaveResponse;
    const { filename, path, encoder_path: encoderPath, threshold } = reply;
    return { model: reply.model, threshold, normalization: reply.normalization, filename, path, encoderPath, schema: null, features: null };
  }

  async load(ask: ModelAsk, signal: AbortSignal): Promise<ModelFacts> {
    const { base, model } = await this.#found(ask, signal);
    const reply = (await this.#send(
      base,
      'load',
      { model, backend: ask.backend, normalization: ask.normalization },
      signal,
    )) as LoadResponse;
    const { filename, threshold, normalization, encoder_schema: schema } = reply;
    return { model: reply.model, threshold, normalization, filename, path: filename, encoderPath: null, schema, features: null };
  }

  async list(signal: AbortSignal): Promise<{ folder: string; models: ListedAnomalyModel[] }> {
    const lists = await Promise.all(this.#bases.map((base) => this.#listAt(base, signal)));
    const models = lists.flatMap(({ data }) => data.map(listed)).sort((a, b) => b.modifiedMs - a.modifiedMs);
    return { folder: lists.map(({ models_dir: folder }) => folder).join(', '), models };
  }

  async remove(filename: string, signal: AbortSignal): Promise<void> {
    const name = checkedName(nameOf(filename));
    const path = `models/${encodeURIComponent(filename)}`;
    await this.#send(homeOfVersions(name, this.#bases), path, undefined, signal, 'DELETE');
  }

  /** Where a model is, and its name there: `-latest` is found out here. */
  async #found({ model, backend }: ModelAsk, signal: AbortSignal): Promise<{ base: string; model: string }> {
    const base = homeOfVersions(checkedName(model), this.#bases);
    if (!model.endsWith(LATEST)) return { base, model };
    const { data } = await this.#listAt(base, signal);
    const same = data.map(listed).filter((one) => one.backend === backend);
    return { base, model: resolveLatest(model, same) };
  }

  #listAt(base: string, signal: AbortSignal): Promise<ModelList> {
    return this.#send(base, 'models', undefined, signal, 'GET') as Promise<ModelList>;
  }

  #send(base: string, path: string, body: unknown, signal: AbortSignal, method?: 'GET' | 'DELETE'): Promise<unknown> {
    const call = { base, path: `/v1/anomaly/${path}`, body, model: 'anomaly detection', ours: true, timeoutMs: TIMEOUT_MS, retries: 0 };
    return postJson(this.#outbound, { ...call, setting: RUNTIME_URL_SETTING, ...(method ? { method } : {}) }, signal);
  }
}

/**
 * Throws `bad_request` for an infinity, as a detector here does: JSON would carry it on as null. Of objects the fields of the schema count;
 * all where none is given.
 */
async function refuseInfinite(data: readonly unknown[], schema?: RowSchema): Promise<void> {
  for (const [row, values] of data.entries()) {
    for (const [name, value] of infinitiesOf(values)) {
      if (Array.isArray(values)) throw notFinite(['data', row, Number(name)], `row ${row}, column ${name}`, value);
      if (!schema || Object.hasOwn(schema, name)) throw notFinite(['data', row, name], `row ${row}, field ${quote(name)}`, value);
    }
    if (row % 256 === 0) await breathe();
  }
}

/** Other runtimes write other extensions. */
function nameOf(filename: string): string {
  return partsOf(filename.replace(/\.[a-z]+$/, '')).name;
}

function listed({ filename, path, size_bytes: sizeBytes, modified, description }: ModelList['data'][number]): ListedAnomalyModel {
  const { name, backend } = partsOf(filename.replace(/\.[a-z]+$/, ''));
  const one = { name, filename, backend, path: path ?? filename, sizeBytes, modifiedMs: modified * 1000 };
  return typeof description === 'string' ? { ...one, description } : one;
}
