import type { Memories, MemoryRecord, MemoryStore } from '../../runtime/memory/contract.js';
import type { Mind } from '../../runtime/memory/mind.js';
import { shownMemory } from '../../runtime/memory/wire.js';
import type { Request } from '../../schemas/endpoint.js';
import { Failure } from '../../schemas/errors.js';
import type { Memory } from '../../schemas/generated/core/memory.js';

/** Below this lies what a project remembers. */
export const MEMORY = '/v1/projects/{namespace}/{project}/memory';
/** The tag of its operations. */
export const tag = 'memory';

/** What the memory endpoints work on. */
export interface MemoryContext {
  readonly memories: Memories;
  readonly mind: Pick<Mind, 'recall' | 'consolidate' | 'consolidating' | 'forget' | 'clear'>;
}

/** The store that a request is about. */
export function storeOf({ memories }: MemoryContext, { params, query }: Request): Promise<MemoryStore> {
  return memories.of(params.namespace!, params.project!, query.store_name as string | undefined);
}

/** Reads of a kind; throws `conflict` (MemoryKindOff) where the project has not turned it on. */
export function readsOf<Reads>(store: MemoryStore, reads: Reads | undefined, kind: string): Reads {
  if (reads !== undefined) return reads;
  throw new Failure('conflict', `Memory store '${store.name}' keeps no ${kind}: add '${kind}: {}' to it in the project's memory section.`, {
    code: 'MemoryKindOff',
  });
}

/** Records as an answer shows them. */
export function renderMemories(records: readonly MemoryRecord[]): Memory[] {
  return records.map((record) => shownMemory(record));
}
