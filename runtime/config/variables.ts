import { Failure } from '../../schemas/errors.js';
import { isObject, type JsonObject } from './values.js';

const REFERENCE = /\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}/g;
const ONLY_REFERENCE = /^\$\{env:[A-Za-z_][A-Za-z0-9_]*\}$/;

/** Tells whether a text is one `${env:NAME}` and nothing else, which may be shown because it holds no secret. */
export function isEnvReference(text: string): boolean {
  return ONLY_REFERENCE.test(text);
}

/**
 * Copies a value with every `${env:NAME}` in its strings, at any depth, replaced by that environment variable. One pass: what a variable
 * holds is not looked through again. Throws `bad_request` naming a variable that is not set. The result must not be stored or sent back.
 */
export function expandEnv<T>(value: T, environment: NodeJS.ProcessEnv = process.env): T {
  return expand(value, environment) as T;
}

function expand(value: unknown, environment: NodeJS.ProcessEnv): unknown {
  if (typeof value === 'string') return value.includes('${env:') ? expandText(value, environment) : value;
  if (Array.isArray(value)) return value.map((item) => expand(item, environment));
  if (!isObject(value)) return value;
  const out: JsonObject = {};
  for (const [key, member] of Object.entries(value)) out[key] = expand(member, environment);
  return out;
}

function expandText(text: string, environment: NodeJS.ProcessEnv): string {
  return text.replace(REFERENCE, (_whole, name: string) => {
    const found = environment[name];
    if (found !== undefined) return found;
    throw new Failure(
      'bad_request',
      `The environment variable ${name}, which the project file refers to as \${env:${name}}, is not set. Set it for the daemon and start it again.`,
      { code: 'EnvironmentVariableMissing' },
    );
  });
}
