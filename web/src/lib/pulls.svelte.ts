/** Downloads of models that this page began. They go on while other views are looked at; the daemon keeps what came of one that ends early, and goes on from there. */
import { untrack } from 'svelte';
import { ApiError, ask, events, isAbort, sentence } from './api';
import { connection } from './connection.svelte';
import { duration, size } from './format';

/** One download. */
export class Pull {
  /** The model's name as it was asked for. */
  readonly name: string;
  /** Called once when the model is here. */
  readonly waiting: (() => void)[] = [];
  state = $state<'asking' | 'running' | 'stopped' | 'failed' | 'done'>('asking');
  /** Why the download failed, or what the daemon warns of while it runs. */
  message = $state('');
  licence = $state('');
  fileCount = $state(0);
  totalBytes = $state(0);
  rate = $state(0);
  /** The connection broke; the download goes on by itself when the daemon is back. */
  isBroken = false;
  #here = $state<Record<string, number>>({});
  #control = new AbortController();
  #hasBegun = false;

  /** One that an earlier page began stands as stopped. */
  constructor(name: string, isKept = false) {
    this.name = name;
    if (isKept) this.state = 'stopped';
  }

  get isUnderWay(): boolean {
    return this.#hasBegun && (this.state === 'asking' || this.state === 'running');
  }

  /** Bytes that are on the disk. */
  get bytes(): number {
    return Object.values(this.#here).reduce((sum, one) => sum + one, 0);
  }

  /** The part that is here, 0 to 1; undefined until the size is known. */
  get part(): number | undefined {
    return this.totalBytes > 0 ? Math.min(1, this.bytes / this.totalBytes) : undefined;
  }

  /** How much is here, how fast it comes and how long it will take, in words. */
  get note(): string {
    if (this.totalBytes === 0) return '';
    const rest = this.totalBytes - this.bytes;
    const pace = this.rate > 0 ? `, ${size(this.rate)}/s, ${duration((rest / this.rate) * 1_000)} left` : '';
    return `${size(this.bytes)} of ${size(this.totalBytes)}${pace}`;
  }

  stop(): void {
    this.#control.abort();
  }

  /** Begins the download, or goes on with what is here already. Resolves when it ended, in whatever way, to whether the model is here. */
  async run(): Promise<boolean> {
    this.#control = new AbortController();
    this.#hasBegun = true;
    [this.state, this.message, this.isBroken] = ['asking', '', false];
    try {
      const { signal } = this.#control;
      const response = await ask('/v1/models/download', { json: { model_name: this.name }, signal });
      for await (const { data } of events(response)) {
        const told = JSON.parse(data) as Told;
        this.#take(told);
        // The last word ends the download before its stream does: by the end of that another one may have begun.
        if (told.event === 'complete' || told.event === 'error') return told.event === 'complete';
      }
      throw new TypeError('The stream ended.');
    } catch (error) {
      this.state = isAbort(error) ? 'stopped' : 'failed';
      // Each browser names a stream that breaks in its own words, so that every such error counts as one.
      this.isBroken = !isAbort(error) && !(error instanceof ApiError && error.status !== 0);
      if (this.isBroken) connection.lost();
      this.message = isAbort(error)
        ? ''
        : this.isBroken
          ? 'The connection broke. What came is kept, and it goes on when the daemon is back.'
          : sentence(error);
    }
    this.rate = 0;
    return false;
  }

  #take(told: Told): void {
    if (told.event === 'init') {
      [this.state, this.totalBytes, this.fileCount, this.licence] = ['running', told.total_size, told.file_count, told.licence ?? ''];
    } else if (told.event === 'progress') {
      this.#here[told.file] = told.downloaded;
      this.rate = told.bytes_per_sec;
    } else if (told.event === 'end' || told.event === 'cached') this.#here[told.file] = told.size;
    else if (told.event === 'warning') this.message = told.message;
    else if (told.event === 'complete') [this.state, this.rate] = ['done', 0];
    else if (told.event === 'error') [this.state, this.message, this.rate] = ['failed', told.message, 0];
  }
}

/** What the daemon tells of a download, as far as it is shown. */
type Told =
  | { event: 'warning' | 'error'; message: string }
  | { event: 'init'; total_size: number; file_count: number; licence?: string }
  | { event: 'progress'; file: string; downloaded: number; bytes_per_sec: number }
  | { event: 'cached' | 'end'; file: string; size: number }
  | { event: 'start' | 'done' | 'complete' };

const PLACE = 'quern.pulls';

class Pulls {
  list = $state.raw<readonly Pull[]>(kept());
  /** Grows with each model that came: lists of models that read it load again. */
  arrivals = $state(0);

  constructor() {
    $effect.root(() => {
      $effect(() => {
        void connection.returns;
        untrack(() => {
          for (const { isBroken, name } of this.list) if (isBroken) this.begin(name);
        });
      });
    });
  }

  /** Begins a download, or goes on with the one of that name; `oncome` is called when the model is here. */
  begin(name: string, oncome?: () => void): Pull {
    const known = this.list.find((one) => one.name === name);
    const pull = known ?? new Pull(name);
    if (!known) this.list = [pull, ...this.list];
    if (oncome) pull.waiting.push(oncome);
    if (!known?.isUnderWay)
      void pull.run().then((isHere) => {
        this.#keep();
        if (!isHere) return;
        this.arrivals += 1;
        for (const one of pull.waiting.splice(0)) one();
      });
    this.#keep();
    return pull;
  }

  /** Takes a download that ended out of the list. */
  dismiss(pull: Pull): void {
    this.list = this.list.filter((one) => one !== pull);
    this.#keep();
  }

  /** Keeps what is under way in this browser, so that a page that is loaded again knows it. */
  #keep(): void {
    const names = this.list.filter(({ state }) => state !== 'done').map(({ name }) => name);
    if (names.length === 0) localStorage.removeItem(PLACE);
    else localStorage.setItem(PLACE, JSON.stringify(names));
  }
}

function kept(): Pull[] {
  try {
    const names: unknown = JSON.parse(localStorage.getItem(PLACE) ?? '[]');
    return Array.isArray(names) ? names.flatMap((name) => (typeof name === 'string' ? [new Pull(name, true)] : [])) : [];
  } catch {
    return [];
  }
}

export const pulls = new Pulls();
