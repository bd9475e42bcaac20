import type { JsonObject } from '../base/json.js';
import type { ItemOutcome, ItemRecord, TaskRecord } from '../store/store.js';

/** An item as its kind sees it. */
export interface TaskItem {
  /** The id of its task. */
  readonly task: string;
  readonly namespace: string;
  readonly project: string;
  /** What it is about, such as a file hash. */
  readonly key: string;
  /** As the user calls it. */
  readonly name: string;
  readonly input: JsonObject;
  /** What all items of the task have in common. */
  readonly shared: JsonObject;
}

/** What a run is told and tells. */
export interface RunContext {
  /** Aborts when the task is cancelled or the daemon stops. */
  readonly signal: AbortSignal;
  /** From 1. */
  readonly attempt: number;
  /** To be awaited before the run changes anything that `revert` would take back. */
  touch(): Promise<void>;
  /** How far the run is; kept in memory only. */
  report(progress: { readonly done: number; readonly total?: number; readonly stored: number }): void;
}

/** A task that has ended, as it is stored. */
export interface EndedTask {
  readonly namespace: string;
  readonly project: string;
  readonly id: string;
  readonly record: TaskRecord;
  readonly items: readonly ItemRecord[];
}

/** What the items of a task have done to them. Runs are repeated after a crash, so a run must accept what an earlier one left. */
export interface TaskKind {
  /** Throws `unavailable`, `timed_out`, `busy`, `too_many` or `disk_full` to be tried again; any other error is final for the item. */
  run(item: TaskItem, context: RunContext): Promise<ItemOutcome>;
  /** Called instead of `run` for an item that is given up because the daemon ended too often with it: takes away what must not stay. */
  abandon?(item: TaskItem): Promise<void>;
  /** Takes back what runs of the item have done; returns how much that was. */
  revert(item: TaskItem): Promise<number>;
  /** Told once when a task has ended, cancelled or not; must not throw. */
  ended?(task: EndedTask): void;
  /** Items with the same text never run at the same time. */
  lock?(item: TaskItem): string;
}

/** What a task is started with. */
export interface TaskSpec {
  readonly namespace: string;
  readonly project: string;
  readonly kind: string;
  readonly items: readonly Pick<TaskItem, 'key' | 'name' | 'input'>[];
  readonly shared?: JsonObject;
  /** False for a task of one item that cannot be cancelled; its result is the item's `info`. */
  readonly group?: boolean;
  /** The result of a task without items, which ends at once. */
  readonly emptyResult?: JsonObject;
}
