import { createHash } from 'node:crypto';
import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import type { JsonObject } from '../base/json.js';
import { withoutSecrets } from '../config/secrets.js';
import type { Batch, Store } from '../store/store.js';

/** Configurations that are known to be stored; the memory is dropped when full. */
const MAX_KNOWN = 1_000;

/** The configurations that events ran on, without their secrets, each stored once under its hash. */
export class EventConfigs {
  readonly #store: Store;
  readonly #shown = new WeakMap<ProjectConfig, { hash: string; config: JsonObject }>();
  readonly #stored = new Set<string>();

  constructor(store: Store) {
    this.#store = store;
  }

  /** The hash of a configuration, which must not change any more; what is not stored yet joins the batch. */
  add(batch: Batch, namespace: string, project: string, config: ProjectConfig): string {
    const { hash, config: shown } = this.#shownOf(config);
    const name = `${namespace}/${project}/${hash}`;
    if (this.#stored.has(name)) return hash;
    if (this.#store.eventConfigs.keys({ start: [namespace, project, hash], limit: 1 })[0]?.join('/') !== name)
      batch.put('eventConfigs', [namespace, project, hash], shown);
    if (this.#stored.size >= MAX_KNOWN) this.#stored.clear();
    this.#stored.add(name);
    return hash;
  }

  /** The hash of a configuration, which must not change any more. */
  hashOf(config: ProjectConfig): string {
    return this.#shownOf(config).hash;
  }

  /** Forgets what is known to be stored: a write failed, or something was removed. */
  forget(): void {
    this.#stored.clear();
  }

  /** The configuration of a hash, without its secrets. */
  get(namespace: string, project: string, hash: string): JsonObject | undefined {
    return this.#store.eventConfigs.get([namespace, project, hash]);
  }

  #shownOf(config: ProjectConfig): { hash: string; config: JsonObject } {
    const known = this.#shown.get(config);
    if (known) return known;
    const shown = withoutSecrets(config) as unknown as JsonObject;
    const made = { hash: createHash('sha256').update(JSON.stringify(shown)).digest('hex'), config: shown };
    this.#shown.set(config, made);
    return made;
  }
}
