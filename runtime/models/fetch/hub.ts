import { Failure } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { Events } from '../../events/events.js';
import { type Recording, SERVER_LOG } from '../../events/recording.js';
import type { Outbound } from '../../net/outbound.js';
import { type Removal, removeModel, removePart } from '../cache/removal.js';
import { removeUnfinished, sweepCache } from '../cache/sweep.js';
import { repositoriesOf } from '../find/names.js';
import { repositoryPart } from '../find/parts.js';
import { HubClient } from './client.js';
import { Download, type DownloadEvent } from './download.js';
import { type DownloadPlan, optionsOf, planDownload, repositoryName } from './plan.js';
import type { QuantisationOption } from './selection.js';
import { type HubSettings, hubSettings } from './settings.js';
import { type Fit, fit } from './space.js';

/** Downloads that may run at a time; each has a few connections. */
const DOWNLOADS_LIMIT = 16;

const STOPS = 'The daemon stops; start the download again to go on.';

/** The model hub and what is fetched from it into the cache that this machine's programs share. */
export class Hub {
  readonly #outbound: Outbound;
  readonly #env: NodeJS.ProcessEnv | HubSettings;
  readonly #events: Events | undefined;
  #made: HubClient | undefined;
  #madePublic: HubClient | undefined;
  #isClosed = false;
  readonly #running = new Map<string, Download>();
  readonly #sweepStop = new AbortController();
  #sweep: Promise<unknown> = Promise.resolve();
  /** By repository in lower case; they settle and never reject. */
  readonly #removals = new Map<string, Promise<void>>();

  /** `settings` are those of the environment unless given; `events` keep what was downloaded. */
  constructor(outbound: Outbound, settings: NodeJS.ProcessEnv | HubSettings = process.env, events?: Events) {
    this.#outbound = outbound;
    this.#env = settings;
    this.#events = events;
  }

  /** The cache folder. */
  get cache(): string {
    return this.#client.settings.cache;
  }

