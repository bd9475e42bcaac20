import { join } from 'node:path';

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
