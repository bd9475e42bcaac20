import type { VectorStore } from './contract.js';

/** How a store is used. */
export interface Use {
  /** Calls that have not ended. */
  running: number;
  /** Moment (monotonic, in milliseconds) of the latest beginning or end. */
  lastMs: number;
}

/** A store that notes in `use` whenever one of its methods runs. */
export function noted(store: VectorStore, use: Use): VectorStore {
  const begin = (): void => {
    use.running += 1;
    use.lastMs = performance.now();
  };
  const end = (): void => {
    use.running -= 1;
    use.lastMs = performance.now();
  };
  const iterated = async function* (items: AsyncIterable<unknown>): AsyncGenerator<unknown> {
    begin();
    try {
      yield* items;
    } finally {
      end();
    }
  };
  return new Proxy(store, {
    get(target, name) {
      const value: unknown = Reflect.get(target, name, target);
      if (typeof value !== 'function') return value;
      return (...values: unknown[]): unknown => {
        const result: unknown = Reflect.apply(value, target, values);
        // The items of a list come when they are asked for.
        if (!(result instanceof Promise)) return iterated(result as AsyncIterable<unknown>);
        begin();
        return result.finally(end);
      };
    },
  });
}
