import { createHash } from 'node:crypto';
import type { McpServer } from '../../schemas/generated/config/project.js';
import { withoutSecretsInUse } from '../../schemas/secrets.js';
import type { CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult, Tool } from './connection.js';
import type { ServerTool, ToolResult } from './contract.js';

const MAX_CALLED_CHARACTERS = 64;
const SEPARATOR = '__';
const HASH_CHARACTERS = 8;

/**
 * What a model calls a tool of a server: `server__tool` where that says which one is meant, else as much of it as fits with a hash of both
 * names. It depends on nothing else, so that it stays the same whatever other tools there are. At most 64 of `[A-Za-z0-9_-]`.
 */
export function toolName(server: string, tool: string): string {
  const plain = `${server}${SEPARATOR}${tool}`;
  const isClear = /^[A-Za-z0-9_-]{1,64}$/.test(plain) && plain.indexOf(SEPARATOR) === server.length && !tool.startsWith('_');
  if (isClear) return plain;
  const hash = createHash('sha256')
    .update(JSON.stringify([server, tool]))
    .digest('hex')
    .slice(0, HASH_CHARACTERS);
  const words = plain.replace(/[^A-Za-z0-9_-]+/g, '_').slice(0, MAX_CALLED_CHARACTERS - HASH_CHARACTERS - 1);
  return `${words}_${hash}`;
}

/** Characters of a result that a model gets; a longer one is cut. */
const MAX_RESULT_CHARACTERS = 64 * 1024;

/** So much more is looked at for secrets, which a cut must not leave half of. */
const LONGEST_SECRET = 4_096;

/** What a model gets of a server's text: at most 64 Ki characters, the end saying how much was cut, without secrets that are in use. */
function boundText(text: string): string {
  const masked = withoutSecretsInUse(text.slice(0, MAX_RESULT_CHARACTERS + LONGEST_SECRET));
  if (masked.length <= MAX_RESULT_CHARACTERS) return masked;
  const end = `\n[Cut here: the whole has ${text.length} characters.]`;
  return masked.slice(0, MAX_RESULT_CHARACTERS - end.length).replace(/[\uD800-\uDBFF]$/, '') + end;
}

/** The result of a call as a text for a model. What is no text is named instead of shown. */
export function resultOf({ content, structuredContent, isError }: CallToolResult): ToolResult {
  const shown = (content ?? []).map(blockText).filter((text) => text !== '');
  // Servers repeat structured content as text for clients that know only text.
  if (shown.length === 0 && structuredContent !== undefined) shown.push(JSON.stringify(structuredContent));
  const text = shown.length > 0 ? shown.join('\n') : '[The tool answered with nothing.]';
  return { text: boundText(text), failed: isError === true };
}

/** The contents of a resource as a text. */
export function resourceText({ contents }: ReadResourceResult): string {
  return boundText(contents.map(contentsText).join('\n'));
}

/** A prompt as a text: its messages, each after the role that says it where there are several. */
export function promptText({ messages }: GetPromptResult): string {
  const texts = messages.map(({ role, content }) => (messages.length > 1 ? `${role}: ${blockText(content)}` : blockText(content)));
  return boundText(texts.join('\n'));
}

function blockText(block: ContentBlock): string {
  switch (block.type) {
    case 'text':
      return block.text;
    case 'resource':
      return contentsText(block.resource);
    case 'resource_link':
      return `[Resource ${block.uri}: ${block.title ?? block.name}]`;
    case 'image':
    case 'audio':
      return `[${block.type} of type ${block.mimeType}, ${sizeOf(block.data)} bytes, which is not shown]`;
    default:
      return '';
  }
}

function contentsText(contents: ReadResourceResult['contents'][number]): string {
  if ('text' in contents) return contents.text;
  return `[${contents.uri} of type ${contents.mimeType ?? 'unknown'}, ${sizeOf(contents.blob)} bytes, which is not shown]`;
}

const sizeOf = (base64: string): number => Math.floor((base64.length * 3) / 4);

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
  return { listed: usable.slice(0, MAX_TOOLS).map((tool) => offeredTool(tool, server)), notes };
}

function isUsable({ name, inputSchema }: Tool): boolean {
  return name !== '' && name.length <= MAX_NAME_CHARACTERS && JSON.stringify(inputSchema).length <= MAX_PARAMETERS_CHARACTERS;
}

function offeredTool({ name, title, description, inputSchema, annotations }: Tool, server: McpServer): ServerTool {
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
