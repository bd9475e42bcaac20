import { availableParallelism } from 'node:os';
import type { ClassifierQuality, FittedClassifier, NativeClassifier, NativeClassifierFit } from '../../../native/contract.js';
import { loadCore } from '../../../native/loader.js';
import { Failure } from '../../../schemas/errors.js';
import { Gate } from '../../base/gate.js';
import { quote } from '../../base/names.js';
import type { EncoderService } from '../../encoders/contract.js';
import type { Events } from '../../events/events.js';
import { recordWork } from '../../events/recording.js';
import { type NeedModel, needNothing } from '../../models/fetch/on-use.js';
import { HeldModels } from '../held-models.js';
import { checkedName, checkedNewName, type ListedModel, nameForFit, newestVersion, savedAt, thereAre } from '../model-names.js';
import { type ClassifierCard, ClassifierFolder, type HeldClassifier } from './classifier-folder.js';
import type { ClassifierFacts, ClassifierService, FitAsk, FitResult, ListedClassifier, Predictions } from './contract.js';
import { checkProbe, chooseEmbedder, type Embedder, embedInParts, learnedEmbedder, probeOf } from './embedder.js';
import { checkText, type Learnable, MAX_CELLS, sortExamples } from './examples.js';

/** Fits that run at the same time; each has threads of its own. */
const FITS_AT_ONCE = 2;
/** Fits that wait for their turn, with their examples in memory. */
const WAITING_FITS = 4;
/** Requests that predict at the same time. */
const PREDICTIONS_AT_ONCE = 8;
/** Requests that wait for that. */
const WAITING_PREDICTIONS = 64;

/** A classifier without a name yet. */
interface Fresh {
  readonly model: NativeClassifier;
  readonly card: ClassifierCard;
  readonly quality: ClassifierQuality | null;
}

/** The classifiers of this process, each in a directory of its own below `folder`. */
export class Classifiers implements ClassifierService {
  readonly #folder: ClassifierFolder;
  readonly #events: Events | undefined;
  readonly #need: NeedModel;
  readonly #encoders: EncoderService;
  readonly #memory = classifiersInMemory();
  readonly #fitting: string[] = [];
  readonly #fits = new Gate('classifier fits', FITS_AT_ONCE, WAITING_FITS);
  readonly #predictions = new Gate('requests that predict', PREDICTIONS_AT_ONCE, WAITING_PREDICTIONS);
  readonly #closing = new AbortController();

  /** `events` keep the fits; `need` fetches the embedder that a fit names. */
  constructor(folder: string, encoders: EncoderService, events?: Events, need: NeedModel = needNothing) {
    this.#folder = new ClassifierFolder(folder);
    this.#events = events;
    this.#need = need;
    this.#encoders = encoders;
  }

  fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    return recordWork(
      this.#events,
      { type: 'fit', model: ask.model, data: { kind: 'classifier', base_model: ask.baseModel ?? null, examples: ask.examples.length } },
      () => this.#fit(ask, signal),
      ({ model, samples, embedder, labels, quality }) => ({
        data: { versioned_name: model, samples_fitted: samples, embedder, num_classes: labels.length, accuracy: quality?.accuracy ?? null },
      }),
    );
  }

  async #fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    checkedNewName(ask.model);
    const examples = await sortExamples(ask.examples);
    const either = AbortSignal.any([signal, this.#closing.signal]);
    this.#fitting.push(ask.model);
    try {
      // A fetch can take long: other fits go on meanwhile.
      const choose = () => chooseEmbedder(this.#encoders, ask.baseModel, either);
      const { model: base, notes } = await (ask.baseModel === undefined ? choose() : this.#need(ask.baseModel, { signal: either }, choose));
      return await this.#fits.run(either, async () => {
        const startMs = performance.now();
        const { model, quality, embedder, embeddingTimeMs } = await fitClassifier(this.#encoders, base, ask, examples, either);
        const probe = await probeOf(this.#encoders, embedder, either);
        const card = { ...embedder, dimensions: model.dimensions, probe, labels: examples.labels, samples: examples.texts.length };
        const trainingTimeMs = performance.now() - startMs;
        const held = await this.#keep(ask, { model, card, quality }, either);
        const { samples } = card;
        return {
          ...this.#facts(held),
          samples,
          embedder: base,
          projected: model.projected,
          quality,
          embeddingTimeMs,
          trainingTimeMs,
          notes,
        };
      });
    } finally {
      this.#fitting.splice(this.#fitting.indexOf(ask.model), 1);
    }
  }

  async predict(asked: string, texts: readonly string[], signal: AbortSignal): Promise<Predictions> {
    for (const [index, text] of texts.entries()) checkText(text, `texts[${index}]`, ['texts', index]);
    const held = await this.#find(asked);
    const { labels } = held.card;
    if (texts.length * labels.length > MAX_CELLS)
      throw new Failure(
        'invalid',
        `${texts.length} texts with ${labels.length} labels are too many together: their product is at most ${MAX_CELLS}.`,
      );
    const probabilities = await this.#predictions.run(signal, () => predictWith(this.#encoders, held, texts, signal));
    return { model: held.name, labels, probabilities };
  }

  async save(asked: string, description: string | undefined): Promise<ClassifierFacts> {
    const { name } = await this.#find(asked);
    return this.#folder.alone(async () => {
      const found = this.#memory.get(name) ?? (await this.#folder.read(name));
      if (!found) throw await this.#notFound(asked);
      const held = description === undefined ? found : { ...found, card: { ...found.card, description } };
      if (!(await this.#folder.has(name))) await this.#folder.write(held, savedAt(name, await this.#onDisk()));
      else if (description !== undefined) await this.#folder.describe(name, held.card);
      this.#memory.put(held.name, held);
      return this.#facts(held);
    });
  }

  async load(asked: string): Promise<ClassifierFacts> {
    const name = await this.#resolveName(asked);
    // From disk, even where it is in memory: it may have been replaced.
    const held = (await this.#folder.has(name)) && (await this.#read(name));
    if (!held) throw await this.#notFound(asked);
    return this.#facts(held);
  }

  async list(): Promise<{ folder: string; models: ListedClassifier[] }> {
    return { folder: this.#folder.folder, models: await this.#folder.list() };
  }

  async remove(name: string): Promise<string> {
    checkedName(name);
    const removed = await this.#folder.alone(async () => {
      this.#memory.delete(name);
      return this.#folder.remove(name);
    });
    if (!removed) throw await this.#notFound(name);
    return this.#folder.path(name);
  }

  /** Ends fits; what is being written is finished. */
  async close(): Promise<void> {
    this.#closing.abort(new Failure('unavailable', 'The daemon is shutting down.'));
    await this.#folder.alone(() => Promise.resolve());
  }

  /** Puts a fitted classifier on disk and into memory, under its own name or as a new version. */
  #keep(ask: FitAsk, { model, card }: Fresh, signal: AbortSignal): Promise<HeldClassifier> {
    return this.#folder.alone(async () => {
      signal.throwIfAborted();
      const { name, at } = nameForFit(ask, await this.#onDisk());
      const held = { name, model, card };
      await this.#folder.write(held, at);
      this.#memory.put(held.name, held);
      return held;
    });
  }

  /** The name that a request means: that name, or its newest version where there is none of the name itself. */
  async #resolveName(asked: string): Promise<string> {
    checkedName(asked);
    if (this.#memory.get(asked) || (await this.#folder.has(asked))) return asked;
    return newestVersion(asked, await this.#onDisk());
  }

  /** What is on disk, newest first. */
  async #onDisk(): Promise<ListedModel[]> {
    return (await this.#folder.list()).map(({ model: name, modifiedMs }) => ({ name, modifiedMs }));
  }

  /** From memory, or from disk. */
  async #find(asked: string): Promise<HeldClassifier> {
    const name = await this.#resolveName(asked);
    const held = this.#memory.get(name) ?? (await this.#read(name));
    if (held) return held;
    if (this.#fitting.includes(name))
      throw new Failure('bad_request', `The classifier ${quote(name)} is being fitted; it can be used when that is done.`, {
        code: 'ModelNotFitted',
      });
    throw await this.#notFound(asked);
  }

  #read(name: string): Promise<HeldClassifier | undefined> {
    // Alone, so that what is read here does not replace what a fit has put into memory meanwhile.
    return this.#memory.reading(name, () =>
      this.#folder.alone(async () => {
        const held = await this.#folder.read(name);
        if (held) this.#memory.put(held.name, held);
        return held;
      }),
    );
  }

  #facts({ name, card }: HeldClassifier): ClassifierFacts {
    return { model: name, path: this.#folder.path(name), labels: card.labels };
  }

  async #notFound(asked: string): Promise<Failure> {
    const names = (await this.#onDisk()).map(({ name }) => name);
    return new Failure('not_found', `Classifier ${quote(asked)} not found. ${thereAre(names, 'There are none yet')}.`, {
      code: 'ModelNotFound',
    });
  }
}

