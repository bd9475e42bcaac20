import type { Store } from '../store/store.js';

/** Read from the store at a time. */
const PAGE = 1000;

/** Whose namespaces are, where several people share a daemon. What is claimed is on disk when `claim` resolves. */
export class NamespaceOwners {
  readonly #store: Store;
  readonly #owners = new Map<string, string>();
  readonly #counts = new Map<string, number>();

  constructor(store: Store) {
    this.#store = store;
    for (let start: string | undefined; ; ) {
      const page = store.namespaceOwners.page({ ...(start === undefined ? {} : { start }), limit: PAGE });
      for (const { key, value } of page) this.#note(key, value.owner);
      if (page.length < PAGE) return;
      start = `${page.at(-1)!.key}\u0000`;
    }
  }

  /** The id of the user; undefined where nobody has claimed the namespace. */
  of(namespace: string): string | undefined {
    return this.#owners.get(namespace);
  }

  /** How many namespaces a user has. */
  count(owner: string): number {
    return this.#counts.get(owner) ?? 0;
  }

  /** The namespaces of a user, in order. */
  all(owner: string): string[] {
    return [...this.#owners].flatMap(([namespace, one]) => (one === owner ? [namespace] : [])).sort();
  }

  /** Gives a namespace that is nobody's to a user: of two who claim it at once the first has it. False where somebody else has it. */
  async claim(namespace: string, owner: string): Promise<boolean> {
    const known = this.#owners.get(namespace);
    if (known !== undefined) return known === owner;
    this.#note(namespace, owner);
    try {
      await this.#store.write((batch) => batch.put('namespaceOwners', namespace, { owner, sinceMs: Date.now() }));
    } catch (error) {
      this.#forget(namespace, owner);
      throw error;
    }
    return true;
  }

  /** Makes a namespace nobody's again; where that cannot be written down it stays its owner's. */
  async release(namespace: string): Promise<void> {
    const owner = this.#owners.get(namespace);
    if (owner === undefined) return;
    this.#forget(namespace, owner);
    try {
      await this.#store.write((batch) => batch.remove('namespaceOwners', namespace));
    } catch (error) {
      if (!this.#owners.has(namespace)) this.#note(namespace, owner);
      throw error;
    }
  }

  #forget(namespace: string, owner: string): void {
    this.#owners.delete(namespace);
    this.#counts.set(owner, this.count(owner) - 1);
  }

  #note(namespace: string, owner: string): void {
    this.#owners.set(namespace, owner);
    this.#counts.set(owner, this.count(owner) + 1);
  }
}
