import { isName } from '../config/names.js';
import { projectNotFound } from '../projects/cache.js';
import type { Projects } from '../projects/projects.js';
import type { Store } from '../store/store.js';

/** A namespace that nobody has and nobody can make: what is asked of it is answered as for everything that is missing. */
export const NOWHERE = `nowhere-${crypto.randomUUID()}`;

/** What is answered about a namespace that is not seen, for calls that do not fail where it is missing. */
const WITHOUT: { readonly [Name in keyof Projects]?: (projects: Projects) => unknown } = {
  parsing: () => undefined,
  names: () => [],
  list: (projects) => projects.list(NOWHERE),
  listBytes: (projects) => projects.listBytes(NOWHERE),
};

/** The projects as somebody sees them who sees some namespaces alone: the others are not there. */
export function projectsSeen(projects: Projects, sees: (namespace: string) => boolean): Projects {
  return new Proxy(projects, {
    get(all, name: keyof Projects) {
      const member = all[name] as unknown;
      if (typeof member !== 'function') return member;
      if (name === 'namespaces') return () => all.namespaces().filter(sees);
      return (...given: unknown[]): unknown => {
        const [namespace, project] = given;
        // What is no name is nobody's: the projects say what is wrong with it.
        if (!isName(namespace) || namespace === NOWHERE || sees(namespace)) return member.apply(all, given);
        const without = WITHOUT[name];
        if (without) return without(all);
        throw projectNotFound(namespace, String(project));
      };
    },
  });
}

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
