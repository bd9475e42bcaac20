import type { ModelFetch } from '../../runtime/models/fetch/model-fetch.js';
import type { ModelFetches } from '../../runtime/models/fetch/on-use.js';
import { type Endpoint, endpoint } from '../../schemas/endpoint.js';
import type { CancelReply, Task } from '../../schemas/generated/core/tasks.js';

const TASKS = '/v1/tasks';

/** What the tasks of the machine work on. */
export interface FetchContext {
  readonly fetches: ModelFetches;
}

const STATES = { running: 'STARTED', done: 'SUCCESS', failed: 'FAILURE', cancelled: 'REVOKED' } as const;

/** A model that is fetched on its first use, as a task. */
function fetchTask(fetch: ModelFetch): Task {
  const { id, model, repository, state, bytes, totalBytes, bytesPerSecond, restS, progress, failure } = fetch;
  return {
    task_id: id,
    state: STATES[state],
    meta: {
      kind: 'model_fetch',
      model,
      repository,
      current: bytes,
      total: totalBytes,
      progress: totalBytes ? Math.floor((bytes / totalBytes) * 100) : 0,
      bytes_per_second: bytesPerSecond,
      eta_seconds: restS,
      message: progress,
    },
    result: state === 'done' ? { model, repository, size: totalBytes } : null,
    error: failure?.message ?? null,
    traceback: null,
    cancelled: state === 'cancelled',
  };
}

async function cancelFetch(fetch: ModelFetch): Promise<CancelReply> {
  const before = fetch.state;
  await fetch.cancel();
  const isCancelled = before === 'running';
  return {
    message: isCancelled ? `The fetch of ${fetch.model} is cancelled` : `The fetch of ${fetch.model} has ended already`,
    task_id: fetch.id,
    cancelled: isCancelled,
    pending_tasks_cancelled: 0,
    running_tasks_at_cancel: isCancelled ? 1 : 0,
    files_reverted: 0,
    files_failed_to_revert: 0,
    errors: null,
    already_completed: before === 'done' || before === 'failed',
    already_cancelled: before === 'cancelled',
  };
}

/** The tasks of the machine: models that are fetched on their first use. */
export const fetchEndpoints: Endpoint<FetchContext>[] = [
  endpoint<FetchContext>({
    method: 'GET',
    path: TASKS,
    id: 'machine_tasks',
    access: 'admins',
    summary: 'List the models that are fetched on their first use, the newest first',
    tag: 'tasks',
    response: 'core/tasks#TaskList',
    handler: ({ fetches }) => ({ json: { tasks: fetches.list().map(fetchTask) } }),
  }),
  endpoint<FetchContext>({
    method: 'GET',
    path: `${TASKS}/{task_id}`,
    id: 'machine_task_get',
    access: 'admins',
    summary: 'Read how far the fetch of a model is',
    tag: 'tasks',
    response: 'core/tasks#Task',
    handler: ({ fetches }, { params }) => ({ json: fetchTask(fetches.get(params.task_id!)) }),
  }),
  endpoint<FetchContext>({
    method: 'DELETE',
    path: `${TASKS}/{task_id}`,
    id: 'machine_task_cancel',
    access: 'admins',
    summary: 'Cancel the fetch of a model and remove what has come',
    tag: 'tasks',
    response: 'core/tasks#CancelReply',
    handler: async ({ fetches }, { params }) => ({ json: await cancelFetch(fetches.get(params.task_id!)) }),
  }),
];
