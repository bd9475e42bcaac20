import type { Batch, Store } from '../store/store.js';

/** Tables whose keys are names that a client chooses. */
const NAMED = ['buffers', 'detectors', 'detectorModels', 'responses', 'responseSizes'] as const;
type Named = (typeof NAMED)[number];
const isNamed = (table: string): table is Named => (NAMED as readonly string[]).includes(table);

/** What of a table is asked for, by names. */
interface Asked {
  readonly start?: string;
  readonly end?: string;
  readonly limit: number;
}

/**
 * The store as the buffers, streams and responses of one tenant use it: the same names of two tenants are two things. Their keys begin with `mark`, which no name
 * of a client does and which all of those come before.
 */
export function tenantStore(store: Store, mark: string): Store {
  const named = <Name extends Named>(name: Name): Store[Name] => {
    const table = store[name];
    return {
      get: (key: string) => table.get(mark + key),
      page: ({ start = '', end = '\uffff', limit }: Asked) =>
        (table.page({ start: mark + start, end: mark + end, limit }) as { key: string; value: never }[]).map(({ key, value }) => ({
          key: key.slice(mark.length),
          value,
        })),
      keys: ({ start = '', end = '\uffff', limit }: Asked) =>
        (table.keys({ start: mark + start, end: mark + end, limit }) as string[]).map((key) => key.slice(mark.length)),
    } as unknown as Store[Name];
  };
  const marked = (batch: Batch): Batch =>
    Object.assign(Object.create(batch) as Batch, {
      put: (table: never, key: string, value: never) => batch.put(table, (isNamed(table) ? mark + key : key) as never, value),
      remove: (table: never, key: string) => batch.remove(table, (isNamed(table) ? mark + key : key) as never),
    });
  const write: Store['write'] = (fill, chain) => store.write((batch) => fill(marked(batch)), chain);
  // A store's tables are read-only, so they are defined anew rather than assigned.
  return Object.create(store, {
    ...Object.fromEntries(NAMED.map((name) => [name, { value: named(name) }])),
    write: { value: write },
  }) as Store;
}
