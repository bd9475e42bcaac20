import { existsSync } from 'node:fs';
import { join, posix } from 'node:path';
import { Failure, type FailureKind, STATUS_OF_KIND } from '../../../schemas/errors.js';
import { log } from '../../base/log.js';
import type { RemoteFile } from '../cache/layout.js';
import { fetchBlob } from './blob.js';
import type { HubClient } from './client.js';
import { isTransient } from './hub-requests.js';
import type { DownloadPlan } from './plan.js';

/** What a download tells while it runs; the wire names of 3-core-wire 1.9. */
export type DownloadEvent =
  | { event: 'warning'; message: string }
  | {
      event: 'init';
      model_id: string;
      repository: string;
      quantization: string | null;
      selected_file: string;
      total_size: number;
      is_gguf: boolean;
      file_count: number;
      /** Of the weights, where it is known. */
      licence?: string;
    }
  | { event: 'start'; file: string; total: number }
  | {
      event: 'progress';
      file: string;
      downloaded: number;
      total: number;
      /** 0 to 100, one decimal. */
      percent: number;
      bytes_per_sec: number;
      /** Null while nothing comes. */
      eta_seconds: number | null;
      /** Set where nothing has changed since the last event. */
      keepalive?: true;
    }
  | { event: 'cached'; file: string; size: number }
  | { event: 'end'; file: string; size: number }
  | { event: 'done'; local_dir: string }
  | { event: 'complete'; model_name: string }
  | { event: 'error'; message: string; error: string; status: number };

/** The failure that an `error` event stands for. */
export function downloadFailure({ status, message, error }: Extract<DownloadEvent, { event: 'error' }>): Failure {
  const kinds = Object.keys(STATUS_OF_KIND) as FailureKind[];
  // Of the two kinds with 503 only `busy` would say that this daemon has too much to do.
  const kind = kinds.find((one) => STATUS_OF_KIND[one] === status && one !== 'busy');
  return new Failure(kind ?? 'unavailable', message, { code: error });
}

/** A reader that lags by more than this misses progress, and nothing else. */
const LAG_LIMIT = 256;

/** The events of one download for one reader, kept until they are read. */
class EventQueue implements AsyncIterable<DownloadEvent> {
  #waiting: DownloadEvent[] = [];
  #wake: (() => void) | undefined;
  #ended = false;

