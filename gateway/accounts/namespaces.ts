import { createHash } from 'node:crypto';
import type { Caller } from '../../accounts/identity/sessions.js';
import type { FetchRight } from '../../runtime/models/fetch/on-use.js';
import { HELP_PROJECT } from '../../runtime/projects/cache.js';
import type { NamespaceOwners } from '../../runtime/tenants/owners.js';
import { MOST_NAMESPACES } from '../../runtime/tenants/tenants.js';
import { Failure } from '../../schemas/errors.js';

/** What somebody may do in a namespace: nothing, as if it were not there; see and ask its projects; change them too. */
export type Level = 'none' | 'member' | 'writer';

/** What the rules are made of. */
export interface NamespaceRules {
  readonly owners: NamespaceOwners;
  /** Namespaces of the module file, with the roles that may see and that may change them. */
  readonly shared: Readonly<Record<string, { readonly roles: readonly string[]; readonly write: readonly string[] }>>;
  /** Whether models that projects name are fetched for the owners of namespaces too. */
  readonly ownersFetch: boolean;
  /** The namespaces that have a folder. */
  existing(): readonly string[];
  /** Whether a namespace has no project. */
  isEmpty(namespace: string): boolean;
}

/** Everybody who has signed up has it. */
const EVERYBODY = 'user';
/** Made by the first start of the daemon, whose keeper says in the module file who may use it. */
const DEFAULT = 'default';
const PERSONAL = /^u-[0-9a-f]{12}$/i;

/** The namespace that each user has without asking, by the user's id. */
export function personalNamespace(userId: string): string {
  return `u-${createHash('sha256').update(userId).digest('hex').slice(0, 12)}`;
}

/** Who may do what in which namespace. */
export class Namespaces {
  readonly #rules: NamespaceRules;
  /** How many requests are making something in a namespace. */
  readonly #makers = new Map<string, number>();
  /** Users who run the machine, as they were at their last request. */
  readonly #admins = new Set<string>();

  constructor(rules: NamespaceRules) {
    this.#rules = rules;
  }

  /** What a user who does not run the machine may do. */
  level(caller: Caller, namespace: string): Level {
    if (namespace === HELP_PROJECT.namespace) return 'member';
    if (this.#rules.owners.of(namespace) === caller.userId) return 'writer';
    const shared = Object.hasOwn(this.#rules.shared, namespace) ? this.#rules.shared[namespace] : undefined;
    if (!shared) return 'none';
    const has = (role: string): boolean => role === EVERYBODY || caller.roles.includes(role);
    return shared.write.some(has) ? 'writer' : shared.roles.some(has) ? 'member' : 'none';
  }

  /** Notes whether a user runs the machine. */
  note(userId: string, isAdmin: boolean): void {
    if (isAdmin) this.#admins.add(userId);
    else this.#admins.delete(userId);
  }

  /** What is fetched for those who may write a namespace: what a model costs in disk and time is the operator's to allow, and the token the operator's alone. */
  fetchRight(namespace: string): FetchRight {
    if (Object.hasOwn(this.#rules.shared, namespace)) return 'public';
    const owner = this.#rules.owners.of(namespace);
    if (owner === undefined || this.#admins.has(owner)) return 'all';
    return this.#rules.ownersFetch ? 'public' : 'nothing';
  }

  /** Whether a user may make a namespace theirs: it is nobody's, is not shared, and has nothing in it. */
  isFree(caller: Caller, namespace: string): boolean {
    const { owners, shared } = this.#rules;
    // On some disks names that differ in case are the same folder.
    const plain = namespace.toLowerCase();
    if (plain === DEFAULT || plain === HELP_PROJECT.namespace || owners.of(namespace) !== undefined) return false;
    if (PERSONAL.test(namespace) && namespace !== personalNamespace(caller.userId)) return false;
    const taken = [...Object.keys(shared), ...this.#rules.existing().filter((one) => !this.#rules.isEmpty(one))];
    return !taken.some((one) => one.toLowerCase() === plain);
  }

  /** Does work that makes something in a namespace, which is nobody's afterwards if there is still nothing in it. */
  async while<Result>(namespace: string, work: () => Promise<Result>): Promise<Result> {
    this.#makers.set(namespace, (this.#makers.get(namespace) ?? 0) + 1);
    try {
      return await work();
    } finally {
      const others = this.#makers.get(namespace)! - 1;
      if (others > 0) this.#makers.set(namespace, others);
      else this.#makers.delete(namespace);
      await this.letGo(namespace);
    }
  }

  /** Takes a namespace from its owner where nothing is in it, and nothing is on its way there. */
  async letGo(namespace: string): Promise<void> {
    const { owners } = this.#rules;
    if (owners.of(namespace) === undefined || this.#makers.has(namespace) || !this.#rules.isEmpty(namespace)) return;
    await owners.release(namespace);
  }

  /** Makes a free namespace the caller's. Throws `forbidden` for another, and beyond what one user may have. */
  async claim(caller: Caller, namespace: string): Promise<void> {
    const { owners } = this.#rules;
    const own = personalNamespace(caller.userId);
    if (!this.isFree(caller, namespace)) throw namespaceTaken(namespace, own);
    if (namespace !== own && owners.count(caller.userId) >= MOST_NAMESPACES)
      throw new Failure('forbidden', `You have ${MOST_NAMESPACES} namespaces, which is the most; use one of them, or your own, ${own}.`, {
        code: 'TooManyNamespaces',
      });
    if (!(await owners.claim(namespace, caller.userId))) throw namespaceTaken(namespace, own);
  }
}

function namespaceTaken(namespace: string, own: string): Failure {
  return new Failure('forbidden', `The namespace ${namespace} is not yours to make projects in; take another name, or your own, ${own}.`, {
    code: 'NamespaceTaken',
  });
}
