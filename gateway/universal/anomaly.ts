import { breathe } from '../../runtime/base/loop.js';
import { BACKENDS } from '../../runtime/ml/anomaly/backends.js';
import type { AnomalyService, FitAsk, ListedAnomalyModel, ModelAsk, ScoreAsk, ScoreResult } from '../../runtime/ml/anomaly/contract.js';
import { versionOf } from '../../runtime/ml/model-names.js';
import { type Endpoint, endpoint, type Reply, type Request, type WholeReply } from '../../schemas/endpoint.js';
import type {
  Anomaly,
  BackendList,
  DeleteResponse,
  DetectResponse,
  FitRequest,
  FitResponse,
  ListedModel,
  LoadRequest,
  LoadResponse,
  ModelList,
  SaveRequest,
  SaveResponse,
  Score,
  ScoreRequest,
  ScoreResponse,
} from '../../schemas/generated/universal/anomaly.js';

/** Items written between two looks at the clock. */
const ITEMS_PER_LOOK = 64;
const PIECE_CHARACTERS = 64 * 1024;

/** Which model a request means. The schema has filled in defaults. */
export function askOf({ model, backend, normalization }: SaveRequest | LoadRequest | ScoreRequest): ModelAsk {
  return { model: model!, backend: backend!, normalization: normalization ?? undefined };
}

/** A request to fit as the runtime takes it. */
export function fitAskOf(body: FitRequest): FitAsk {
  return {
    model: body.model!,
    backend: body.backend!,
    normalization: body.normalization!,
    data: body.data,
    schema: body.schema ?? undefined,
    contamination: body.contamination!,
    epochs: body.epochs ?? 100,
    batchSize: body.batch_size ?? 32,
    overwrite: body.overwrite ?? false,
    description: body.description ?? undefined,
  };
}

/** A request to score as the runtime takes it. */
export function scoreAskOf(body: ScoreRequest): ScoreAsk {
  const { data, threshold, explain, feature_names: names } = body;
  return { ...askOf(body), data, threshold: threshold ?? undefined, explain: explain ?? false, featureNames: names ?? undefined };
}

function contributionsOf({ explanation }: ScoreResult, index: number): Pick<Score, 'contributions'> {
  if (!explanation) return {};
  const { names, contributions } = explanation;
  return { contributions: Object.fromEntries(names.map((name, column) => [name, contributions[index * names.length + column]!])) };
}

/** The answer with all rows. */
export async function scoresReply(result: ScoreResult, backend: string): Promise<WholeReply> {
  const { scores, raw, threshold, model } = result;
  let anomalies = 0;
  const items = await inTurns(scores.length, (index) => {
    const isAnomaly = scores[index]! > threshold;
    if (isAnomaly) anomalies += 1;
    const item: Score = { index, score: scores[index]!, is_anomaly: isAnomaly, raw_score: raw[index]!, ...contributionsOf(result, index) };
    return item;
  });
  const total = scores.length;
  const summary = { total_points: total, anomaly_count: anomalies, anomaly_rate: total === 0 ? 0 : anomalies / total, threshold };
  const rest: Omit<ScoreResponse, 'data' | 'object'> = { total_count: total, model, backend, summary };
  return listReply(items, rest);
}

/** The answer with the anomalies alone. */
export async function anomaliesReply(result: ScoreResult, backend: string): Promise<WholeReply> {
  const { scores, raw, threshold, model } = result;
  let found = 0;
  const items = await inTurns(scores.length, (index) => {
    if (!(scores[index]! > threshold)) return undefined;
    found += 1;
    const item: Anomaly = { index, score: scores[index]!, raw_score: raw[index]!, ...contributionsOf(result, index) };
    return item;
  });
  const rest: Omit<DetectResponse, 'data' | 'object'> = {
    total_count: found,
    model,
    backend,
    summary: { anomalies_detected: found, threshold },
  };
  return listReply(items, rest);
}

/** Items as JSON, in pieces made in turns: a million of them take a second. */
async function inTurns(count: number, itemAt: (index: number) => object | undefined): Promise<Buffer[]> {
  const pieces: Buffer[] = [];
  let text = '';
  for (let index = 0; index < count; index += 1) {
    const item = itemAt(index);
    if (item) text += `${text === '' && pieces.length === 0 ? '' : ','}${JSON.stringify(item)}`;
    if (text.length >= PIECE_CHARACTERS) {
      pieces.push(Buffer.from(text));
      text = '';
    }
    if (index % ITEMS_PER_LOOK === 0) await breathe();
  }
  return [...pieces, Buffer.from(text)];
}

function listReply(items: readonly Buffer[], rest: object): WholeReply {
  const ending = Buffer.from(`],${JSON.stringify(rest).slice(1)}`);
  return { bytes: Buffer.concat([Buffer.from('{"object":"list","data":['), ...items, ending]), contentType: 'application/json' };
}

/** What the anomaly endpoints work on. */
export interface AnomalyContext {
  readonly anomaly: AnomalyService;
}

async function fit({ anomaly }: AnomalyContext, request: Request): Promise<Reply> {
  const body = request.body as FitRequest;
  const ask = fitAskOf(body);
  const { model, samples, columns, trainingTimeMs, threshold, schema, features, path } = await anomaly.fit(ask, request.signal);
  const { backend, contamination, normalization, overwrite } = ask;
  const json: FitResponse = {
    object: 'fit_result',
    model,
    backend,
    samples_fitted: samples,
    training_time_ms: trainingTimeMs,
    model_params: { backend, contamination, threshold, input_dim: columns },
    encoder: schema && features && { schema: { ...schema }, features: [...features] },
    saved_path: path,
    status: 'fitted',
    base_name: ask.model,
    versioned_name: model,
    overwrite,
    normalization,
  };
  if (body.polars_config?.enabled) json.notes = ['polars_config has no effect on a batch fit; rolling features belong to streams.'];
  return { json };
}

