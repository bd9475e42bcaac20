import { Failure } from '../../../schemas/errors.js';
import type { Tool, ToolChoice } from '../../../schemas/generated/common.js';
import { log } from '../../log.js';

/** What must come out: anything (`auto`), at least one call (`required`), or one call of the only tool left (`named`). */
type ToolMode = 'auto' | 'required' | 'named';

/** The usable tools of a request. With no tools the mode is `auto`. */
export interface ToolOffer {
  tools: Tool[];
  mode: ToolMode;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** Why a definition cannot be used; null when it can. */
function flawOf(tool: unknown, known: ReadonlySet<string>): string | null {
  if (!isObject(tool) || tool.type !== 'function') return 'its type is not "function"';
  const definition = tool.function;
  if (!isObject(definition)) return 'it has no function object';
  if (typeof definition.name !== 'string' || definition.name.trim() === '') return 'its name is empty or missing';
  if (known.has(definition.name)) return `a tool named ${definition.name} came before it`;
  if (definition.parameters !== undefined && definition.parameters !== null && !isObject(definition.parameters))
    return 'its parameters are not an object';
  return null;
}

/** The definitions that can be used, in order; the others are skipped with a warning in the log. */
export function usableTools(tools: readonly unknown[] | null | undefined): Tool[] {
  const known = new Set<string>();
  const usable: Tool[] = [];
  for (const [index, tool] of (tools ?? []).entries()) {
    const flaw = flawOf(tool, known);
    if (flaw !== null) {
      log('warn', `tool definition ${index} is skipped: ${flaw}`);
      continue;
    }
    known.add((tool as Tool).function.name);
    usable.push(tool as Tool);
  }
  return usable;
}

/**
 * Reads `tools` and `tool_choice`. `none` offers nothing; a named tool is offered alone; an unknown word means `auto`, with a warning.
 * A named tool that does not exist, or a forced call without tools, is `Failure('bad_request')`.
 */
export function offerTools(tools: readonly unknown[] | null | undefined, choice: ToolChoice | undefined): ToolOffer {
  if (choice === 'none') return { tools: [], mode: 'auto' };
  const usable = usableTools(tools);
  if (choice === 'required') {
    if (usable.length === 0)
      throw new Failure('bad_request', 'tool_choice is "required", but the request has no usable tool; add one to tools, or use "auto".');
    return { tools: usable, mode: 'required' };
  }
  const wanted = isObject(choice) ? (choice as { function?: { name?: unknown } }).function?.name : undefined;
  if (typeof wanted === 'string') {
    const named = usable.filter((tool) => tool.function.name === wanted);
    if (named.length > 0) return { tools: named, mode: 'named' };
    const known = usable.map((tool) => tool.function.name).join(', ') || 'none';
    throw new Failure('bad_request', `tool_choice names the tool "${wanted}", which is not in tools; known tools: ${known}.`, {
      code: 'unknown_tool',
    });
  }
  if (choice !== undefined && choice !== null && choice !== 'auto')
    log('warn', 'tool_choice is not auto, none, required or a named function; auto is used');
  return { tools: usable, mode: 'auto' };
}
