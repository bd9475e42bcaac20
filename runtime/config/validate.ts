import { Failure } from '../../schemas/errors.js';
import type { ProjectConfig } from '../../schemas/generated/config/project.js';
import { check } from '../../schemas/validate.js';
import type { JsonObject } from '../base/json.js';
import { brokenRules, danglingNames } from './checks.js';
import { normalise } from './normalise.js';
import type { Problem } from './problems.js';
import { resolveReferences } from './references.js';

/** A project configuration after conversion and checks. */
export interface Validated {
  /** Stored form: older forms converted, references inlined, no nulls, no defaults added. */
  readonly stored: JsonObject;
  /** The stored form with the schema's defaults, for use; `null` when `errors` is not empty. */
  readonly config: ProjectConfig | null;
  /** What makes it unusable. */
  readonly errors: readonly Problem[];
  /** Names that point at nothing: refused when saving, tolerated when reading. */
  readonly warnings: readonly Problem[];
}

/** Converts and checks a raw configuration for the project at `namespace/name`; never throws on its content. */
export function validateConfig(raw: JsonObject, namespace: string, name: string): Validated {
  const stored = normalise(raw, namespace, name);
  const unresolved = resolveReferences(stored);
  const candidate = structuredClone(stored);
  const violations = schemaViolations(candidate).filter((violation) => !isShadowed(violation, unresolved));
  if (violations.length > 0) return { stored, config: null, errors: [...unresolved, ...violations], warnings: [] };
  const config = candidate as unknown as ProjectConfig;
  const errors = [...unresolved, ...brokenRules(config)];
  return { stored, config: errors.length === 0 ? config : null, errors, warnings: danglingNames(config) };
}

function schemaViolations(candidate: JsonObject): Problem[] {
  try {
    check<ProjectConfig>('config/project#ProjectConfig', candidate, 'file');
    return [];
  } catch (failure) {
    if (!(failure instanceof Failure) || !failure.errors) throw failure;
    // `if` only says that the `then` beside it failed, and that is reported too.
    return failure.errors
      .filter((item) => item.type !== 'if')
      .map(({ type, loc, msg, input }) => reworded({ path: loc.slice(1), reason: msg, type, input }));
  }
}

/** A model without a provider is reported in the words that the API promises. */
function reworded(problem: Problem): Problem {
  const [section, list, , field] = problem.path;
  if (problem.type !== 'missing' || section !== 'runtime' || list !== 'models' || field !== 'provider') return problem;
  return { ...problem, reason: 'runtime provider is required (one of compat_api, local_runner, local_accel, universal)' };
}

/** An unresolved reference stays in place as text, and the schema then complains about the type of that text. */
function isShadowed(violation: Problem, unresolved: readonly Problem[]): boolean {
  return unresolved.some(
    (problem) => problem.path.length === violation.path.length && problem.path.every((part, index) => part === violation.path[index]),
  );
}
