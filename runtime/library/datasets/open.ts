import type { Projects } from '../../projects/projects.js';
import type { Store } from '../../store/store.js';
import { Tasks, type TasksOptions } from '../../tasks/tasks.js';
import type { Ingest } from './contract.js';
import { Datasets } from './datasets.js';
import { DATASET_KIND, datasetKind } from './kind.js';
import { DatasetPlaces } from './places.js';

/** What datasets and their tasks are opened with. */
export interface OpenDatasetsParts {
  readonly store: Store;
  readonly projects: Projects;
  readonly ingest: Ingest;
  /** Bytes of all files of one dataset; `DATASET_BYTES` unless given. */
  readonly quotaBytes?: number;
  readonly taskOptions?: TasksOptions;
}

/** Opens the datasets and the queue of their tasks, which goes on where it was. Close the tasks before what ingestion uses, and the store after it. */
export function openDatasets({ store, projects, ingest, quotaBytes, taskOptions }: OpenDatasetsParts): {
  datasets: Datasets;
  tasks: Tasks;
} {
  const places = new DatasetPlaces();
  const tasks = new Tasks(store, { [DATASET_KIND]: datasetKind({ projects, places, ingest }) }, taskOptions);
  projects.onErase((namespace, name) => tasks.erase(namespace, name));
  const datasets = new Datasets({ projects, places, tasks, ingest, ...(quotaBytes === undefined ? {} : { quotaBytes }) });
  return { datasets, tasks };
}