  add(event: DownloadEvent): void {
    if (event.event === 'progress' && this.#waiting.length >= LAG_LIMIT) return;
    this.#waiting.push(event);
    this.#wake?.();
  }

  /** What was added is still read. */
  end(): void {
    this.#ended = true;
    this.#wake?.();
  }

  async *[Symbol.asyncIterator](): AsyncGenerator<DownloadEvent, void, undefined> {
    for (;;) {
      const next = this.#waiting.shift();
      if (next) yield next;
      else if (this.#ended) return;
      else {
        await new Promise<void>((resolve) => {
          this.#wake = resolve;
        });
        this.#wake = undefined;
      }
    }
  }
}

/** Between two progress events of a file. */
const PROGRESS_MS = 250;
/** A reader hears something at least this often. */
const KEEP_ALIVE_MS = 5000;

/** A pause of this length is told to readers. */
const TOLD_PAUSE_MS = 5000;

/** How the system refuses a folder that is not ours to write, or none. */
const REFUSED: ReadonlySet<string> = new Set(['EACCES', 'EPERM', 'EROFS', 'ENOTDIR', 'EEXIST']);

/** One download that runs for all who asked for the same files, until the last of them has gone. */
export class Download {
  readonly #client: HubClient;
  readonly #plan: DownloadPlan;
  readonly #readers = new Set<EventQueue>();
  /** All but progress, for readers that come later. */
  readonly #told: DownloadEvent[] = [];
  readonly #stop = new AbortController();
  /** Settles, never rejects, when nothing of it runs any more. */
  readonly finished: Promise<void>;

  constructor(client: HubClient, plan: DownloadPlan) {
    this.#client = client;
    this.#plan = plan;
    this.finished = this.#run();
  }

  /** False once it is being given up; a newcomer then begins anew. */
  get isOpen(): boolean {
    return !this.#stop.signal.aborted;
  }

  /** The events from the beginning on; returning from the iteration leaves the download. */
  join(): EventQueue {
    const queue = new EventQueue();
    for (const event of this.#told) queue.add(event);
    this.#readers.add(queue);
    return queue;
  }

  /** Ends a reader's part in it; without readers it stops, and what is complete stays. */
  leave(queue: EventQueue): void {
    this.#readers.delete(queue);
    queue.end();
    if (this.#readers.size === 0) this.cancel(new Failure('unavailable', 'Nobody waits for the download any more.'));
  }

  cancel(reason: Failure): void {
    this.#stop.abort(reason);
  }

  #tell(event: DownloadEvent): void {
    if (event.event !== 'progress') this.#told.push(event);
    for (const reader of this.#readers) reader.add(event);
  }

  async #run(): Promise<void> {
    // The one who begins it joins before anything is told.
    await Promise.resolve();
    const { layout, files, commit, revision, repository } = this.#plan;
    try {
      await layout.make();
      for (const file of files) await this.#file(file);
      const outside = await weightsNamedByGraphs(this.#plan);
      for (const file of outside) await this.#file(file);
      // Shown only now: a snapshot with half of a model must not look like one that can be loaded.
      for (const file of [...files, ...outside]) await layout.show(file, commit);
      await layout.refer(revision, commit);
      log('info', `${repository} is in the model cache`, { commit, files: files.length });
      this.#tell({ event: 'done', local_dir: layout.snapshot(commit) });
    } catch (error) {
      const failure = this.#failureOf(error);
      this.#tell({ event: 'error', message: failure.message, error: failure.code, status: failure.status });
    } finally {
      for (const reader of this.#readers) reader.end();
    }
  }

  #failureOf(error: unknown): Failure {
    if (isTransient(error)) {
      const { kind, code, message, retryAfterS } = error;
      const kept = `${message} What has come is kept, and the next pull goes on from there.`;
      return new Failure(kind, kept, { code, cause: error, ...(retryAfterS === undefined ? {} : { retryAfterS }) });
    }
    if (error instanceof Failure) return error;
    const { layout, repository } = this.#plan;
    const { code } = error as NodeJS.ErrnoException;
    if (code !== undefined && REFUSED.has(code)) {
      const what = `The model cache cannot be written: ${layout.folder} (${code})`;
      return new Failure('unavailable', `${what}. Make it writable, or name another folder in HF_HUB_CACHE.`, {
        code: 'CacheNotWritable',
        cause: error,
      });
    }
    log('error', `the download of ${repository} broke`, { error });
    return new Failure('internal', `The download of ${repository} broke; the log says why.`);
  }

  async #file(file: RemoteFile): Promise<void> {
    const { layout, commit } = this.#plan;
    const name = file.path;
    if (await layout.has(file, commit)) return this.#tell({ event: 'cached', file: name, size: file.sizeBytes });
    this.#tell({ event: 'start', file: name, total: file.sizeBytes });
    let bytes = 0;
    let [saidBytes, saidAt] = [-1, performance.now()];
    const rate = new Rate();
    const say = (): void => {
      const now = performance.now();
      if (bytes === saidBytes && now - saidAt < KEEP_ALIVE_MS) return;
      rate.mark(bytes, now);
      this.#tell({ ...progress(file, bytes, rate), ...(bytes === saidBytes ? { keepalive: true as const } : {}) });
      [saidBytes, saidAt] = [bytes, now];
    };
    const timer = setInterval(say, PROGRESS_MS);
    try {
      const onBytes = (onDisk: number): void => {
        bytes = onDisk;
      };
      const onPause = this.#pauseTeller(name);
      await fetchBlob({ client: this.#client, layout, commit, file, onBytes, onPause }, this.#stop.signal);
    } finally {
      clearInterval(timer);
    }
    bytes = file.sizeBytes;
    say();
    this.#tell({ event: 'end', file: name, size: file.sizeBytes });
  }

  /** Tells readers of long pauses of a file: once for each code of failure, because several connections of a file meet the same. */
  #pauseTeller(file: string): (ms: number, why: Failure) => void {
    const told = new Set<string>();
    return (ms, { code, message }) => {
      if (ms < TOLD_PAUSE_MS || told.has(code)) return;
      told.add(code);
      this.#tell({ event: 'warning', message: `${file} waits ${Math.round(ms / 1000)} s for the next try: ${message}` });
    };
  }
}

function progress(file: RemoteFile, bytes: number, rate: Rate): Extract<DownloadEvent, { event: 'progress' }> {
  return {
    event: 'progress',
    file: file.path,
    downloaded: bytes,
    total: file.sizeBytes,
    percent: Math.round((bytes / file.sizeBytes) * 1000) / 10,
    bytes_per_sec: rate.bytesPerSecond,
    eta_seconds: rate.secondsFor(file.sizeBytes - bytes),
  };
}

/** The rate is that of this long a time. */
const WINDOW_MS = 5000;

/** How fast bytes come now, and how long the rest will take. */
export class Rate {
  readonly #marks: { at: number; bytes: number }[] = [];

  /** Notes how many bytes there are at `at` (milliseconds of any clock that does not jump); fewer than before begin anew. */
  mark(bytes: number, at: number): void {
    if (bytes < (this.#marks.at(-1)?.bytes ?? 0)) this.#marks.length = 0;
    this.#marks.push({ at, bytes });
    while (this.#marks.length > 2 && this.#marks[1]!.at <= at - WINDOW_MS) this.#marks.shift();
  }

  get bytesPerSecond(): number {
    const [first, last] = [this.#marks[0], this.#marks.at(-1)];
    if (!first || !last || last.at === first.at) return 0;
    return Math.round(((last.bytes - first.bytes) / (last.at - first.at)) * 1000);
  }

  /** Whole seconds for so many more bytes; null while nothing comes. */
  secondsFor(bytes: number): number | null {
    const rate = this.bytesPerSecond;
    return rate > 0 ? Math.ceil(bytes / rate) : null;
  }
}

/** The names in a graph that has been fetched, relative to the repository. */
async function filesNamedBy(graph: RemoteFile, { layout, commit, repository }: DownloadPlan): Promise<string[]> {
  const place = [layout.blob(graph.etag), join(layout.snapshot(commit), ...graph.path.split('/'))].find((path) => existsSync(path));
  if (place === undefined) return [];
  const { externalFiles } = await import('../../formats/onnx/graph-file.js');
  try {
    return externalFiles(place).map((name) => posix.join(posix.dirname(graph.path), name));
  } catch (error) {
    // Its bytes are those of the hub; loading it says what is wrong with them.
    log('warn', `${graph.path} of ${repository} does not tell where its weights lie`, { error });
    return [];
  }
}

/**
 * Files of a repository with weights of graphs that have been fetched, and that the plan does not have: exporters may call them as they like,
 * and only the graph itself tells. Never a file outside the graph's folder.
 */
async function weightsNamedByGraphs(plan: DownloadPlan): Promise<RemoteFile[]> {
  const graphs = plan.files.filter(({ path }) => /\.onnx$/i.test(path));
  const named = new Set((await Promise.all(graphs.map((graph) => filesNamedBy(graph, plan)))).flat());
  return plan.beside.filter(({ path }) => named.has(path));
}
