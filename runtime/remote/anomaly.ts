import { Failure } from '../../schemas/errors.js';
import type { FitResponse, LoadResponse, ModelList, SaveResponse, ScoreResponse } from '../../schemas/generated/universal/anomaly.js';
import { breathe } from '../base/loop.js';
import { quote } from '../base/names.js';
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
import { partsOf } from '../ml/anomaly/model-folder.js';
import { notFinite } from '../ml/anomaly/rows.js';
import { infinitiesOf } from '../ml/cells.js';
import { checkedName, checkedNewName } from '../ml/model-names.js';
import type { Outbound } from '../net/outbound.js';
import { ModelHomes } from './home.js';

/** The detectors of universal runtimes elsewhere, over HTTP. */
export class RemoteAnomaly implements AnomalyService {
  readonly #homes: ModelHomes;

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#homes = new ModelHomes(outbound, urls, 'anomaly', 'anomaly detection');
  }

  async fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    checkedNewName(ask.model);
    await refuseInfinite(ask.data, ask.schema);
    const there = async (base: string) => (await this.#listAt(base, signal)).data.map(listedModel);
    return this.#homes.fit(ask, there, (base, name) => this.#fit(base, name, ask, signal));
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
    const reply = (await this.#homes.send(base, 'fit', body, signal)) as FitResponse;
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
    const reply = (await this.#homes.send(base, 'score', body, signal)) as ScoreResponse;
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
    const reply = (await this.#homes.send(base, 'save', { model, backend, normalization, description }, signal)) as SaveResponse;
    const { filename, path, encoder_path: encoderPath, threshold } = reply;
    return { model: reply.model, threshold, normalization: reply.normalization, filename, path, encoderPath, schema: null, features: null };
  }

  async load(ask: ModelAsk, signal: AbortSignal): Promise<ModelFacts> {
    const { base, model } = await this.#found(ask, signal);
    const reply = (await this.#homes.send(
      base,
      'load',
      { model, backend: ask.backend, normalization: ask.normalization },
      signal,
    )) as LoadResponse;
    const { filename, threshold, normalization, encoder_schema: schema } = reply;
    return { model: reply.model, threshold, normalization, filename, path: filename, encoderPath: null, schema, features: null };
  }

  async list(signal: AbortSignal): Promise<{ folder: string; models: ListedAnomalyModel[] }> {
    const lists = await Promise.all(this.#homes.bases.map((base) => this.#listAt(base, signal)));
    const models = lists.flatMap(({ data }) => data.map(listedModel)).sort((a, b) => b.modifiedMs - a.modifiedMs);
    return { folder: lists.map(({ models_dir: folder }) => folder).join(', '), models };
  }

  async remove(filename: string, signal: AbortSignal): Promise<void> {
    const name = checkedName(nameOf(filename));
    const path = `models/${encodeURIComponent(filename)}`;
    await this.#homes.send(this.#homes.of(name), path, undefined, signal, 'DELETE');
  }

  #found({ model, backend }: ModelAsk, signal: AbortSignal): Promise<{ base: string; model: string }> {
    return this.#homes.find(model, async (base) =>
      (await this.#listAt(base, signal)).data.map(listedModel).filter((one) => one.backend === backend),
    );
  }

  #listAt(base: string, signal: AbortSignal): Promise<ModelList> {
    return this.#homes.send(base, 'models', undefined, signal, 'GET') as Promise<ModelList>;
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

function listedModel({ filename, path, size_bytes: sizeBytes, modified, description }: ModelList['data'][number]): ListedAnomalyModel {
  const { name, backend } = partsOf(filename.replace(/\.[a-z]+$/, ''));
  const one = { name, filename, backend, path: path ?? filename, sizeBytes, modifiedMs: modified * 1000 };
  return typeof description === 'string' ? { ...one, description } : one;
}