/** Classifiers in memory; the one that was not used for longest gives way and is read again when it is wanted. */
export const CLASSIFIERS_IN_MEMORY = 64;
/** Numbers of their heads together: 256 MiB. */
export const NUMBERS_IN_MEMORY = 2 ** 26;

/** The classifiers in memory, by name; the size of one is the numbers of its head. */
export function classifiersInMemory(): HeldModels<HeldClassifier> {
  return new HeldModels({ count: CLASSIFIERS_IN_MEMORY, size: NUMBERS_IN_MEMORY }, ({ model }) => (model.dimensions + 1) * model.classes);
}

/** Threads of one fit: the others answer meanwhile. */
const THREADS = Math.max(1, Math.min(8, Math.floor(availableParallelism() / 2)));

/** Embeds the examples and fits on them; `embedder` is the one asked for, with what it has learned. Throws what the encoder and the fit throw, and the reason of the abort. */
export async function fitClassifier(
  encoders: EncoderService,
  embedder: string,
  { iterations, batchSize, seed }: Pick<FitAsk, 'iterations' | 'batchSize' | 'seed'>,
  examples: Learnable,
  signal: AbortSignal,
): Promise<FittedClassifier & { readonly embedder: Embedder; readonly embeddingTimeMs: number }> {
  const { texts, labels, targets } = examples;
  const startMs = performance.now();
  const learned = await learnedEmbedder(embedder, examples, signal);
  let fit: NativeClassifierFit | undefined;
  for await (const { from, count, dimensions, vectors } of embedInParts(encoders, learned, texts, { urgency: 'bulk', signal })) {
    fit ??= loadCore().openClassifierFit({
      dimensions,
      classes: labels.length,
      rows: texts.length,
      iterations,
      batchSize,
      seed,
      threads: THREADS,
    });
    fit.add(vectors, targets.subarray(from, from + count));
  }
  signal.throwIfAborted();
  const embeddingTimeMs = performance.now() - startMs;
  const running = fit!;
  const cancel = (): void => running.cancel();
  signal.addEventListener('abort', cancel, { once: true });
  try {
    return { ...(await running.run()), embedder: learned, embeddingTimeMs };
  } catch (error) {
    signal.throwIfAborted();
    throw error;
  } finally {
    signal.removeEventListener('abort', cancel);
  }
}

/** Classifiers whose embedder was found to be the one that they were fitted on. */
const checked = new WeakSet<ClassifierCard>();

/** Probabilities of texts, one row per text. Throws `not_found` where the embedder is gone, `model_failed` where it became another one. */
export async function predictWith(
  encoders: EncoderService,
  { name, model, card }: HeldClassifier,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array> {
  const all = new Float32Array(texts.length * model.classes);
  if (!checked.has(card)) await checkProbe(encoders, name, card, signal);
  checked.add(card);
  for await (const { from, vectors } of embedInParts(encoders, card, texts, { signal }))
    all.set(await model.predict(vectors), from * model.classes);
  return all;
}
