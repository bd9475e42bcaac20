import type { TaskItem } from '../../tasks/contract.js';

/** The kind of the tasks that consolidate a memory store. */
export const CONSOLIDATION_KIND = 'memory_consolidation';

/** What a task of consolidation is about; the input of its one item. */
export interface ConsolidationInput {
  readonly store: string;
  /** Where the store stood when the task was started; a cancelled task goes back there. */
  readonly after_seq: number;
  /** Names the run in what it makes. */
  readonly run: string;
  /** Whether the chat model reads too. */
  readonly use_llm: boolean;
}

/** The input of an item of such a task. */
export function inputOf({ input }: TaskItem): ConsolidationInput {
  return input as unknown as ConsolidationInput;
}

/** A store is consolidated by one task at a time. */
export function consolidationLock(item: TaskItem): string {
  return [CONSOLIDATION_KIND, item.namespace, item.project, inputOf(item).store].join('\n');
}
