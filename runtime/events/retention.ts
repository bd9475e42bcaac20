import type { EventsConfig } from '../../schemas/generated/config/project.js';
import { breathe } from '../base/loop.js';
import type { EventKey, Store } from '../store/store.js';

/** What a project keeps that says nothing. */
export const KEPT = { content: 'full', max_age_days: 30, max_bytes: 64 * 2 ** 20 } as const satisfies EventsConfig;
const DAY_MS = 86_400_000;
/** Records read or removed before other work gets its turn. */
const PAGE = 256;
/** Room is made for more than the next event, so that not each one removes another. */
const FULL = 0.9;
/** Projects whose size is known; the memory is dropped when full. */
const MAX_KNOWN = 1_000;

/** All keys of a project's events, the oldest first. */
const rangeOf = (namespace: string, project: string) => ({
  start: [namespace, project],
  end: [namespace, project, Number.POSITIVE_INFINITY],
});

/** Removes events that are older, or take more room, than their project wants. */
export class EventRetention {
  readonly #store: Store;
  /** Bytes of each project's events, by `namespace/project`. */
  readonly #bytes = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** Takes note of events that were written. */
  added(namespace: string, project: string, bytes: number): void {
    const name = `${namespace}/${project}`;
    const known = this.#bytes.get(name);
    if (known !== undefined) this.#bytes.set(name, known + bytes);
  }

  /** Removes what a project does not keep any more. */
  async prune(namespace: string, project: string, { max_age_days: days, max_bytes: most }: EventsConfig = {}): Promise<void> {
    const oldestMs = Date.now() - (days ?? KEPT.max_age_days) * DAY_MS;
    const mostBytes = most ?? KEPT.max_bytes;
    let bytes = await this.#size(namespace, project);
    let mayHold = bytes > mostBytes ? mostBytes * FULL : mostBytes;
    for (;;) {
      const [oldest] = this.#store.eventHeads.keys({ ...rangeOf(namespace, project), limit: 1 });
      if (oldest === undefined || (oldest[2] >= oldestMs && bytes <= mayHold)) break;
      const page = this.#store.eventHeads.page({ ...rangeOf(namespace, project), limit: PAGE });
      const leaving: EventKey[] = [];
      for (const { key, value } of page) {
        if (key[2] >= oldestMs && bytes <= mayHold) break;
        leaving.push(key);
        bytes -= value.bytes;
      }
      await this.#remove(leaving);
      this.#bytes.set(`${namespace}/${project}`, bytes);
      mayHold = Math.min(mayHold, mostBytes);
      await breathe();
    }
  }

  /** Removes the configurations of a project that no event refers to any more. */
  async pruneConfigs(namespace: string, project: string): Promise<void> {
    const range = { start: [namespace, project], end: [namespace, project, '\uffff'], limit: PAGE };
    const kept = this.#store.eventConfigs.keys(range);
    if (kept.length === 0) return;
    const used = new Set<string>();
    for await (const { value } of this.#heads(namespace, project)) used.add(value.item.config_hash);
    const unused = kept.filter(([, , hash]) => !used.has(hash));
    await this.#store.write((batch) => {
      for (const key of unused) batch.remove('eventConfigs', key);
    });
  }

  /** Removes all events of a project and their configurations. */
  async erase(namespace: string, project: string): Promise<void> {
    this.#bytes.delete(`${namespace}/${project}`);
    for (;;) {
      const heads = this.#store.eventHeads.keys({ ...rangeOf(namespace, project), limit: PAGE });
      const configs = this.#store.eventConfigs.keys({ start: [namespace, project], end: [namespace, project, '\uffff'], limit: PAGE });
      if (heads.length === 0 && configs.length === 0) return;
      await this.#store.write((batch) => {
        for (const key of configs) batch.remove('eventConfigs', key);
      });
      await this.#remove(heads);
    }
  }

  /** The projects that have events. */
  *projects(): Generator<[namespace: string, project: string]> {
    for (let start: (string | number)[] | undefined; ; ) {
      const [key] = this.#store.eventHeads.keys({ ...(start ? { start } : {}), limit: 1 });
      if (key === undefined) return;
      yield [key[0], key[1]];
      start = [key[0], key[1], Number.POSITIVE_INFINITY, '\uffff'];
    }
  }

  async #size(namespace: string, project: string): Promise<number> {
    const name = `${namespace}/${project}`;
    const known = this.#bytes.get(name);
    if (known !== undefined) return known;
    let bytes = 0;
    for await (const { value } of this.#heads(namespace, project)) bytes += value.bytes;
    if (this.#bytes.size >= MAX_KNOWN) this.#bytes.clear();
    this.#bytes.set(name, bytes);
    return bytes;
  }

  async *#heads(namespace: string, project: string) {
    const range = rangeOf(namespace, project);
    for (let start: readonly (string | number)[] = range.start; ; ) {
      const page = this.#store.eventHeads.page({ start, end: range.end, limit: PAGE });
      yield* page;
      if (page.length < PAGE) return;
      const [namespaceOf, projectOf, atMs, id] = page.at(-1)!.key;
      // The next key after that one.
      start = [namespaceOf, projectOf, atMs, `${id}\0`];
      await breathe();
    }
  }

  #remove(keys: readonly EventKey[]): Promise<void> {
    return this.#store.write((batch) => {
      for (const [namespace, project, atMs, id] of keys) {
        batch.remove('eventHeads', [namespace, project, atMs, id]);
        batch.remove('events', [namespace, project, id]);
      }
    });
  }
}
