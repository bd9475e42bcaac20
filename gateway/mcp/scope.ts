import { projectNotFound } from '../../runtime/projects/cache.js';
import { Failure } from '../../schemas/errors.js';
import type { Scope as AskedScope } from '../../schemas/generated/core/mcp.js';

/** What a client is offered, by the address that it is given; everything where nothing is said. */
export interface Scope {
  readonly project?: { readonly namespace: string; readonly name: string };
  /** Names of tools. */
  readonly tools?: readonly string[];
  readonly isReadOnly: boolean;
  /** Whether a namespace is there for who asks; absent where all are. */
  readonly sees?: ((namespace: string) => boolean) | undefined;
}

/** Reads the query of an address. */
export function scopeOf({ project, tools, read_only: isReadOnly = false }: AskedScope): Scope {
  const [namespace = '', name = ''] = project?.split('/') ?? [];
  const names = tools?.split(',').map((one) => one.trim());
  return {
    isReadOnly,
    ...(project === undefined ? {} : { project: { namespace, name } }),
    ...(names ? { tools: names.filter(Boolean) } : {}),
  };
}

/** Throws `not_found` for a project that a client is not offered. */
export function checkProject({ project, sees }: Scope, namespace: string, name: string): void {
  if (sees?.(namespace) === false) throw projectNotFound(namespace, name);
  if (!project || (project.namespace === namespace && project.name === name)) return;
  throw new Failure('not_found', `This address is for the project ${project.namespace}/${project.name} only.`, { code: 'NotFound' });
}
