/** What goes on with the datasets of this page's daemon, kept while other views are open. */
import { count } from '../../lib/format';
import { toasts } from '../../lib/toasts.svelte';
import { Processing } from './processing.svelte';
import { Uploads } from './uploads.svelte';

/** Uploads to one dataset, and the tasks that read what came. */
export class DatasetWork {
  readonly uploads: Uploads;
  readonly processing: Processing;
  /** Whether files are processed when their upload is done. */
  processes = $state(true);
  /** Grows when something was stored. */
  arrivals = $state(0);
  /** Files that an earlier page sent, which was closed before it had them processed. */
  #left: number;
  /** Files of this page that are stored, and whose task has not begun. */
  #unread = 0;
  readonly #place: string;

  constructor(project: string, dataset: string) {
    this.#place = `quern.unread ${project} ${dataset}`;
    this.#left = Number(localStorage.getItem(this.#place) ?? 0);
    this.processing = new Processing(project, dataset);
    const stored = (): void => this.#keep(this.processes ? 1 : 0);
    this.uploads = new Uploads(`${project}/datasets/${encodeURIComponent(dataset)}/data`, stored, (hashes) => {
      this.arrivals += 1;
      // One task for all: a task of the whole dataset passes over what the database has.
      if (!this.processes) this.#keep(-this.#unread);
      else
        this.processing.start(hashes.length === 1 ? hashes[0] : undefined).then(
          () => this.#keep(-hashes.length),
          (error) => toasts.bad(error),
        );
    });
  }

  /** Has those files processed that an earlier page sent and left. */
  async resume(): Promise<void> {
    const left = this.#left;
    if (left === 0) return;
    this.#left = 0;
    try {
      await this.processing.start();
      this.#keep(0);
      toasts.good(
        `${count(left)} ${left === 1 ? 'file' : 'files'} of an upload that was broken off ${left === 1 ? 'is' : 'are'} read now.`,
      );
    } catch (error) {
      this.#left = left;
      toasts.bad(error);
    }
  }

  /** Notes that so many files more wait for their task. */
  #keep(more: number): void {
    this.#unread = Math.max(0, this.#unread + more);
    const all = this.#left + this.#unread;
    if (all === 0) localStorage.removeItem(this.#place);
    else localStorage.setItem(this.#place, String(all));
  }
}

const works = new Map<string, DatasetWork>();

/** The work on a dataset of the project at a path. */
export function workOn(project: string, dataset: string): DatasetWork {
  const name = `${project} ${dataset}`;
  const known = works.get(name) ?? new DatasetWork(project, dataset);
  works.set(name, known);
  return known;
}

/** Ends the work on a dataset that is deleted: one that gets its name later begins with nothing. */
export function forgetWork(project: string, dataset: string): void {
  const name = `${project} ${dataset}`;
  works.get(name)?.uploads.cancelAll();
  works.delete(name);
}

// A page that is closed forgets the files that it was given.
addEventListener('beforeunload', (event) => {
  if ([...works.values()].some(({ uploads }) => uploads.isBusy)) event.preventDefault();
});
