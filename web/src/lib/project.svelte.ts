/** The project that the views work on. The choice is kept in this browser. */
import { get, projectPath } from './api';

export interface ProjectName {
  readonly namespace: string;
  readonly name: string;
}

const PLACE = 'quern.project';
const FIRST: ProjectName = { namespace: 'default', name: 'quickstart' };

class CurrentProject {
  #current = $state<ProjectName>(remembered());
  /** All that the daemon has, once `load` was answered. */
  all = $state<readonly ProjectName[]>([]);

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
  async load(): Promise<void> {
    const { projects } = await get<{ projects: ProjectName[] }>('/v1/projects');
    this.all = projects.map(({ namespace, name }) => ({ namespace, name }));
    const is = ({ namespace, name }: ProjectName): boolean => namespace === this.#current.namespace && name === this.#current.name;
    if (this.all.length > 0 && !this.all.some(is)) this.choose(this.all[0]!);
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
