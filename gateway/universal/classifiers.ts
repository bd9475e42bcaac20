import { breathe } from '../../runtime/base/loop.js';
import type { ClassifierFacts, ClassifierService, ListedClassifier, Predictions } from '../../runtime/ml/classifiers/contract.js';
import { versionOf } from '../../runtime/ml/model-names.js';
import { type Endpoint, endpoint, type Reply, type Request } from '../../schemas/endpoint.js';
import type {
  DeleteResponse,
  FitRequest,
  FitResponse,
  ListedModel,
  LoadRequest,
  ModelList,
  PredictRequest,
  SaveRequest,
  StoredResponse,
} from '../../schemas/generated/universal/classifiers.js';
import { TEXTS_BYTES } from './encoders.js';

/** Digits behind the point of a probability: it is not known better than that. */
const PLACES = 1e6;

/** Predictions as JSON text; thousands of rows are written a few at a time, so that other requests go on meanwhile. */
export async function predictionsReply(
  { model, labels, probabilities }: Predictions,
  texts: readonly string[],
  threshold: number | undefined,
  signal: AbortSignal,
): Promise<Reply> {
  const rows: string[] = [];
  for (const [index, text] of texts.entries()) {
    const own = probabilities.subarray(index * labels.length, (index + 1) * labels.length);
    const scores = Array.from(own, (score) => Math.round(score * PLACES) / PLACES);
    const best = own.indexOf(Math.max(...own));
    const score = scores[best]!;
    const isUnsure = threshold !== undefined && score < threshold;
    rows.push(
      JSON.stringify({
        text,
        label: isUnsure ? null : labels[best],
        score,
        all_scores: Object.fromEntries(labels.map((label, at) => [label, scores[at]])),
        ...(threshold === undefined ? {} : { abstained: isUnsure }),
      }),
    );
    await breathe();
    signal.throwIfAborted();
  }
  const bytes = `{"object":"list","data":[${rows.join(',')}],"total_count":${texts.length},"model":${JSON.stringify(model)}}`;
  return { bytes, contentType: 'application/json' };
}

/** What the classifier endpoints work on. */
export interface ClassifierContext {
  readonly classifiers: ClassifierService;
}

/** What an answer calls the embedding model where the request names none. */
const BASE_MODEL = 'all-MiniLM-L6-v2';

async function fit({ classifiers }: ClassifierContext, { body, signal }: Request): Promise<Reply> {
  const asked = body as FitRequest;
  const overwrite = asked.overwrite ?? false;
  const fitted = await classifiers.fit(
    {
      model: asked.model,
      baseModel: asked.base_model ?? undefined,
      examples: asked.training_data,
      // A null counts as absent.
      iterations: asked.num_iterations ?? 20,
      batchSize: asked.batch_size ?? 16,
      seed: asked.seed ?? 42,
      overwrite,
    },
    signal,
  );
  const { model, labels, quality } = fitted;
  const json: FitResponse = {
    object: 'fit_result',
    model,
    base_model: asked.base_model ?? BASE_MODEL,
    samples_fitted: fitted.samples,
    num_classes: labels.length,
    labels: [...labels],
    training_time_ms: fitted.trainingTimeMs,
    embedding_time_ms: fitted.embeddingTimeMs,
    status: 'fitted',
    auto_saved: true,
    saved_path: fitted.path,
    base_name: asked.model,
    versioned_name: model,
    overwrite,
    embedder: fitted.embedder,
    projection_used: fitted.projected,
    cross_validation: quality && {
      folds: quality.folds,
      accuracy: quality.accuracy,
      plain_accuracy: quality.plainAccuracy,
      labels: Object.fromEntries(
        labels.map((label, at) => {
          const { given, ...rest } = quality.labels[at]!;
          return [label, { ...rest, given: Object.fromEntries(given.map(([other, samples]) => [labels[other]!, samples])) }];
        }),
      ),
    },
    notes: [...fitted.notes],
  };
  return { json };
}

