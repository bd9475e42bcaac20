import type { JsonObject } from '../base/json.js';
import { type Path, pathText } from './problems.js';

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
