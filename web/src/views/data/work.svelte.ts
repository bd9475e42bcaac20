/** What goes on with the datasets of this page's daemon, kept while other views are open. */
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

  constructor(project: string, dataset: string) {
    this.processing = new Processing(project, dataset);
    this.uploads = new Uploads(`${project}/datasets/${encodeURIComponent(dataset)}/data`, (hashes) => {
      this.arrivals += 1;
      // One task for all: a task of the whole dataset passes over what the database has.
      if (this.processes) this.processing.start(hashes.length === 1 ? hashes[0] : undefined).catch((error) => toasts.bad(error));
    });
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

// A page that is closed forgets the files that it was given.
addEventListener('beforeunload', (event) => {
  if ([...works.values()].some(({ uploads }) => uploads.isBusy)) event.preventDefault();
});
