import type { Tasks } from '../../runtime/tasks/tasks.js';
import { type Endpoint, endpoint, type Request } from '../../schemas/endpoint.js';

const TASKS = '/v1/projects/{namespace}/{project}/tasks';
const TASK = `${TASKS}/{task_id}`;

/** What the task endpoints work on. */
export interface TaskContext {
  readonly tasks: Tasks;
}

function place({ params }: Request): [namespace: string, project: string, id: string] {
  return [params.namespace!, params.project!, params.task_id!];
}

/** The task endpoints: list, poll and cancel. */
export const taskEndpoints: Endpoint<TaskContext>[] = [
  endpoint<TaskContext>({
    method: 'GET',
    path: TASKS,
    id: 'tasks_open',
    access: 'members',
    summary: 'List the tasks that have not ended',
    tag: 'tasks',
    response: 'core/tasks#OpenTasks',
    handler: ({ tasks }, { params }) => ({ json: { tasks: tasks.open(params.namespace!, params.project!) } }),
  }),
  endpoint<TaskContext>({
    method: 'GET',
    path: TASK,
    id: 'task_get',
    access: 'members',
    summary: 'Read the state, progress and result of a task',
    tag: 'tasks',
    tool: 'reads',
    response: 'core/tasks#Task',
    handler: ({ tasks }, request) => ({ json: tasks.get(...place(request)) }),
  }),
  endpoint<TaskContext>({
    method: 'DELETE',
    path: TASK,
    id: 'task_cancel',
    access: 'writers',
    summary: 'Cancel a task and take back what it has done',
    tag: 'tasks',
    tool: 'removes',
    response: 'core/tasks#CancelReply',
    handler: async ({ tasks }, request) => ({ json: await tasks.cancel(...place(request)) }),
  }),
];