function storedReply({ model, path, labels }: ClassifierFacts, status: 'saved' | 'loaded'): Reply {
  const object = status === 'saved' ? 'save_result' : 'load_result';
  const json: StoredResponse = { object, model, path, is_fitted: true, labels: [...labels], num_classes: labels.length, status };
  return { json };
}

function renderModel({ model: name, path, labels, modifiedMs, description }: ListedClassifier): ListedModel {
  const { base, versioned } = versionOf(name);
  return {
    name,
    base_name: base,
    path,
    labels: [...labels],
    num_classes: labels.length,
    created: new Date(modifiedMs).toISOString(),
    modified: modifiedMs / 1000,
    is_versioned: versioned,
    ...(description === undefined ? {} : { description }),
  };
}

async function models({ classifiers }: ClassifierContext, { signal }: Request): Promise<Reply> {
  const { folder, models: found } = await classifiers.list(signal);
  const json: ModelList = { object: 'list', data: found.map(renderModel), models_dir: folder, total: found.length };
  return { json };
}

async function remove({ classifiers }: ClassifierContext, { params, signal }: Request): Promise<Reply> {
  const model = params.name!;
  const path = await classifiers.remove(model, signal);
  const json: DeleteResponse = { object: 'delete_result', model, path, deleted: true, status: 'deleted' };
  return { json };
}

type Handler = Endpoint<ClassifierContext>['handler'];
type Shapes = readonly [body: string, response: string];

const post = (name: string, summary: string, [body, response]: Shapes, handler: Handler): Endpoint<ClassifierContext> =>
  endpoint<ClassifierContext>({
    method: 'POST',
    path: `/v1/classifier/${name}`,
    id: `classifier_${name}`,
    access: 'users',
    summary,
    tag: 'classifiers',
    body: `universal/classifiers#${body}`,
    response: `universal/classifiers#${response}`,
    bodyLimitBytes: TEXTS_BYTES,
    handler,
  });

/** Text classifiers on the universal runtime; the core serves the same under its own paths. */
export const classifierEndpoints: Endpoint<ClassifierContext>[] = [
  post('fit', 'Learn labels from examples, and save the classifier', ['FitRequest', 'FitResponse'], fit),
  post('predict', 'Label texts', ['PredictRequest', 'PredictResponse'], async ({ classifiers }, { body, signal }) => {
    const { model, texts, threshold } = body as PredictRequest;
    return predictionsReply(await classifiers.predict(model, texts, signal), texts, threshold ?? undefined, signal);
  }),
  post(
    'save',
    'Keep a classifier, which a fit has done already, and describe it',
    ['SaveRequest', 'StoredResponse'],
    async ({ classifiers }, { body, signal }) => {
      const { model, description } = body as SaveRequest;
      return storedReply(await classifiers.save(model, description ?? undefined, signal), 'saved');
    },
  ),
  post('load', 'Read a classifier from disk into memory', ['LoadRequest', 'StoredResponse'], async ({ classifiers }, { body, signal }) =>
    storedReply(await classifiers.load((body as LoadRequest).model, signal), 'loaded'),
  ),
  endpoint<ClassifierContext>({
    method: 'GET',
    path: '/v1/classifier/models',
    id: 'list_classifier_models',
    access: 'users',
    summary: 'Classifiers on disk, newest first',
    tag: 'classifiers',
    response: 'universal/classifiers#ModelList',
    handler: models,
  }),
  endpoint<ClassifierContext>({
    method: 'DELETE',
    path: '/v1/classifier/models/{name}',
    names: { name: 'common#LearnedName' },
    id: 'delete_classifier_model',
    access: 'users',
    summary: 'Remove a classifier',
    tag: 'classifiers',
    response: 'universal/classifiers#DeleteResponse',
    handler: remove,
  }),
];
