import { withoutSecretsInUse } from '../../schemas/secrets.js';
import type { CallToolResult, ContentBlock, GetPromptResult, ReadResourceResult } from './connection.js';
import type { ToolResult } from './toolbox.js';

/** Characters of a result that a model gets; a longer one is cut. */
const MAX_RESULT_CHARACTERS = 64 * 1024;

/** So much more is looked at for secrets, which a cut must not leave half of. */
const LONGEST_SECRET = 4_096;

/** What a model gets of a server's text: at most 64 Ki characters, the end saying how much was cut, without secrets that are in use. */
function bounded(text: string): string {
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
  return { text: bounded(text), failed: isError === true };
}

/** The contents of a resource as a text. */
export function resourceText({ contents }: ReadResourceResult): string {
  return bounded(contents.map(contentsText).join('\n'));
}

/** A prompt as a text: its messages, each after the role that says it where there are several. */
export function promptText({ messages }: GetPromptResult): string {
  const texts = messages.map(({ role, content }) => (messages.length > 1 ? `${role}: ${blockText(content)}` : blockText(content)));
  return bounded(texts.join('\n'));
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
