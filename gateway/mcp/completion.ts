import type { Runtime } from '../../runtime/runtime.js';
import { Failure } from '../../schemas/errors.js';
import { checkProject, type Scope } from './scope.js';

/** Most values of one answer, as the protocol has it. */
const MAX_VALUES = 100;

/** What is completed: one variable of a form of addresses, with the others as far as they are known. */
export interface Completed {
  readonly name: string;
  readonly value: string;
  readonly known: Readonly<Record<string, string>>;
}

/** Names that begin as a variable of an address does. None where what stands before it does not exist. */
export async function completionOf(
  runtime: Runtime,
  scope: Scope,
  { name, value, known }: Completed,
): Promise<{ values: string[]; total: number; hasMore: boolean }> {
  const names = await namesOf(runtime, scope, name, known).catch((failure: unknown) => {
    if (failure instanceof Failure) return [];
    throw failure;
  });
  const fitting = names.filter((one) => one.toLowerCase().startsWith(value.toLowerCase()));
  return { values: fitting.slice(0, MAX_VALUES), total: fitting.length, hasMore: fitting.length > MAX_VALUES };
}

async function namesOf({ projects, datasets }: Runtime, scope: Scope, name: string, known: Completed['known']): Promise<string[]> {
  const { namespace = '', project = '', dataset = '' } = known;
  if (name === 'namespace') return scope.project ? [scope.project.namespace] : projects.namespaces();
  if (name === 'project' && scope.project) return [scope.project.name];
  if (name === 'project') return namespace === '' ? [] : projects.names(namespace);
  checkProject(scope, namespace, project);
  await projects.parsing(namespace, project);
  if (name === 'dataset') return (projects.load(namespace, project).config.datasets ?? []).map((one) => one.name);
  if (name !== 'document') return [];
  const files = await datasets.files(namespace, project, dataset);
  return [...new Set(files.map(({ original_file_name: fileName }) => fileName))].sort();
}
