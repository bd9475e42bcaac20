import { UNTIL_CONTEXT_ENDS } from '../../runtime/completions/budget.js';
import type { UniversalRequest } from '../../runtime/completions/request.js';
import { formFields, generationSettings, languageOptions, refuseOtherAdapters } from '../../runtime/completions/settings.js';
import { thinkOf } from '../../runtime/completions/thinking.js';
import { itemId, type StoredResponses } from '../../runtime/responses/stored-responses.js';
import { Failure } from '../../schemas/errors.js';
import type { ContentPart, Message, Tool, ToolChoice } from '../../schemas/generated/common.js';
import type { Item, Part, ResponseRequest } from '../../schemas/generated/universal/responses.js';

const WITH_LOGPROBS = 'message.output_text.logprobs';
/** What an item is called whose place in an input names it. */
const KINDS: Readonly<Record<string, string>> = { message: 'msg', function_call: 'fc', function_call_output: 'fco', reasoning: 'rs' };

/** An item as it is kept: with its type and an id. */
export type KeptItem = Item & { readonly type: NonNullable<Item['type']>; readonly id: string };

const refused = (path: string, why: string): Failure => new Failure('invalid', `${path}: ${why}.`);

/** The items of a request, those that it names by their ids among them. Throws `invalid` for what is no item, `not_found` for an id that nobody has. */
export function inputItems(body: ResponseRequest, response: string, stored: StoredResponses): KeptItem[] {
  const { input } = body;
  if ((input === undefined || input.length === 0) && !body.previous_response_id)
    throw new Failure('bad_request', `input is ${input ? 'empty' : 'missing'}: send a text or a list of items.`);
  const given: Item[] = typeof input === 'string' ? [{ role: 'user', content: [{ type: 'input_text', text: input }] }] : (input ?? []);
  return given.map((item, index) => {
    if (item.type === 'item_reference' || (item.type === undefined && item.role === undefined && item.id))
      return stored.item(item.id ?? '') as unknown as KeptItem;
    const type = item.type ?? 'message';
    if (type === 'message' && item.role === undefined) throw refused(`input.${index}.role`, 'Field required');
    if (type.startsWith('function_call') && !item.call_id) throw refused(`input.${index}.call_id`, 'Field required');
    if (type === 'function_call' && !item.name) throw refused(`input.${index}.name`, 'Field required');
    return { ...item, type, id: item.id ?? itemId(KINDS[type] ?? 'item', response, index, true) };
  });
}

function contentPart(part: Part, path: string): ContentPart {
  switch (part.type) {
    case 'input_image':
      if (!part.image_url) throw refused(path, 'an image has an image_url, an address or a data URI; file_id is not read here');
      return { type: 'image_url', image_url: { url: part.image_url, ...(part.detail ? { detail: part.detail } : {}) } };
    case 'input_file': {
      const { file_data, file_url, filename } = part;
      if (!file_data && !file_url) throw refused(path, 'a file has file_data or a file_url; file_id is not read here');
      return { type: 'file', file: { ...(file_data ? { file_data } : { file_url }), ...(filename ? { filename } : {}) } };
    }
    case 'refusal':
      return { type: 'refusal', refusal: part.refusal ?? '' };
    default:
      return { type: 'text', text: part.text ?? '' };
  }
}

function contentOf(content: Item['content'], path: string): Message['content'] {
  if (!Array.isArray(content)) return content ?? '';
  const parts = content.map((part, index) => contentPart(part, `${path}.content.${index}`));
  return parts.every(({ type }) => type === 'text') ? parts.map(({ text }) => text).join('\n') : parts;
}

