/** The project that the views work on. The choice is kept in this browser. */
import type { AllProjects } from '$schemas/core/projects';
import { ApiError, get, projectPath } from './api';
import { Latest } from './overlap.svelte';

export interface ProjectName {
  readonly namespace: string;
  readonly name: string;
}

const PLACE = 'quern.project';
const FIRST: ProjectName = { namespace: 'default', name: 'quickstart' };

class CurrentProject {
  #current = $state<ProjectName>(remembered());
  readonly #reading = new Latest();
  /** All that the daemon has, once `load` was answered. */
  all = $state<readonly ProjectName[]>([]);
  /** The namespace in which the reader may make projects without asking, where people sign in. */
  ownNamespace = $state('');
  /** Whether it is known which project the views can work on: it was chosen before, or the list was asked for. */
  isSettled = $state(localStorage.getItem(PLACE) !== null);
  /** There is no project that the reader may see. */
  isNone = $state(false);

  get current(): ProjectName {
    return this.#current;
  }

  /** The path of its endpoints. */
  get path(): string {
    return projectPath(this.#current.namespace, this.#current.name);
  }

  choose(project: ProjectName): void {
    this.#current = { namespace: project.namespace, name: project.name };
    localStorage.setItem(PLACE, JSON.stringify(this.#current));
  }

  /** Reads the list of projects; where the chosen one is gone, the first one is chosen. */
  load(): Promise<void> {
    return this.#reading.run(
      (signal) => get<AllProjects>('/v1/projects', { signal }),
      (found) => this.#take(found),
      (error) => {
        // A stranger has no project before they sign in.
        this.isSettled = !(error instanceof ApiError && error.status === 401);
        throw error;
      },
    );
  }

  #take({ projects, own_namespace: own = '' }: AllProjects): void {
    this.ownNamespace = own;
    this.all = projects.map(({ namespace, name }) => ({ namespace, name }));
    const is = ({ namespace, name }: ProjectName): boolean => namespace === this.#current.namespace && name === this.#current.name;
    if (this.all.length > 0 && !this.all.some(is)) this.choose(this.all[0]!);
    if (this.all.length === 0) localStorage.removeItem(PLACE);
    [this.isNone, this.isSettled] = [this.all.length === 0, true];
  }
}

function remembered(): ProjectName {
  try {
    const { namespace, name } = JSON.parse(localStorage.getItem(PLACE) ?? '{}') as Partial<ProjectName>;
    return typeof namespace === 'string' && typeof name === 'string' ? { namespace, name } : FIRST;
  } catch {
    return FIRST;
  }
}

export const project = new CurrentProject();
