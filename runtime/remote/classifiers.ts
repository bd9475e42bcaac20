import { Failure } from '../../schemas/errors.js';
import type { FitResponse, ModelList, PredictResponse, StoredResponse } from '../../schemas/generated/universal/classifiers.js';
import type { ClassifierFacts, ClassifierService, FitAsk, FitResult, ListedClassifier, Predictions } from '../ml/classifiers/contract.js';
import { checkedName, type ListedModel } from '../ml/model-names.js';
import type { Outbound } from '../net/outbound.js';
import { ModelHomes } from './home.js';

/** The classifiers of universal runtimes elsewhere, over HTTP. */
export class RemoteClassifiers implements ClassifierService {
  readonly #homes: ModelHomes;

  constructor(outbound: Outbound, urls: readonly string[]) {
    this.#homes = new ModelHomes(outbound, urls, 'classifier', 'classifiers');
  }

  async fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    return this.#homes.fit(
      ask,
      (base) => this.#there(base, signal),
      (base, model) => this.#fit(base, model, ask, signal),
    );
  }

  async #fit(base: string, model: string, ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    const body = {
      model,
      ...(ask.baseModel === undefined ? {} : { base_model: ask.baseModel }),
      training_data: ask.examples,
      num_iterations: ask.iterations,
      batch_size: ask.batchSize,
      seed: ask.seed,
      overwrite: true,
    };
    const reply = (await this.#homes.send(base, 'fit', body, signal)) as Partial<FitResponse>;
    const { labels = [], base_model: baseModel = '', cross_validation: validation } = reply;
    return {
      model,
      path: reply.saved_path ?? '',
      labels,
      samples: reply.samples_fitted ?? ask.examples.length,
      embedder: reply.embedder ?? baseModel,
      projected: reply.projection_used ?? false,
      quality: validation
        ? {
            folds: validation.folds,
            accuracy: validation.accuracy,
            plainAccuracy: validation.plain_accuracy,
            labels: labels.map((label) => {
              const { given = {}, ...rest } = validation.labels[label]!;
              return { ...rest, given: Object.entries(given).map(([other, samples]) => [labels.indexOf(other), samples]) };
            }),
          }
        : null,
      embeddingTimeMs: reply.embedding_time_ms ?? 0,
      trainingTimeMs: reply.training_time_ms ?? 0,
      notes: reply.notes ?? [],
    };
  }

  async predict(asked: string, texts: readonly string[], signal: AbortSignal): Promise<Predictions> {
    const { base, model } = await this.#found(asked, signal);
    const reply = (await this.#homes.send(base, 'predict', { model, texts }, signal)) as PredictResponse;
    if (!Array.isArray(reply.data) || reply.data.length !== texts.length)
      throw new Failure('model_failed', `${base} answered ${reply.data?.length ?? 'no'} predictions for ${texts.length} texts.`);
    const labels = Object.keys(reply.data[0]?.all_scores ?? {});
    const probabilities = Float32Array.from(reply.data.flatMap(({ all_scores: scores }) => labels.map((label) => scores[label] ?? 0)));
    return { model: reply.model, labels, probabilities };
  }

  async save(asked: string, description: string | undefined, signal: AbortSignal): Promise<ClassifierFacts> {
    const { base, model } = await this.#found(asked, signal);
    return factsOf((await this.#homes.send(base, 'save', { model, description }, signal)) as StoredResponse);
  }

  async load(asked: string, signal: AbortSignal): Promise<ClassifierFacts> {
    const { base, model } = await this.#found(asked, signal);
    return factsOf((await this.#homes.send(base, 'load', { model }, signal)) as StoredResponse);
  }

  async list(signal: AbortSignal): Promise<{ folder: string; models: ListedClassifier[] }> {
    const lists = await Promise.all(this.#homes.bases.map((base) => this.#listAt(base, signal)));
    return { folder: this.#homes.bases.join(', '), models: lists.flat().sort((a, b) => b.modifiedMs - a.modifiedMs) };
  }

  async remove(name: string, signal: AbortSignal): Promise<string> {
    const base = this.#homes.of(checkedName(name));
    await this.#homes.send(base, `models/${encodeURIComponent(name)}`, undefined, signal, 'DELETE');
    return `${base}/v1/classifier/models/${name}`;
  }

  #found(asked: string, signal: AbortSignal): Promise<{ base: string; model: string }> {
    return this.#homes.find(asked, (base) => this.#there(base, signal));
  }

  async #there(base: string, signal: AbortSignal): Promise<ListedModel[]> {
    return (await this.#listAt(base, signal)).map(({ model: name, modifiedMs }) => ({ name, modifiedMs }));
  }

  async #listAt(base: string, signal: AbortSignal): Promise<ListedClassifier[]> {
    const { data } = (await this.#homes.send(base, 'models', undefined, signal, 'GET')) as ModelList;
    return data.map(({ name: model, path, labels, modified, description }) => {
      const one = { model, path, labels, modifiedMs: modified * 1000 };
      return description === undefined ? one : { ...one, description };
    });
  }
}

function factsOf({ model, path, labels }: StoredResponse): ClassifierFacts {
  return { model, path, labels };
}
