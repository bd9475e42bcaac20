import type { LoadedProject } from '../../runtime/projects/projects.js';
import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import { isAfter, leadsAfter, type Place, type Visited } from './pages.js';
import type { Scope } from './scope.js';

/** Every project of a scope that can be used, in the order of namespaces and names, from the one that `after` lies in on. */
async function* projectsFrom(
  { projects }: Runtime,
  { project: only }: Scope,
  after: Place,
): AsyncGenerator<LoadedProject, void, undefined> {
  for (const namespace of only ? [only.namespace] : projects.namespaces()) {
    if (!leadsAfter([namespace], after)) continue;
    for (const name of only ? [only.name] : projects.names(namespace)) {
      if (!leadsAfter([namespace, name], after)) continue;
      await projects.parsing(namespace, name);
      const loaded = usable(() => projects.load(namespace, name));
      if (loaded) yield loaded;
    }
  }
}

/** What `below` finds in each project of a scope, from behind a place on; the project itself is a place too. */
export async function* placesOf<Item>(
  runtime: Runtime,
  scope: Scope,
  after: Place,
  below: (project: LoadedProject, after: Place) => AsyncIterable<Visited<Item>>,
): AsyncGenerator<Visited<Item>, void, undefined> {
  for await (const project of projectsFrom(runtime, scope, after)) {
    let isEmpty = true;
    for await (const visited of below(project, after)) {
      if (!isAfter(visited.place, after)) continue;
      isEmpty = false;
      yield visited;
    }
    if (isEmpty) yield { place: [project.namespace, project.name] };
  }
}

/** A list must not fail with one broken project. */
function usable(load: () => LoadedProject): LoadedProject | undefined {
  try {
    return load();
  } catch (failure) {
    if (failure instanceof Failure) return undefined;
    throw failure;
  }
}
