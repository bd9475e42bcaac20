import { AsyncLocalStorage } from 'node:async_hooks';
import { isAbsolute } from 'node:path';
import { Failure } from '../../../schemas/errors.js';
import { orAborted } from '../../base/loop.js';
import { parseName, wholeId } from '../find/names.js';
import { repositoryPart } from '../find/parts.js';
import { withinAnyPlace, withinModelPlaces } from '../find/places.js';
import type { Hub } from './hub.js';
import { ModelFetch } from './model-fetch.js';

/** Longest wait of a request that wants a whole answer: a little less than the requests themselves have. */
const WAIT_MS = 590_000;
/** A fetch that failed so shortly ago is not begun anew: many may ask at once. */
const AGAIN_MS = 5_000;
/** Fetches that ended and are still listed. */
const ENDED_LIMIT = 50;

/** Who needs a model. */
interface NeedWish {
  readonly signal: AbortSignal;
  /** How long a fetch may be waited for; nearly ten minutes unless given, infinite for who can wait. */
  readonly waitMs?: number | undefined;
}

/**
 * Does work that needs a model which a project's file or an explicit job names. Where the model is not on this machine it is fetched, and the
 * work is done again. Throws what the work throws, what keeps the model from coming, and `busy` (code `ModelOnItsWay`) where it does not come in time.
 */
export type NeedModel = <T>(model: string, wish: NeedWish, work: () => Promise<T>) => Promise<T>;

/** Does the work alone: what is missing stays missing. */
export const needNothing: NeedModel = (_model, _wish, work) => work();

/** What somebody may fetch: all that the operator's token opens, what the hub gives to everybody, or nothing. */
export type FetchRight = 'all' | 'public' | 'nothing';

const right = new AsyncLocalStorage<FetchRight>();

/** Does work for somebody with this right; what may not be fetched stays missing. Outside of it everything may be. */
export const withFetchRight = <T>(given: FetchRight, work: () => T): T => right.run(given, work);

/** Whether a name is one that the hub can have. */
function isOnHub(model: string): boolean {
  if (isAbsolute(model)) return false;
  if (repositoryPart(model)) return true;
  const { id, isPath } = parseName(model);
  return !isPath && wholeId(id).includes('/');
}

/** Whether a failure says that just this model is not on this machine. */
const isMissing = (error: unknown, model: string): error is Failure =>
  error instanceof Failure && error.kind === 'not_found' && error.code === 'ModelNotFound' && error.fields?.model === model;

/** The same failure with another sentence. */
function withSentence({ kind, message, code, fields }: Failure, sentence: string): Failure {
  return new Failure(kind, `${message} ${sentence}`, { code, ...(fields ? { fields } : {}) });
}

/** Fetches models on their first use: one fetch of a model for all who need it. */
export class ModelFetches {
  readonly #hub: Hub;
  /** By model and by whether it is fetched without a token, as one may fail where the other does not; the newest last. */
  readonly #fetches = new Map<string, ModelFetch>();
  readonly #waitMs: number;
  /** What is fetched for work that nobody waits for, by the namespace of its project. */
  rightOf: (namespace: string) => FetchRight = () => 'all';

  /** `waitMs` is that of `NeedWish` where it does not say. */
  constructor(hub: Hub, { waitMs = WAIT_MS }: { readonly waitMs?: number | undefined } = {}) {
    this.#hub = hub;
    this.#waitMs = waitMs;
  }

  readonly need: NeedModel = async (model, wish, work) => {
    try {
      return await work();
    } catch (error) {
      if (!isMissing(error, model) || !isOnHub(model)) throw error;
      const given = right.getStore() ?? 'all';
      if (given === 'nothing')
        throw withSentence(error, 'It was not fetched for this request: pull it first, or ask those who run this machine to.');
      if (this.#hub.isOffline) throw withSentence(error, 'It was not fetched, because HF_HUB_OFFLINE or TRANSFORMERS_OFFLINE is set.');
      await this.#wait(this.#fetchOf(model, given === 'public'), wish);
      return work();
    }
  };

  /** Does work of a project that nobody waits for, whoever's request it begins in. */
  readonly inBackground = <T>(namespace: string, work: () => T): T => {
    const given = this.rightOf(namespace);
    const allowed = (): T => withFetchRight(given, work);
    return given === 'all' ? withinAnyPlace(allowed) : withinModelPlaces(allowed);
  };

  /** All that run, and the last that ended; the newest first. */
  list(): ModelFetch[] {
    return [...this.#fetches.values()].reverse();
  }

  /** What comes now: models that are fetched on their first use, the newest first, and the repositories of all other downloads. */
  running(): { readonly onUse: readonly ModelFetch[]; readonly followed: readonly string[] } {
    const onUse = this.list().filter(({ state }) => state === 'running');
    const known = new Set(onUse.map(({ repository }) => repository));
    return { onUse, followed: [...new Set(this.#hub.active)].filter((repository) => !known.has(repository)) };
  }

  /** Throws `not_found` for an id that is none of them. */
  get(id: string): ModelFetch {
    const found = this.list().find((one) => one.id === id);
    if (found) return found;
    throw new Failure(
      'not_found',
      `There is no task ${id}. GET /v1/tasks lists those of this machine; tasks of a project lie below the project.`,
      {
        code: 'TaskNotFound',
      },
    );
  }

  /** Ends all; what has come is kept. */
  close(): void {
    for (const one of this.#fetches.values()) one.close();
  }

  async #wait(fetch: ModelFetch, { signal, waitMs = this.#waitMs }: NeedWish): Promise<void> {
    if (waitMs === Number.POSITIVE_INFINITY) return orAborted(fetch.done, signal);
    const late = new AbortController();
    const timer = setTimeout(() => late.abort(), waitMs);
    try {
      await orAborted(fetch.done, AbortSignal.any([signal, late.signal]));
    } catch (error) {
      if (!signal.aborted && late.signal.aborted && fetch.state === 'running') throw fetch.tooEarly;
      throw error;
    } finally {
      clearTimeout(timer);
    }
  }

  #fetchOf(model: string, isPublic: boolean): ModelFetch {
    const key = `${isPublic} ${model}`;
    const known = this.#fetches.get(key);
    if (known?.state === 'running' || (known?.state === 'failed' && known.sinceEndMs < AGAIN_MS)) return known;
    const fetch = new ModelFetch(this.#hub, model, isPublic);
    this.#fetches.delete(key);
    this.#fetches.set(key, fetch);
    const ended = [...this.#fetches].filter(([, { state }]) => state !== 'running');
    for (const [old] of ended.slice(0, Math.max(0, ended.length - ENDED_LIMIT))) this.#fetches.delete(old);
    return fetch;
  }
}
