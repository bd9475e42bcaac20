import { setMaxListeners } from 'node:events';
import { orLate } from '../base/loop.js';
import type { Completion, CompletionPart, CompletionRequest, ContextUsage } from './contract.js';
import type { AcquiredModel } from './request.js';
import { seedAfter } from './settings.js';

/** An opened completion that nobody reads is given up after this time. */
const ABANDONED_AFTER_MS = 60_000;

/** Holds a model for one completion: released once, when the completion ends, its signal aborts, or nobody ever reads it. */
export class ModelHold {
  /** Aborts with the caller's signal, and when the hold ends. */
  readonly signal: AbortSignal;
  readonly #controller = new AbortController();
  readonly #outer: AbortSignal;
  readonly #onAbort = () => this.end(this.#outer.reason);
  #timer: NodeJS.Timeout | undefined;
  #ended = false;

  constructor(
    readonly acquired: AcquiredModel,
    outer: AbortSignal,
  ) {
    this.#outer = outer;
    this.signal = this.#controller.signal;
    if (outer.aborted) this.end(outer.reason);
    else outer.addEventListener('abort', this.#onAbort, { once: true });
  }

  /** Gives the model back; everything that still runs with `signal` is aborted. Later calls do nothing. */
  end(reason?: unknown): void {
    if (this.#ended) return;
    this.#ended = true;
    clearTimeout(this.#timer);
    this.#outer.removeEventListener('abort', this.#onAbort);
    this.#controller.abort(reason);
    this.acquired.release();
  }

  /** Starts the time within which reading must begin. */
  awaitReader(): void {
    this.#timer = setTimeout(() => this.end(new Error('the completion was not read in time')), ABANDONED_AFTER_MS);
    this.#timer.unref();
  }

  /** Reading began. */
  reading(): void {
    clearTimeout(this.#timer);
  }
}

/** A completion whose parts may be read once. Ending the reading, even before its start, ends the hold. */
export class OpenedCompletion implements Completion {
  readonly model: string;
  readonly contextUsage: ContextUsage;
  readonly loadMs: number;
  readonly parts: AsyncIterable<CompletionPart>;

  constructor(facts: Required<Omit<Completion, 'parts'>>, hold: ModelHold, source: AsyncGenerator<CompletionPart, void, undefined>) {
    this.model = facts.model;
    this.contextUsage = facts.contextUsage;
    this.loadMs = facts.loadMs;
    hold.awaitReader();
    const iterator: AsyncIterator<CompletionPart, void, undefined> = {
      next() {
        hold.reading();
        return source.next();
      },
      async return() {
        // A generator that never started has no `finally` to run.
        hold.end();
        await source.return();
        return { done: true, value: undefined };
      },
    };
    this.parts = { [Symbol.asyncIterator]: () => iterator };
  }
}

/** How long an opening waits for what it began. */
const OPENING_WAIT_MS = 1_000;

/**
 * Waits for the beginning of an answer, so that a failure there is still a failure of the whole request; one that takes longer than a second goes
 * on while the answer begins.
 */
export async function settleSoon(begun: Promise<unknown>): Promise<void> {
  await orLate(begun, OPENING_WAIT_MS);
}

/** Most choices of one request. */
export const MAX_CHOICES = 8;

/** Opens one choice of a request, which asks for no others; `choice` counts from 0. */
type OpenOne<Request> = (request: Request, signal: AbortSignal, choice: number) => Promise<Completion>;

/** The parts of a choice, whose opening may still be under way. */
async function* partsOfChoice(opening: Promise<Completion>): AsyncGenerator<CompletionPart, void, undefined> {
  yield* (await opening).parts;
}

/** The request of one choice: choice 0 is what the request would get without `n`, the others are drawn with the seeds behind its own. */
function requestOf<Request extends CompletionRequest>({ n: _n, ...request }: Request, choice: number): Omit<Request, 'n'> {
  if (choice === 0) return request;
  const { extra } = request;
  const deterministic = request.deterministic ?? extra?.deterministic === true;
  const seed = request.seed ?? (deterministic ? 0 : undefined);
  const own = seed === undefined ? {} : { seed: seedAfter(seed, choice) };
  // Hosts are told what `extra` says in the end.
  return { ...request, ...own, ...(typeof extra?.seed === 'number' ? { extra: { ...extra, seed: seedAfter(extra.seed, choice) } } : {}) };
}

type Step = { choice: number; result: IteratorResult<CompletionPart, void> } | { choice: number; error: unknown };

/** The parts of all the choices, each with its `choice`, in the order in which they come; the next of a choice is asked for when the last was taken. */
async function* partsOfAll(sources: readonly AsyncIterable<CompletionPart>[]): AsyncGenerator<CompletionPart, void, undefined> {
  const iterators = sources.map((source) => source[Symbol.asyncIterator]());
  // A queue, and no race of promises: each gets its turn, and one that waits for long gathers no listeners.
  const come: Step[] = [];
  let wake = () => {};
  const ask = (choice: number): void => {
    const arrive = (step: Step): void => {
      come.push(step);
      wake();
    };
    iterators[choice]!.next().then(
      (result) => arrive({ choice, result }),
      (error) => arrive({ choice, error }),
    );
  };
  for (const choice of iterators.keys()) ask(choice);
  for (let open = iterators.length; open > 0; ) {
    const step = come.shift();
    if (step === undefined) {
      await new Promise<void>((resolve) => {
        wake = resolve;
      });
      continue;
    }
    if ('error' in step) throw step.error;
    const { choice, result } = step;
    if (result.done) {
      open -= 1;
      continue;
    }
    yield choice === 0 ? result.value : { ...result.value, choice };
    ask(choice);
  }
}

/**
 * Opens the `n` choices of a request as one completion. The first is opened before the others, so that what fails fails once and its prompt is there
 * to be shared. The others get a while to begin; those that have to wait for a place join the running answer, and a failure then breaks it off.
 * Leaving the parts, aborting the signal, and the failure of any choice free them all.
 */
export async function openChoices<Request extends CompletionRequest>(
  request: Request,
  signal: AbortSignal,
  open: OpenOne<Omit<Request, 'n'>>,
): Promise<Completion> {
  const { n = 1 } = request;
  if (n === 1) return open(requestOf(request, 0), signal, 0);
  const all = new AbortController();
  setMaxListeners(0, all.signal);
  const onAbort = () => end(signal.reason);
  const settle = () => signal.removeEventListener('abort', onAbort);
  const end = (reason?: unknown): void => {
    settle();
    all.abort(reason);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener('abort', onAbort, { once: true });
  try {
    const first = await open(requestOf(request, 0), all.signal, 0);
    const others = Array.from({ length: n - 1 }, (_, i) => open(requestOf(request, i + 1), all.signal, i + 1));
    // Nobody may ever read them.
    for (const other of others) other.catch(() => undefined);
    await settleSoon(Promise.all(others));
    return {
      model: first.model,
      get contextUsage() {
        return first.contextUsage;
      },
      parts: endingParts(partsOfAll([first.parts, ...others.map(partsOfChoice)]), settle, end),
    };
  } catch (error) {
    end(error);
    throw error;
  }
}

/** The parts of a source, read once; `settle` is called when they end, `leave` when they fail or are left, even before the first. */
function endingParts(
  source: AsyncGenerator<CompletionPart, void, undefined>,
  settle: () => void,
  leave: (reason?: unknown) => void,
): AsyncIterable<CompletionPart> {
  const iterator: AsyncIterator<CompletionPart, void, undefined> = {
    async next() {
      try {
        const step = await source.next();
        if (step.done) settle();
        return step;
      } catch (error) {
        leave(error);
        throw error;
      }
    },
    async return() {
      leave();
      await source.return();
      return { done: true, value: undefined };
    },
  };
  return { [Symbol.asyncIterator]: () => iterator };
}
