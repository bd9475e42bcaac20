import type { MemoryRecord, MemoryStore } from './contract.js';

/** Records that are changed at once. */
const PAGE = 500;

/** The facts and nodes that were made of these records alone, and so go with them. */
export async function madeOf(store: MemoryStore, ids: ReadonlySet<string>): Promise<Set<string>> {
  const all = new Set(ids);
  const isGone = (id: string): boolean => all.has(id) || store.get(id) === undefined;
  // What is added meanwhile is looked at too.
  for (const source of all)
    for await (const { id, provenance } of store.naming(source, 'source')) if (provenance?.records?.every(isGone)) all.add(id);
  return all;
}

/**
 * Removes records, however many; what facts among them ended holds again, or until the fact that ended those. Where the process ends meanwhile, some
 * are there still, and the same call removes them.
 */
export async function removeMade(store: MemoryStore, ids: ReadonlySet<string>): Promise<void> {
  await holdAgain(store, ids);
  const remove = [...ids];
  for (let from = 0; from < remove.length; from += PAGE) await store.write({ remove: remove.slice(from, from + PAGE) });
}

/** Lets what facts that are about to go have ended hold again, or until the fact that ended those. */
export async function holdAgain(store: MemoryStore, ids: ReadonlySet<string>): Promise<void> {
  const end: { id: string; toMs?: number; supersededBy?: string }[] = [];
  for (const by of ids)
    for await (const { id } of store.naming(by, 'successor')) if (!ids.has(id)) end.push({ id, ...endBehind(store, ids, by) });
  for (let from = 0; from < end.length; from += PAGE) await store.write({ end: end.slice(from, from + PAGE) });
}

/** The end of what a removed fact had ended: the next in the row of facts that ended each other and stays. */
function endBehind(store: MemoryStore, removed: ReadonlySet<string>, id: string): { toMs?: number; supersededBy?: string } {
  const seen = new Set<string>();
  let next: MemoryRecord | undefined = store.get(id);
  while (next && removed.has(next.id) && !seen.has(next.id)) {
    seen.add(next.id);
    next = next.supersededBy === undefined ? undefined : store.get(next.supersededBy);
  }
  if (!next?.valid || removed.has(next.id)) return {};
  return { toMs: next.valid.fromMs, supersededBy: next.id };
}
