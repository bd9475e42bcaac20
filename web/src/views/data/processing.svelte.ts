/** The tasks that take the files of a dataset into its database: followed while they run, and what came of each file. */

import type { ActionReply } from '$schemas/core/datasets';
import type { EventList, EventRecord } from '$schemas/core/events';
import type { Task } from '$schemas/core/tasks';
import { ApiError, get, send } from '../../lib/api';
import { Latest } from '../../lib/overlap.svelte';
import { toasts } from '../../lib/toasts.svelte';

const POLL_MS = 700;
/** The most ended tasks whose outcomes are shown. */
const MOST_TASKS = 8;

/** A file of a task as its progress lists it. */
export interface FileProgress {
  readonly index: number;
  readonly state: 'pending' | 'processing' | 'success' | 'failure';
  readonly filename: string;
  readonly error: string | null;
}

/** How far a task is. */
export interface TaskProgress {
  readonly current: number;
  readonly total: number;
  readonly files: readonly FileProgress[];
  readonly eta_seconds?: number | null;
}

/** What came of a file. */
export interface Outcome {
  readonly error: string | null;
  readonly warnings: readonly string[];
  readonly parser: string | null;
}

/** Whether a task goes on. */
export const isOpen = ({ state }: Task): boolean => state === 'PENDING' || state === 'STARTED' || state === 'RETRY';

export class Processing {
  readonly #project: string;
  readonly #dataset: string;
  readonly #looking = new Latest();
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The tasks, the newest last. */
  tasks = $state.raw<readonly Task[]>([]);
  /** Grows each time that a task ends: the files are worth another look then. */
  ends = $state(0);

  constructor(project: string, dataset: string) {
    this.#project = project;
    this.#dataset = dataset;
  }

  /** The tasks that go on. It is no derived value, because that would end with the view that first asked for it, and the work does not. */
  get open(): readonly Task[] {
    return this.tasks.filter(isOpen);
  }

  /** Looks for tasks that this browser began, and for those that ended lately, whoever began them. */
  async load(): Promise<void> {
    const { events } = await get<EventList>(`${this.#project}/event_logs?type=dataset_ingestion&limit=${MOST_TASKS}`);
    const records = await Promise.all(events.map(({ event_id }) => get<EventRecord>(`${this.#project}/event_logs/${event_id}`)));
    const ended = records.reverse().flatMap(({ data }) => {
      const { dataset, task_id: id } = (data ?? {}) as { dataset?: string; task_id?: string };
      return dataset === this.#dataset && id !== undefined ? [id] : [];
    });
    // Tasks that ended are older than those that run, so that they come first.
    const found = (await Promise.all([...new Set([...ended, ...this.#kept()])].map((id) => this.#read(id)))).filter(
      (task) => task !== undefined,
    );
    // A task may have begun meanwhile.
    const known = new Set(this.tasks.map(({ task_id }) => task_id));
    this.tasks = [...found.filter(({ task_id }) => !known.has(task_id)), ...this.tasks].slice(-MOST_TASKS);
    this.#follow();
  }

  /** Begins a task for all files, or for one. */
  async start(hash?: string): Promise<void> {
    const body = { action_type: 'process', ...(hash === undefined ? {} : { file_hash: hash }) };
    const { task_id: id } = await send<ActionReply>(`${this.#project}/datasets/${encodeURIComponent(this.#dataset)}/actions`, body);
    const task = await this.#read(id!);
    if (task) this.tasks = [...this.tasks.filter((one) => one.task_id !== id), task].slice(-MOST_TASKS);
    this.#keep();
    if (task && !isOpen(task)) this.ends += 1;
    this.#follow();
  }

  /** Ends a task; what it has stored goes. */
  async cancel({ task_id: id }: Task): Promise<void> {
    await get(`${this.#project}/tasks/${id}`, { method: 'DELETE' });
    await this.#look();
  }

  #follow(): void {
    if (this.#timer === undefined && this.open.length > 0) this.#timer = setTimeout(() => void this.#look(), POLL_MS);
  }

  async #look(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    await this.#looking.run(
      (signal) => Promise.all(this.open.map(async ({ task_id: id }) => [id, await this.#read(id, signal)] as const)),
      (read) => {
        const now = new Map(read);
        // One that the daemon keeps no more has ended too.
        this.tasks = this.tasks.flatMap((task) => (now.has(task.task_id) ? (now.get(task.task_id) ?? []) : [task]));
        if (read.every(([, task]) => task && isOpen(task))) return;
        this.ends += 1;
        this.#keep();
      },
      (error) => {
        // While the daemon is away, the task stands still and is asked for again.
        if (!(error instanceof ApiError && error.status === 0)) toasts.bad(error);
      },
    );
    this.#follow();
  }

  /** A task; undefined where the daemon does not keep it any more. */
  async #read(id: string, signal?: AbortSignal): Promise<Task | undefined> {
    try {
      return await get<Task>(`${this.#project}/tasks/${encodeURIComponent(id)}`, signal ? { signal } : {});
    } catch (error) {
      if (error instanceof ApiError && error.status === 404) return undefined;
      throw error;
    }
  }

  get #place(): string {
    return `quern.tasks ${this.#project} ${this.#dataset}`;
  }

  #kept(): string[] {
    return (localStorage.getItem(this.#place) ?? '').split(' ').filter((id) => id !== '');
  }

  #keep(): void {
    const ids = this.open.map(({ task_id }) => task_id).join(' ');
    if (ids === '') localStorage.removeItem(this.#place);
    else localStorage.setItem(this.#place, ids);
  }
}

/** What came of each file, by its hash; the newest task that tells of it counts. */
export function outcomesOf(tasks: readonly Task[]): Map<string, Outcome> {
  const found = new Map<string, Outcome>();
  for (const { result } of tasks) {
    const details = (result as { details?: unknown[] } | null)?.details ?? [];
    for (const detail of details) {
      const info = (Array.isArray(detail) ? detail[1] : detail) as Partial<Outcome> & { file_hash?: string };
      if (info.file_hash)
        found.set(info.file_hash, { error: info.error ?? null, warnings: info.warnings ?? [], parser: info.parser ?? null });
    }
  }
  return found;
}
