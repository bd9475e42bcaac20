import { Failure } from '../../schemas/errors.js';
import type { Tool } from '../../schemas/generated/common.js';
import type { ModelConfig } from '../../schemas/generated/config/project.js';
import { check } from '../../schemas/validate.js';
import { log } from '../base/log.js';
import { resolveDeep, type Variables } from './templates.js';

/** Most tools of one request, configured ones included. */
const MAX_TOOLS = 128;

function checkedTool(tool: unknown, index: number): Tool {
  try {
    return check<Tool>('common#Tool', tool);
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    const errors = error.errors?.map((item) => ({ ...item, loc: ['body', 'tools', index, ...item.loc.slice(1)] })) ?? [];
    throw new Failure('invalid', `tools.${index}: ${error.message}`, { errors });
  }
}

/** The function tools of a request; those of other types, which clients send to the hosts that have them, are left out. Throws `invalid` for a flawed one. */
function functionTools(requested: readonly unknown[]): Tool[] {
  return requested.flatMap((tool, index) => {
    const { type } = tool as { type?: unknown };
    if (typeof type === 'string' && type !== 'function') {
      log('warn', `tool definition ${index} is skipped: its type is ${JSON.stringify(type.slice(0, 100))}`);
      return [];
    }
    return [checkedTool(tool, index)];
  });
}

/**
 * The tools offered to the model: those of its configuration, then those of the request, with variables resolved. A tool of the request
 * replaces a configured one of the same name; it may come from anywhere, such as an MCP server, so that braces in it need no values. Throws `invalid` for a flawed tool, `bad_request` for unresolved variables of configured tools or too many tools.
 */
export function offeredTools(model: ModelConfig, requested: readonly unknown[] | null | undefined, variables: Variables): Tool[] {
  const own = functionTools(requested ?? []).map((tool) => resolveDeep(tool, variables, false));
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
