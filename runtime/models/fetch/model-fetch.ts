import { randomUUID } from 'node:crypto';
import { Failure } from '../../../schemas/errors.js';
import { humanSize } from '../../base/files.js';
import { log } from '../../base/log.js';
import { type DownloadEvent, downloadFailure } from './download.js';
import type { Hub } from './hub.js';
import type { DownloadPlan } from './plan.js';
import { withSpaceNote } from './space.js';

const MINUTE_S = 60;
/** Shortest and longest pause that a client is asked to make while a model comes. */
const RETRY_S = { least: 5, most: 60 } as const;

/** How far a fetch is. */
type FetchState = 'running' | 'done' | 'failed' | 'cancelled';

/** One model on its way from the hub. It goes on whoever waits for it, until it is whole, breaks, or is cancelled. */
export class ModelFetch {
  readonly id = randomUUID();
  readonly #hub: Hub;
  readonly #isPublic: boolean;
  readonly #stop = new AbortController();
  #state: FetchState = 'running';
  #plan: DownloadPlan | undefined;
  #doneBytes = 0;
  /** Of the file that comes now. */
  #fileBytes = 0;
  #rate = 0;
  #failure: Failure | undefined;
  /** Milliseconds of the monotonic clock. */
  #endedMs = Number.POSITIVE_INFINITY;
  /** Rejects with the `Failure` that says what to do. */
  readonly done: Promise<void>;

  constructor(
    hub: Hub,
    /** As the project or the request calls it. */
    readonly model: string,
    /** Whether the hub is asked without the operator's token. */
    isPublic = false,
  ) {
    this.#hub = hub;
    this.#isPublic = isPublic;
    this.done = this.#run();
    this.done.catch(() => undefined);
  }

  get state(): FetchState {
    return this.#state;
  }

  get failure(): Failure | undefined {
    return this.#failure;
  }

  /** Milliseconds since its end; 0 while it runs. */
  get sinceEndMs(): number {
    return Math.max(0, performance.now() - this.#endedMs);
  }

  get repository(): string | null {
    return this.#plan?.repository ?? null;
  }

  get bytes(): number {
    return Math.min(this.#doneBytes + this.#fileBytes, this.totalBytes ?? 0);
  }

  /** Null until the hub has said. */
  get totalBytes(): number | null {
    return this.#plan?.totalBytes ?? null;
  }

  get bytesPerSecond(): number {
    return this.#state === 'running' ? this.#rate : 0;
  }

  /** Whole seconds until it is here; null where that cannot be told. */
  get restS(): number | null {
    return this.totalBytes !== null && this.bytesPerSecond > 0 ? Math.ceil((this.totalBytes - this.bytes) / this.bytesPerSecond) : null;
  }

  /** How far it is, for people: one clause. */
  get progress(): string {
    if (this.#state === 'done') return `${this.model} is here`;
    if (this.#failure) return this.#failure.message;
    if (this.totalBytes === null) return `${this.model} is being fetched: the hub is asked for it`;
    const rest = this.restS;
    const time = rest === null ? '' : rest < MINUTE_S ? `, about ${rest} s` : `, about ${Math.ceil(rest / MINUTE_S)} min`;
    return `${this.model} is being fetched: ${humanSize(this.bytes)} of ${humanSize(this.totalBytes)}${time}`;
  }

  /** The failure of a request that cannot wait any longer. */
  get tooEarly(): Failure {
    const message = `${this.progress}. Ask again then; GET /v1/tasks/${this.id} of the core API says how far it is.`;
    const retryAfterS = Math.min(RETRY_S.most, Math.max(RETRY_S.least, this.restS ?? RETRY_S.least));
    return new Failure('busy', message, { code: 'ModelOnItsWay', retryAfterS, fields: { model: this.model, task_id: this.id } });
  }

  /** Ends it; what others do not fetch of it is removed. Resolves when nothing of it runs any more. */
  async cancel(): Promise<void> {
    if (this.#state !== 'running') return;
    this.#end(
      'cancelled',
      new Failure('unavailable', `The fetch of ${this.model} was cancelled. Ask again to begin it anew.`, { code: 'FetchCancelled' }),
    );
    this.#stop.abort(this.#failure);
    await this.done.catch(() => undefined);
    if (this.#plan) await this.#hub.discard(this.#plan);
  }

  /** Ends it with the daemon; what has come is kept, and a later fetch goes on there. */
  close(): void {
    if (this.#state === 'running') this.#stop.abort(new Failure('unavailable', 'The daemon stops.'));
  }

  async #run(): Promise<void> {
    // Whoever begins it holds it before anything happens.
    await Promise.resolve();
    log('info', `fetching ${this.model}, which is used for the first time`);
    try {
      await this.#fetch();
      this.#end('done', undefined);
    } catch (error) {
      this.#end('failed', fetchFailure(this.model, error));
    }
    if (this.#failure) throw this.#failure;
  }

  /** The first end counts. */
  #end(state: FetchState, failure: Failure | undefined): void {
    if (this.#state !== 'running') return;
    this.#state = state;
    this.#failure = failure;
    this.#endedMs = performance.now();
    if (state === 'failed') log('warn', `${this.model} could not be fetched`, { error: failure });
  }

  async #fetch(): Promise<void> {
    const { signal } = this.#stop;
    const plan = await this.#hub.plan(this.model, signal, this.#isPublic);
    const fit = await this.#hub.fit(plan);
    if (!fit.canDownload) throw new Failure('disk_full', fit.message, { code: 'NotEnoughSpace' });
    this.#plan = plan;
    let isComplete = false;
    for await (const event of this.#hub.download(withSpaceNote(plan, fit), signal)) {
      if (event.event === 'error') throw downloadFailure(event);
      isComplete ||= event.event === 'complete';
      this.#note(event);
    }
    signal.throwIfAborted();
    if (!isComplete) throw new Failure('unavailable', 'The download ended early.');
  }

  #note(event: DownloadEvent): void {
    if (event.event === 'progress') [this.#fileBytes, this.#rate] = [event.downloaded, event.bytes_per_sec];
    if (event.event !== 'cached' && event.event !== 'end') return;
    this.#doneBytes += event.size;
    this.#fileBytes = 0;
  }
}

/** What kept a model from coming, with the model's name and what to do. */
function fetchFailure(model: string, error: unknown): Failure {
  if (!(error instanceof Failure)) {
    return new Failure('internal', `${model} is not on this machine, and fetching it broke; the log says why.`, { cause: error });
  }
  const { kind, code, retryAfterS, fields } = error;
  const isPassing = kind === 'unavailable' || kind === 'timed_out' || kind === 'busy';
  const remedy = isPassing ? ` To go on, ask again when the network is there, or run "quern pull ${model}".` : '';
  return new Failure(kind, `${model} is not on this machine and could not be fetched: ${error.message}${remedy}`, {
    code,
    fields: { ...fields, model },
    ...(retryAfterS === undefined ? {} : { retryAfterS }),
    cause: error,
  });
}
