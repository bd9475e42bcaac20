import { Failure, type FailureItem } from '../../schemas/errors.js';
import type { JsonObject } from '../base/json.js';

/** A place in a project file: keys and array positions from the top. */
export type Path = readonly (string | number)[];

/** Something wrong in a project file. */
export interface Problem {
  readonly path: Path;
  readonly reason: string;
  /** The rule it broke, such as `required` or `reference`. */
  readonly type: string;
  readonly input?: unknown;
}

/** Problems that a one-line summary spells out; the rest is counted. */
const SPELLED_OUT = 5;

/** Writes a path as `runtime.models[0].provider`. */
export function pathText(path: Path): string {
  let text = '';
  for (const part of path) {
    if (typeof part === 'number') text += `[${part}]`;
    else text += text === '' ? part : `.${part}`;
  }
  return text === '' ? 'project file' : text;
}

/** Up to five `path: reason` parts joined by `; `, then the number of the others; `null` without problems. */
export function summary(problems: readonly Problem[]): string | null {
  if (problems.length === 0) return null;
  const parts = problems.slice(0, SPELLED_OUT).map((problem) => `${pathText(problem.path)}: ${problem.reason}`);
  const rest = problems.length - parts.length;
  return parts.join('; ') + (rest > 0 ? ` (and ${rest} more errors)` : '');
}

/** The failure for an invalid project file; `where` goes before each path in `errors`, such as `body`, `config`. */
export function invalidConfig(subject: string, problems: readonly Problem[], where: Path = []): Failure {
  const errors: FailureItem[] = problems.map((problem) => ({
    type: problem.type,
    loc: [...where, ...problem.path],
    msg: problem.reason,
    ...(problem.input === undefined ? {} : { input: problem.input }),
  }));
  return new Failure('invalid', `${subject} has an invalid configuration: ${summary(problems)}`, { code: 'ProjectConfigError', errors });
}

/** One setting in which two configurations differ; a side that has nothing there is absent. */
export interface Difference {
  /** Such as `runtime.models[0].model`. */
  readonly path: string;
  readonly before?: unknown;
  readonly after?: unknown;
}

const isTree = (value: unknown): value is JsonObject => typeof value === 'object' && value !== null;

/** The settings that two configurations do not have in common, in the order of their paths. `shown` are the two as they may be told of, without their secrets. */
export function differencesOf(before: unknown, after: unknown, shown = { before, after }, path: Path = []): Difference[] {
  if (JSON.stringify(before) === JSON.stringify(after)) return [];
  if (isTree(before) && isTree(after) && Array.isArray(before) === Array.isArray(after)) {
    const [a, b] = [isTree(shown.before) ? shown.before : {}, isTree(shown.after) ? shown.after : {}];
    return [...new Set([...Object.keys(before), ...Object.keys(after)])].flatMap((name) =>
      differencesOf(before[name], after[name], { before: a[name], after: b[name] }, [...path, Array.isArray(before) ? Number(name) : name]),
    );
  }
  const [was, is] = [before === undefined ? {} : { before: shown.before }, after === undefined ? {} : { after: shown.after }];
  return [{ path: pathText(path), ...was, ...is }];
}