  get #client(): HubClient {
    this.#made ??= new HubClient(
      this.#outbound,
      'pauseMs' in this.#env ? (this.#env as HubSettings) : hubSettings(this.#env as NodeJS.ProcessEnv),
    );
    return this.#made;
  }

  /** Asks without a token: for those who may have only what everybody may. */
  get #publicClient(): HubClient {
    this.#madePublic ??= new HubClient(this.#outbound, { ...this.#client.settings, token: null });
    return this.#madePublic;
  }

  /** Whether the hub is not to be asked. */
  get isOffline(): boolean {
    return this.#client.settings.offline;
  }

  /** What downloading a model would fetch; `isPublic` asks for it, and fetches it, without the operator's token. */
  async plan(name: string, signal: AbortSignal, isPublic = false): Promise<DownloadPlan> {
    if (!isPublic) return planDownload(this.#client, name, signal);
    return { ...(await planDownload(this.#publicClient, name, signal)), isPublic };
  }

  /** What a model can be had as, the smallest first. */
  quantisations(name: string, signal: AbortSignal): Promise<QuantisationOption[]> {
    return optionsOf(this.#client, name, signal);
  }

  /** Whether what a plan still has to fetch fits on the disk of the cache. */
  fit(plan: DownloadPlan): Promise<Fit> {
    return fit(this.cache, plan.missingBytes);
  }

  /** The ids of the repositories that are being fetched. */
  get active(): string[] {
    return [...this.#running.keys()].map((key) => key.slice(0, key.indexOf('@')));
  }

  /**
   * Downloads what a plan names, together with all who asked for the same; the events end with `done` and `complete`, or with `error`.
   * Leaving the iteration, or aborting, gives up this one's part. It begins when a removal of the same has ended.
   */
  async *download(plan: DownloadPlan, signal: AbortSignal): AsyncGenerator<DownloadEvent, void, undefined> {
    const key = plan.repository.toLowerCase();
    while (this.#removals.has(key)) await this.#removals.get(key);
    if (signal.aborted) return;
    const download = this.#join(plan);
    const record = this.#events && new DownloadRecord(this.#events, plan);
    const queue = download.join();
    const leave = (): void => download.leave(queue);
    signal.addEventListener('abort', leave, { once: true });
    try {
      for (const message of plan.notes) yield { event: 'warning', message };
      yield {
        event: 'init',
        model_id: plan.id,
        repository: plan.repository,
        quantization: plan.quantisation,
        selected_file: plan.main,
        total_size: plan.totalBytes,
        is_gguf: plan.format === 'gguf',
        file_count: plan.files.length,
        ...(plan.licence === null ? {} : { licence: plan.licence }),
      };
      for await (const event of queue) {
        record?.happened(event);
        yield event;
        if (event.event === 'done') yield { event: 'complete', model_name: plan.name };
      }
    } finally {
      signal.removeEventListener('abort', leave);
      leave();
      record?.left();
    }
  }

  /**
   * Removes a model with all its revisions from the cache: its own repository, else the one that stands in for it; a quantisation in its
   * name makes no difference. `loaded` are the keys of the models that are loaded or loading, `own` is `{data_dir}/models`. Throws `conflict` while the model is one of
   * them or being downloaded, `not_found` for what the cache does not have, with the path of what lies in `own`.
   */
  async remove(name: string, loaded: () => readonly string[], own?: string): Promise<Removal> {
    const part = repositoryPart(name);
    const repositories: [string, ...string[]] = part ? [part.repository] : repositoriesOf(repositoryName(name).id);
    const keys = repositories.map((repository) => repository.toLowerCase());
    for (let key = this.#removed(keys); key !== undefined; key = this.#removed(keys)) await this.#removals.get(key);
    const places = { cache: this.cache, own };
    const needs = { loaded, active: this.active };
    const removal = part ? removePart(places, part, needs) : removeModel(places, repositories, needs);
    const settled = removal.then(
      () => undefined,
      () => undefined,
    );
    for (const key of keys) this.#removals.set(key, settled);
    void settled.then(() => {
      for (const key of keys) this.#removals.delete(key);
    });
    return removal;
  }

  /** Removes the halves that a cancelled download has left, where nobody else fetches the same. Resolves when it has ended. */
  async discard({ repository, layout, files }: DownloadPlan): Promise<void> {
    const others = [...this.#running].filter(([key]) => key.startsWith(`${repository}@`)).map(([, download]) => download);
    await Promise.all(others.filter(({ isOpen }) => !isOpen).map(({ finished }) => finished));
    if (others.some(({ isOpen }) => isOpen)) return;
    await removeUnfinished(layout, files);
  }

  /** Begins to remove what downloads that were cut short have left in the cache; see `sweepCache`. */
  sweep(): void {
    // Settings that cannot be read leave nothing to sweep; who asks for a model is told.
    this.#sweep = Promise.resolve()
      .then(() => sweepCache(this.cache, this.#sweepStop.signal))
      .catch((cause: unknown) => log('debug', 'the model cache could not be swept', { cause }));
  }

  /** Stops every download and waits until none writes any more. */
  async close(): Promise<void> {
    this.#isClosed = true;
    this.#sweepStop.abort();
    await this.#sweep;
    await Promise.all(this.#removals.values());
    const running = [...this.#running.values()];
    for (const download of running) download.cancel(new Failure('unavailable', STOPS));
    await Promise.all(running.map(({ finished }) => finished));
  }

  /** One of these repositories that is being removed. */
  #removed(keys: readonly string[]): string | undefined {
    return keys.find((key) => this.#removals.has(key));
  }

  #join(plan: DownloadPlan): Download {
    if (this.#isClosed) throw new Failure('unavailable', STOPS);
    const key = `${plan.repository}@${plan.commit} ${plan.files.map(({ path }) => path).join('\n')}`;
    const known = this.#running.get(key);
    if (known?.isOpen) return known;
    if (this.#running.size >= DOWNLOADS_LIMIT)
      throw new Failure('busy', `${DOWNLOADS_LIMIT} downloads are running, the most at a time; wait for one to end.`, { retryAfterS: 30 });
    const download = new Download(plan.isPublic ? this.#publicClient : this.#client, plan);
    this.#running.set(key, download);
    void download.finished.then(() => {
      if (this.#running.get(key) === download) this.#running.delete(key);
    });
    return download;
  }
}

/** Files of a download that its event names. */
const MAX_FILES = 100;

/** The event of one download as one client asked for it. Only its first end counts. */
class DownloadRecord {
  readonly #recording: Recording;
  readonly #plan: DownloadPlan;
  #files = 0;

  constructor(events: Events, plan: DownloadPlan) {
    this.#recording = events.begin('download', SERVER_LOG);
    this.#plan = plan;
  }

  /** Takes note of what the client is told. */
  happened(event: DownloadEvent): void {
    if (event.event === 'done') this.#end();
    else if (event.event === 'error') this.#end(event.message);
    else if (event.event === 'end' || event.event === 'cached') {
      this.#files += 1;
      const name = event.event === 'end' ? 'file_downloaded' : 'file_cached';
      if (this.#files <= MAX_FILES) this.#recording.note(name, { file: event.file, size: event.size });
    }
  }

  /** The client reads no more. */
  left(): void {
    this.#end('The client left before the download was complete; it goes on for others, or when it is asked for again.');
  }

  #end(error?: string): void {
    const { name, repository, quantisation, commit, totalBytes, missingBytes, files } = this.#plan;
    const data = {
      repository,
      commit,
      quantization: quantisation,
      total_files: files.length,
      total_bytes: totalBytes,
      missing_bytes: missingBytes,
    };
    this.#recording.end({ model: name, data, ...(error === undefined ? {} : { error }) });
  }
}
