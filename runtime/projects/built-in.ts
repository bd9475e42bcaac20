import { join } from 'node:path';
import { Failure } from '../../schemas/errors.js';

/** The project that answers questions about this program; its name is the one that clients of the reference system ask. */
export const HELP_PROJECT = { namespace: 'llamafarm', name: 'project_seed' } as const;

/** Whether a name is that of the help project, which nobody changes. */
export function isHelpProject(namespace: string, name: string): boolean {
  return namespace === HELP_PROJECT.namespace && name === HELP_PROJECT.name;
}

/** The folder of the projects that come with this program, in the same order as the folder of the others: what is in it is made anew when it is gone. */
export function builtInRoot(dataDir: string): string {
  return join(dataDir, 'built-in');
}

/** Throws `forbidden` (ReadOnlyProject) for a project that comes with this program. */
export function refuseBuiltIn(namespace: string, name: string): void {
  if (!isHelpProject(namespace, name)) return;
  const message = `Project ${namespace}/${name} is the help that comes with Quern: it is read only. Make a project of your own in another namespace.`;
  throw new Failure('forbidden', message, { code: 'ReadOnlyProject' });
}

/** Throws `bad_request` (ReservedNamespace) for the namespace of the help project, in any letters: nobody makes projects there. */
export function refuseReserved(namespace: string): void {
  if (namespace.toLowerCase() !== HELP_PROJECT.namespace) return;
  throw new Failure('bad_request', `The namespace ${namespace} is reserved. Choose another one.`, { code: 'ReservedNamespace' });
}
