import { readFile } from 'node:fs/promises';
import { basename } from 'node:path';
import { type Problem, pathText } from '../../runtime/config/problems.js';
import { parseProjectFile } from '../../runtime/config/project-file.js';
import { validateConfig } from '../../runtime/config/validate.js';
import { Failure } from '../../schemas/errors.js';
import type { ProjectReply } from '../../schemas/generated/core/projects.js';
import { route, withDaemon } from '../daemon/client.js';
import { harmless } from '../output.js';
import type { Call, Run } from '../verb.js';

interface Checked {
  readonly stored: Record<string, unknown>;
  readonly errors: readonly Problem[];
  readonly warnings: readonly Problem[];
}

async function checkedFile(path: string): Promise<Checked> {
  const text = await readFile(path, 'utf8').catch((cause: unknown) => {
    throw new Failure('not_found', `${path} cannot be read: ${(cause as Error).message}`, { cause });
  });
  const { value } = parseProjectFile(basename(path), text, path);
  return validateConfig(value, String(value.namespace ?? 'default'), String(value.name ?? 'project'));
}

const told = (problems: readonly Problem[]) => problems.map(({ path, reason }) => ({ path: pathText(path), reason }));

/** Checks a project file, without a daemon. The exit code is 1 where it could not be used. */
export const validate: Run = async ({ words: [path = ''], out }) => {
  const { errors, warnings } = await checkedFile(path);
  return {
    result: { file: path, errors: told(errors), warnings: told(warnings) },
    isBad: errors.length > 0,
    show: () => {
      for (const { path: place, reason } of told(errors)) out.line(`${out.style('red', 'wrong')}  ${harmless(`${place}: ${reason}`)}`);
      for (const { path: place, reason } of told(warnings)) out.line(`${out.style('yellow', 'note')}   ${harmless(`${place}: ${reason}`)}`);
      if (errors.length === 0) out.line(`${path} can be used`);
    },
  };
};

/** Compares a project file with the settings of a project as the daemon has them. The exit code is 1 where they differ. */
export const diff: Run = (call) =>
  withDaemon(call, async (daemon) => {
    const { namespace, project } = call.project;
    const { stored } = await checkedFile(call.words[0]!);
    const reply = await daemon.ask<ProjectReply>(route`/v1/projects/${namespace}/${project}`);
    const differences = differencesOf(reply.project.config, { ...stored, namespace, name: project });
    return { result: differences, isBad: differences.length > 0, show: () => show(call, differences) };
  });

/** One setting that differs. */
interface Difference {
  readonly path: string;
  /** What the daemon has; absent where it has nothing. */
  readonly daemon?: unknown;
  /** What the file says; absent where it says nothing. */
  readonly file?: unknown;
}

/** The settings that two configurations do not have in common, in the order of their paths. */
export function differencesOf(daemon: unknown, file: unknown, path: readonly (string | number)[] = []): Difference[] {
  if (JSON.stringify(daemon) === JSON.stringify(file)) return [];
  const isTree = (value: unknown): value is object => typeof value === 'object' && value !== null;
  if (isTree(daemon) && isTree(file) && Array.isArray(daemon) === Array.isArray(file)) {
    const [a, b] = [daemon as Record<string, unknown>, file as Record<string, unknown>];
    return [...new Set([...Object.keys(a), ...Object.keys(b)])].flatMap((name) =>
      differencesOf(a[name], b[name], [...path, Array.isArray(daemon) ? Number(name) : name]),
    );
  }
  return [{ path: pathText(path), ...(daemon === undefined ? {} : { daemon }), ...(file === undefined ? {} : { file }) }];
}

function show({ out }: Call, differences: readonly Difference[]): void {
  if (differences.length === 0) out.line('the file and the project say the same');
  for (const { path, ...sides } of differences) {
    out.line(out.style('bold', harmless(path)));
    if ('daemon' in sides) out.line(out.style('red', harmless(`- ${JSON.stringify(sides.daemon)}`)));
    if ('file' in sides) out.line(out.style('green', harmless(`+ ${JSON.stringify(sides.file)}`)));
  }
}
