import type { ClassifierQuality, NativeClassifier } from '../../../native/contract.js';
import { Failure } from '../../../schemas/errors.js';
import { Gate } from '../../base/gate.js';
import { quote } from '../../config/names.js';
import type { EncoderService } from '../../encoders/contract.js';
import type { Events } from '../../events/events.js';
import { recorded } from '../../events/recorded.js';
import { type NeedModel, needNothing } from '../../models/fetch/on-use.js';
import { checkedName, checkedNewName, LATEST, type ListedModel, resolveLatest, savedAt, versionedName } from '../names.js';
import type { ClassifierFacts, ClassifierService, FitAsk, FitResult, ListedClassifier, Predictions } from './contract.js';
import { checkProbe, chooseEmbedder, embedded, probeOf } from './embedder.js';
import { checkText, learnable } from './examples.js';
import { fitClassifier } from './fit.js';
import { FITS_AT_ONCE, MAX_CELLS, PREDICTIONS_AT_ONCE, WAITING_FITS, WAITING_PREDICTIONS } from './limits.js';
import { type ClassifierCard, type HeldClassifier, Memory } from './memory.js';
import { Shelf } from './shelf.js';

/** Classifiers whose embedder was found to be the one that they were fitted on. */
const checked = new WeakSet<ClassifierCard>();

/** Probabilities of texts, one row per text. Throws `not_found` where the embedder is gone, `model_failed` where it became another one. */
export async function predicted(
  encoders: EncoderService,
  { name, model, card }: HeldClassifier,
  texts: readonly string[],
  signal: AbortSignal,
): Promise<Float32Array> {
  const all = new Float32Array(texts.length * model.classes);
  if (!checked.has(card)) await checkProbe(encoders, name, card, signal);
  checked.add(card);
  for await (const { from, vectors } of embedded(encoders, card, texts, { signal }))
    all.set(await model.predict(vectors), from * model.classes);
  return all;
}

/** A classifier without a name yet. */
interface Fresh {
  readonly model: NativeClassifier;
  readonly card: ClassifierCard;
  readonly quality: ClassifierQuality | null;
}

/** The classifiers of this process, each in a directory of its own below `folder`. */
export class Classifiers implements ClassifierService {
  readonly #shelf: Shelf;
  readonly #events: Events | undefined;
  readonly #need: NeedModel;
  readonly #encoders: EncoderService;
  readonly #memory = new Memory();
  readonly #reading = new Map<string, Promise<HeldClassifier | undefined>>();
  readonly #fitting: string[] = [];
  readonly #fits = new Gate('classifier fits', FITS_AT_ONCE, WAITING_FITS);
  readonly #predictions = new Gate('requests that predict', PREDICTIONS_AT_ONCE, WAITING_PREDICTIONS);
  readonly #closing = new AbortController();

  /** `events` keep the fits; `need` fetches the embedder that a fit names. */
  constructor(folder: string, encoders: EncoderService, events?: Events, need: NeedModel = needNothing) {
    this.#shelf = new Shelf(folder);
    this.#events = events;
    this.#need = need;
    this.#encoders = encoders;
  }

