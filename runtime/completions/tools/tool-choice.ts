import { Failure } from '../../../schemas/errors.js';
import type { Tool, ToolChoice } from '../../../schemas/generated/common.js';
import { isObject } from '../../base/json.js';
import { log } from '../../base/log.js';

/** The usable tools of a request. With no tools the mode is `auto`. */
export interface ToolOffer {
  tools: Tool[];
  mode: ToolMode;
}

/** What must come out: anything (`auto`), at least one call (`required`), or one call of the only tool left (`named`). */
type ToolMode = 'auto' | 'required' | 'named';

/**
 * Reads `tools` and `tool_choice`. `none` offers nothing; a named tool is offered alone, `allowed_tools` offers those that it names; an
 * unknown word means `auto`, with a warning. A named tool that does not exist, or a forced call without tools, is `Failure('bad_request')`.
 */
export function offerTools(tools: readonly unknown[] | null | undefined, choice: ToolChoice | undefined): ToolOffer {
  if (choice === 'none') return { tools: [], mode: 'auto' };
  const usable = usableTools(tools);
  const allowed = allowedTools(choice);
  const offered = allowed ? toolsNamed(usable, allowed.names) : usable;
  if (choice === 'required' || allowed?.mode === 'required') {
    if (offered.length === 0)
      throw new Failure('bad_request', 'tool_choice is "required", but the request has no usable tool; add one to tools, or use "auto".');
    return { tools: offered, mode: 'required' };
  }
  const wanted = nameIn(choice);
  if (wanted !== undefined) return { tools: toolsNamed(usable, [wanted]), mode: 'named' };
  if (!allowed && choice !== undefined && choice !== null && choice !== 'auto')
    log('warn', 'tool_choice is not auto, none, required, a named function or allowed_tools; auto is used');
  return { tools: offered, mode: 'auto' };
}

/** `{mode, tools}` of `allowed_tools`, each tool by its name; undefined for any other choice. */
function allowedTools(choice: ToolChoice | undefined): { readonly mode: unknown; readonly names: string[] } | undefined {
  const allowed = isObject(choice) && choice.type === 'allowed_tools' ? choice.allowed_tools : undefined;
  if (!isObject(allowed) || !Array.isArray(allowed.tools)) return undefined;
  return {
    mode: allowed.mode,
    names: allowed.tools.flatMap((tool) => nameIn(tool) ?? (isObject(tool) && typeof tool.name === 'string' ? tool.name : [])),
  };
}

/** The tools of these names. Throws `bad_request` for one that is not there. */
function toolsNamed(usable: readonly Tool[], names: readonly string[]): Tool[] {
  const missing = names.find((name) => !usable.some((tool) => tool.function.name === name));
  if (missing === undefined) return usable.filter((tool) => names.includes(tool.function.name));
  const known = usable.map((tool) => tool.function.name).join(', ') || 'none';
  throw new Failure('bad_request', `tool_choice names the tool "${missing}", which is not in tools; known tools: ${known}.`, {
    code: 'unknown_tool',
  });
}

/** The name in `{function: {name}}`. */
function nameIn(value: unknown): string | undefined {
  const named = isObject(value) && isObject(value.function) ? value.function.name : undefined;
  return typeof named === 'string' ? named : undefined;
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
