import type { Datasets } from '../../runtime/library/datasets/datasets.js';
import type { PagePictures } from '../../runtime/library/datasets/page-pictures.js';
import type { Tasks } from '../../runtime/tasks/tasks.js';
import type { Request } from '../../schemas/endpoint.js';

/** What the dataset endpoints work on. */
export interface DatasetContext {
  readonly datasets: Datasets;
  readonly tasks: Tasks;
  readonly pagePictures: PagePictures;
}

/** Path of the collection. */
export const DATASETS = '/v1/projects/{namespace}/{project}/datasets';
/** Path of one dataset. */
export const DATASET = `${DATASETS}/{dataset}`;

/** The dataset that a request is about. */
export function place({ params }: Pick<Request, 'params'>): [namespace: string, project: string, dataset: string] {
  return [params.namespace!, params.project!, params.dataset!];
}
