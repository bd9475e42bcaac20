import { Failure } from '../../schemas/errors.js';
import type { Tool } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { resolveDeep, type Variables } from './templates.js';

/** Most tools of one request, configured ones included. */
const MAX_TOOLS = 128;

/**
 * The tools offered to the model: those of its configuration, then those of the request, with variables resolved. A tool of the request
 * replaces a configured one of the same name. Throws `bad_request` for unresolved variables or too many tools.
 */
export function offeredTools(model: ModelConfig, requested: readonly Tool[] | null | undefined, variables: Variables): Tool[] {
  const own = (requested ?? []).map((tool) => resolveDeep(tool, variables));
  const names = new Set(own.map((tool) => tool.function.name));
  const configured = (model.tools ?? [])
    .map(({ type, ...definition }): Tool => ({ type, function: resolveDeep(definition, variables) as Tool['function'] }))
    .filter((tool) => !names.has(tool.function.name));
  const tools = [...configured, ...own];
  if (tools.length > MAX_TOOLS) {
    throw new Failure(
      'bad_request',
      `${tools.length} tools are offered, ${configured.length} of them configured; the limit is ${MAX_TOOLS}.`,
    );
  }
  return tools;
}
