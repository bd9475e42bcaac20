/** Address of a task: it exists only in the project that started it. */
export type TaskKey = readonly [namespace: string, project: string, id: string];

/** Address of an item: the id of its task, and its place among the items from 0. */
export type ItemKey = readonly [taskId: string, index: number];

/** What a cancellation removed again. */
export interface Cleanup {
  reverted: number;
  failed: number;
  errors: { file_hash: string; error: string }[];
}

/** One task as the store keeps it; its items have their own records. Times are milliseconds since 1970. */
export interface TaskRecord {
  kind: string;
  /** Of several items, each with its own outcome; else the task is its one item. */
  group: boolean;
  /** `preparing` until all items are stored: a task that is found so at a start was never acknowledged, and is removed. */
  phase: 'preparing' | 'open' | 'finished';
  /** Number of items. */
  total: number;
  /** What all items share; goes to each run. */
  shared: Record<string, unknown>;
  /** The result of a task without items. */
  result?: Record<string, unknown>;
  createdMs: number;
  startedMs?: number;
  finishedMs?: number;
  /** Set once, by the first cancellation. */
  cancelled?: { atMs: number; pending: number; running: number; cleanup?: Cleanup };
}

/** What one item came to; `info` is shown to clients as it is. */
export interface ItemOutcome {
  status: 'success' | 'skipped' | 'failed';
  stored: number;
  skipped: number;
  info: Record<string, unknown>;
}

/** One item of a task. An item that failed is the dead letter: it keeps its input and the reason, and nothing tries it again. */
export interface ItemRecord {
  /** What the item is about, such as a file hash. */
  key: string;
  /** As the user calls it. */
  name: string;
  input: Record<string, unknown>;
  /** What is pending in a cancelled task never runs. */
  state: 'pending' | 'running' | 'done' | 'failed';
  /** Runs that ended with an error that may pass. */
  attempts: number;
  /** Runs that never ended, because the process did; counted since the last progress. */
  interruptions: number;
  /** Not to be run before this moment. */
  notBeforeMs?: number;
  /** The run has changed something that a cancellation must take back. */
  touched?: boolean;
  /** Of an item that is done. */
  outcome?: ItemOutcome;
  /** Why the last run failed. */
  error?: string;
}