async function save({ anomaly }: AnomalyContext, { body, signal }: Request): Promise<Reply> {
  const asked = body as SaveRequest;
  const ask = askOf(asked);
  const { model, normalization, threshold, filename, path, encoderPath } = await anomaly.save(ask, asked.description ?? undefined, signal);
  const json: SaveResponse = {
    object: 'save_result',
    model,
    backend: ask.backend,
    normalization,
    filename,
    path,
    encoder_path: encoderPath,
    is_fitted: true,
    threshold,
    status: 'saved',
  };
  return { json };
}

async function load({ anomaly }: AnomalyContext, { body, signal }: Request): Promise<Reply> {
  const ask = askOf(body as LoadRequest);
  const { model, normalization, threshold, filename, path, schema } = await anomaly.load(ask, signal);
  const json: LoadResponse = {
    object: 'load_result',
    model,
    backend: ask.backend,
    normalization,
    filename,
    path,
    is_fitted: true,
    threshold,
    encoder_loaded: schema !== null,
    encoder_schema: schema && { ...schema },
    status: 'loaded',
  };
  return { json };
}

function renderModel({ name, filename, backend, path, sizeBytes, modifiedMs, description }: ListedAnomalyModel): ListedModel {
  const { base, versioned } = versionOf(name);
  return {
    name,
    filename,
    base_name: base,
    backend,
    path,
    size_bytes: sizeBytes,
    created: new Date(modifiedMs).toISOString(),
    modified: modifiedMs / 1000,
    is_versioned: versioned,
    ...(description === undefined ? {} : { description }),
  };
}

async function models({ anomaly }: AnomalyContext, { signal }: Request): Promise<Reply> {
  const { folder, models: found } = await anomaly.list(signal);
  const json: ModelList = { object: 'list', data: found.map(renderModel), models_dir: folder, total: found.length };
  return { json };
}

async function remove({ anomaly }: AnomalyContext, { params, signal }: Request): Promise<Reply> {
  const filename = params.filename!;
  await anomaly.remove(filename, signal);
  const json: DeleteResponse = { object: 'delete_result', filename, deleted: true };
  return { json };
}

function backends(): Reply {
  const data = BACKENDS.map((one) => ({ ...one, parameters: [...one.parameters] }));
  const categories = [...new Set(data.map(({ category }) => category))];
  const json: BackendList = { object: 'list', data, total: data.length, categories };
  return { json };
}

/** 300,000 rows of 10 numbers with all their digits fit. */
const ROWS_BYTES = 64 * 1024 * 1024;

const post = (name: string, summary: string, shape: 'Fit' | 'Score' | 'Save' | 'Load', handler: Endpoint<AnomalyContext>['handler']) =>
  endpoint<AnomalyContext>({
    method: 'POST',
    path: `/v1/anomaly/${name}`,
    id: `anomaly_${name}`,
    access: 'users',
    summary,
    tag: 'anomaly',
    body: `universal/anomaly#${shape}Request`,
    response: `universal/anomaly#${name === 'detect' ? 'Detect' : shape}Response`,
    bodyLimitBytes: ROWS_BYTES,
    handler,
  });

/** Batch anomaly detection. */
export const anomalyEndpoints: Endpoint<AnomalyContext>[] = [
  post('fit', 'Learn from rows what is ordinary, and save the model', 'Fit', fit),
  post('score', 'Score rows by a fitted model', 'Score', async ({ anomaly }, { body, signal }) => {
    const ask = scoreAskOf(body as ScoreRequest);
    return scoresReply(await anomaly.score(ask, signal), ask.backend);
  }),
  post('detect', 'The rows that a fitted model takes for anomalies', 'Score', async ({ anomaly }, { body, signal }) => {
    const ask = scoreAskOf(body as ScoreRequest);
    return anomaliesReply(await anomaly.score(ask, signal), ask.backend);
  }),
  post('save', 'Keep a model, which a fit has done already, and describe it', 'Save', save),
  post('load', 'Read a model from disk into memory', 'Load', load),
  endpoint<AnomalyContext>({
    method: 'GET',
    path: '/v1/anomaly/models',
    id: 'list_anomaly_models',
    access: 'users',
    summary: 'Models on disk, newest first',
    tag: 'anomaly',
    response: 'universal/anomaly#ModelList',
    handler: models,
  }),
  endpoint<AnomalyContext>({
    method: 'GET',
    path: '/v1/anomaly/backends',
    id: 'list_anomaly_backends',
    access: 'users',
    summary: 'What can be fitted',
    tag: 'anomaly',
    response: 'universal/anomaly#BackendList',
    handler: backends,
  }),
  endpoint<AnomalyContext>({
    method: 'DELETE',
    path: '/v1/anomaly/models/{filename}',
    names: { filename: 'common#LearnedName' },
    id: 'delete_anomaly_model',
    access: 'users',
    summary: 'Remove the file of a model and what belongs to it',
    tag: 'anomaly',
    response: 'universal/anomaly#DeleteResponse',
    handler: remove,
  }),
];