/** Items behind those of the turns before as messages: calls belong to the assistant's message before them; what was thought is left out. */
function messagesOf(past: readonly Item[], items: readonly Item[]): Message[] {
  const messages: Message[] = [];
  const called = new Set<string | undefined>();
  for (const [index, item] of [...past, ...items].entries()) {
    const path = `input.${index - past.length}`;
    if (item.type === 'reasoning') continue;
    if (item.type === 'function_call_output') {
      if (!called.has(item.call_id))
        throw refused(
          path,
          `no function_call with call_id ${JSON.stringify(item.call_id)} stands before this output; send it, or previous_response_id`,
        );
      messages.push({ role: 'tool', tool_call_id: item.call_id ?? '', content: contentOf(item.output, path) });
    } else if (item.type === 'function_call') {
      called.add(item.call_id);
      const call = {
        id: item.call_id ?? '',
        type: 'function' as const,
        function: { name: item.name ?? '', arguments: item.arguments ?? '{}' },
      };
      const last = messages.at(-1);
      if (last?.role === 'assistant') last.tool_calls = [...(last.tool_calls ?? []), call];
      else messages.push({ role: 'assistant', content: '', tool_calls: [call] });
    } else messages.push({ role: item.role ?? 'user', content: contentOf(item.content, path) });
  }
  return messages;
}

function toolOf({ type, name, description, parameters, strict }: NonNullable<ResponseRequest['tools']>[number], index: number): Tool {
  if (type !== 'function')
    throw refused(
      `tools.${index}`,
      `a tool of type "${type.slice(0, 50)}" runs on OpenAI's servers, not here; give function tools of your own`,
    );
  if (!name) throw refused(`tools.${index}.name`, 'Field required');
  return {
    type: 'function',
    function: { name, ...(description ? { description } : {}), ...(parameters ? { parameters } : {}), ...(strict ? { strict } : {}) },
  };
}

/** `{type: function, name}` as chats have it. */
function choiceOf(choice: ResponseRequest['tool_choice']): ToolChoice {
  const { type, name, mode, tools } = (typeof choice === 'object' && choice !== null ? choice : {}) as Record<string, unknown>;
  if (type === 'function') return { type: 'function', function: { name } };
  if (type === 'allowed_tools') return { type: 'allowed_tools', allowed_tools: { mode, tools } };
  return choice as ToolChoice;
}

function formatOf({ text }: ResponseRequest): Record<string, unknown> | undefined {
  const format = text?.format;
  if (!format || format.type === 'text') return undefined;
  if (format.type === 'json_object') return { type: 'json_object' };
  if (format.schema === undefined) throw refused('text.format.schema', 'Field required');
  return { type: 'json_schema', json_schema: { name: format.name ?? 'answer', schema: format.schema, strict: format.strict ?? false } };
}

/** A checked body as the runtime takes it, behind the turns that it goes on from. */
export async function responseRequest(body: ResponseRequest, items: readonly Item[], stored: StoredResponses): Promise<UniversalRequest> {
  const turns = body.previous_response_id ? await stored.chain(body.previous_response_id) : [];
  const extra = body.extra_body ?? {};
  refuseOtherAdapters(body, extra);
  const past = turns.flatMap((turn) => [...turn.input, ...turn.output] as Item[]);
  const wanted: UniversalRequest = {
    model: body.model,
    messages: [...(body.instructions ? [{ role: 'system' as const, content: body.instructions }] : []), ...messagesOf(past, items)],
    options: languageOptions({}, extra),
    form: formFields({}, extra),
    autoTruncate: body.truncation === 'auto',
    stream: body.stream === true,
    max_tokens: body.max_output_tokens ?? UNTIL_CONTEXT_ENDS,
  };
  for (const name of ['temperature', 'top_p', 'user'] as const) {
    const value = body[name];
    if (value !== undefined && value !== null) Object.assign(wanted, { [name]: value });
  }
  Object.assign(wanted, generationSettings({ lora: body.lora }, extra));
  const format = formatOf(body);
  if (format) wanted.response_format = format;
  if (body.tools?.length) wanted.tools = body.tools.map(toolOf);
  if (body.tool_choice) wanted.tool_choice = choiceOf(body.tool_choice);
  if (body.parallel_tool_calls === false) wanted.parallel_tool_calls = false;
  const think = thinkOf(body.reasoning?.effort);
  if (think !== undefined) wanted.think = think;
  if (body.top_logprobs || body.include?.includes(WITH_LOGPROBS))
    Object.assign(wanted, { logprobs: true, top_logprobs: body.top_logprobs ?? 0 });
  return wanted;
}
