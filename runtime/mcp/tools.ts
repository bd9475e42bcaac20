import type { McpServer } from '../../schemas/generated/config/project.js';
import type { Tool } from './connection.js';
import { toolName } from './names.js';
import type { ServerTool } from './toolbox.js';

/** Tools of one server that are offered; a request has room for no more. */
const MAX_TOOLS = 128;
const MAX_NAME_CHARACTERS = 256;
/** Longer descriptions are cut: they are read by the model in every turn. */
const MAX_DESCRIPTION_CHARACTERS = 4_096;
/** Characters of a tool's parameters as JSON. */
const MAX_PARAMETERS_CHARACTERS = 64 * 1024;

/** The tools of a server that may be offered, as its settings say, and in sentences what cannot. */
export function listedTools(tools: readonly Tool[], server: McpServer): { listed: readonly ServerTool[]; notes: readonly string[] } {
  const allowed = server.tools && new Set(server.tools);
  const wanted = tools.filter(({ name }) => allowed === undefined || allowed.has(name));
  const usable = wanted.filter(isUsable);
  const notes: string[] = [];
  const missing = (server.tools ?? []).filter((name) => !tools.some((tool) => tool.name === name));
  if (missing.length > 0) notes.push(`It has no tool ${missing.slice(0, 10).join(', ')}, which its settings name.`);
  if (usable.length < wanted.length) notes.push(`${wanted.length - usable.length} of its tools are too large to be offered.`);
  if (usable.length > MAX_TOOLS) notes.push(`It has ${usable.length} tools; the first ${MAX_TOOLS} are offered. Choose others with tools.`);
  return { listed: usable.slice(0, MAX_TOOLS).map((tool) => offered(tool, server)), notes };
}

function isUsable({ name, inputSchema }: Tool): boolean {
  return name !== '' && name.length <= MAX_NAME_CHARACTERS && JSON.stringify(inputSchema).length <= MAX_PARAMETERS_CHARACTERS;
}

function offered({ name, title, description, inputSchema, annotations }: Tool, server: McpServer): ServerTool {
  return {
    name: toolName(server.name, name),
    description: (description ?? title ?? '').slice(0, MAX_DESCRIPTION_CHARACTERS),
    parameters: inputSchema,
    server: server.name,
    tool: name,
    readOnly: isChosen(server.read_only, name) ?? annotations?.readOnlyHint === true,
    ask: isChosen(server.ask, name) ?? false,
  };
}

function isChosen(choice: McpServer['ask'], name: string): boolean | undefined {
  return Array.isArray(choice) ? choice.includes(name) : choice;
}