  fit(ask: FitAsk, signal: AbortSignal): Promise<FitResult> {
    return recorded(
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
    const examples = await learnable(ask.examples);
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
    const probabilities = await this.#predictions.run(signal, () => predicted(this.#encoders, held, texts, signal));
    return { model: held.name, labels, probabilities };
  }

  async save(asked: string, description: string | undefined): Promise<ClassifierFacts> {
    const { name } = await this.#find(asked);
    return this.#shelf.alone(async () => {
      const found = this.#memory.get(name) ?? (await this.#shelf.read(name));
      if (!found) throw await this.#notFound(asked);
      const held = description === undefined ? found : { ...found, card: { ...found.card, description } };
      if (!(await this.#shelf.has(name))) await this.#shelf.write(held, savedAt(name, await this.#there()));
      else if (description !== undefined) await this.#shelf.describe(name, held.card);
      this.#memory.put(held);
      return this.#facts(held);
    });
  }

  async load(asked: string): Promise<ClassifierFacts> {
    const name = await this.#resolved(asked);
    // From disk, even where it is in memory: it may have been replaced.
    const held = (await this.#shelf.has(name)) && (await this.#read(name));
    if (!held) throw await this.#notFound(asked);
    return this.#facts(held);
  }

  async list(): Promise<{ folder: string; models: ListedClassifier[] }> {
    return { folder: this.#shelf.folder, models: await this.#shelf.list() };
  }

  async remove(name: string): Promise<string> {
    checkedName(name);
    const removed = await this.#shelf.alone(async () => {
      this.#memory.delete(name);
      return this.#shelf.remove(name);
    });
    if (!removed) throw await this.#notFound(name);
    return this.#shelf.path(name);
  }

  /** Ends fits; what is being written is finished. */
  async close(): Promise<void> {
    this.#closing.abort(new Failure('unavailable', 'The daemon is shutting down.'));
    await this.#shelf.alone(() => Promise.resolve());
  }

  /** Puts a fitted classifier on disk and into memory, under its own name or as a new version. */
  #keep(ask: FitAsk, { model, card }: Fresh, signal: AbortSignal): Promise<HeldClassifier> {
    return this.#shelf.alone(async () => {
      signal.throwIfAborted();
      const there = await this.#there();
      const at = savedAt(ask.model, there);
      const taken = new Set(there.map((one) => one.name));
      const name = ask.overwrite ? ask.model : versionedName(ask.model, at, (one) => taken.has(one));
      const held = { name, model, card };
      await this.#shelf.write(held, at);
      this.#memory.put(held);
      return held;
    });
  }

  /** The name that a request means: that name, or its newest version where there is none of the name itself. */
  async #resolved(asked: string): Promise<string> {
    checkedName(asked);
    if (this.#memory.get(asked) || (await this.#shelf.has(asked))) return asked;
    return resolveLatest(asked.endsWith(LATEST) ? asked : `${asked}${LATEST}`, await this.#there());
  }

  /** What is on disk, newest first. */
  async #there(): Promise<ListedModel[]> {
    return (await this.#shelf.list()).map(({ model: name, modifiedMs }) => ({ name, modifiedMs }));
  }

  /** From memory, or from disk. */
  async #find(asked: string): Promise<HeldClassifier> {
    const name = await this.#resolved(asked);
    const held = this.#memory.get(name) ?? (await this.#read(name));
    if (held) return held;
    if (this.#fitting.includes(name))
      throw new Failure('bad_request', `The classifier ${quote(name)} is being fitted; it can be used when that is done.`, {
        code: 'ModelNotFitted',
      });
    throw await this.#notFound(asked);
  }

  #read(name: string): Promise<HeldClassifier | undefined> {
    const under = this.#reading.get(name);
    if (under) return under;
    // Alone, so that what is read here does not replace what a fit has put into memory meanwhile.
    const reading = this.#shelf
      .alone(async () => {
        const held = await this.#shelf.read(name);
        if (held) this.#memory.put(held);
        return held;
      })
      .finally(() => this.#reading.delete(name));
    this.#reading.set(name, reading);
    return reading;
  }

  #facts({ name, card }: HeldClassifier): ClassifierFacts {
    return { model: name, path: this.#shelf.path(name), labels: card.labels };
  }

  async #notFound(asked: string): Promise<Failure> {
    const names = (await this.#there()).map(({ name }) => name);
    const there =
      names.length === 0 ? 'There are none yet' : `There are ${names.slice(0, 20).join(', ')}${names.length > 20 ? ' and more' : ''}`;
    return new Failure('not_found', `Classifier ${quote(asked)} not found. ${there}.`, { code: 'ModelNotFound' });
  }
}
