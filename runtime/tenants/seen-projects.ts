import { isName } from '../base/names.js';
import { projectNotFound } from '../projects/cache.js';
import type { Projects } from '../projects/projects.js';

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
export function seenProjects(projects: Projects, sees: (namespace: string) => boolean): Projects {
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
