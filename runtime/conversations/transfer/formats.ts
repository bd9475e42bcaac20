import { Failure } from '../../../schemas/errors.js';
import type { Message as ChatMessage } from '../../../schemas/generated/common.js';
import type { ImportedConversation, Message, Settings } from '../../../schemas/generated/core/conversations.js';
import { checkInTurns } from '../../../schemas/validate.js';
import { isObject, type JsonObject } from '../../base/json.js';
import { breathe } from '../../base/loop.js';
import { FORMAT } from './export.js';

/** A message on its way in, by the names of the file that it comes from. */
export interface Incoming {
  readonly key: string;
  /** The message that it answers; null where a branch begins. */
  readonly parent: string | null;
  readonly message: Omit<Message, 'id' | 'parent'>;
  readonly between?: ChatMessage[];
}

/** A conversation on its way in. */
export interface IncomingConversation {
  readonly title: string;
  readonly createdMs: number;
  readonly updatedMs: number;
  readonly pinned: boolean;
  readonly archived: boolean;
  readonly settings: Settings;
  readonly current: string | null;
  readonly messages: readonly Incoming[];
}

const LATEST_MS = 8.64e15;

/** A conversation of a file of ours, of ChatGPT's export or of Open WebUI's. Throws `invalid` for all else. */
export async function readConversation(value: unknown): Promise<IncomingConversation> {
  if (isObject(value) && value.format === FORMAT) return readOwn(value);
  if (isObject(value) && isObject(value.mapping)) return ofChatGpt(value, value.mapping);
  const chat = isObject(value) && isObject(value.chat) ? value.chat : value;
  if (isObject(chat) && isObject(chat.history) && isObject(chat.history.messages))
    return ofOpenWebUi(isObject(value) ? value : {}, chat, chat.history, chat.history.messages);
  throw new Failure('invalid', 'it is no conversation of Quern, ChatGPT or Open WebUI');
}

async function readOwn(value: JsonObject): Promise<IncomingConversation> {
  const { conversation, messages } = await checkInTurns<ImportedConversation>('core/conversations#ImportedConversation', value, breathe);
  return {
    title: conversation.title,
    createdMs: dateMs(conversation.created_at),
    updatedMs: dateMs(conversation.updated_at),
    pinned: conversation.pinned ?? false,
    archived: conversation.archived ?? false,
    settings: conversation.settings ?? {},
    current: conversation.current ?? null,
    messages: messages.map(({ id, parent, between, ...message }) => ({
      key: id,
      parent,
      message: message as Incoming['message'],
      ...(between ? { between: between as ChatMessage[] } : {}),
    })),
  };
}

async function ofChatGpt(value: JsonObject, mapping: JsonObject): Promise<IncomingConversation> {
  const messages: Incoming[] = [];
  for (const [key, node] of Object.entries(mapping)) {
    await breathe();
    if (!isObject(node)) continue;
    const given = isObject(node.message) ? node.message : {};
    const role = isObject(given.author) ? given.author.role : undefined;
    const content = isObject(given.content) ? partsText(given.content) : '';
    const model = isObject(given.metadata) ? textOf(given.metadata.model_slug) : '';
    messages.push({ key, parent: keyOf(node.parent), message: messageOf(role, content, secondsMs(given.create_time), model) });
  }
  return {
    ...plainHead(value.title, secondsMs(value.create_time), secondsMs(value.update_time)),
    current: keyOf(value.current_node),
    messages,
  };
}

async function ofOpenWebUi(value: JsonObject, chat: JsonObject, history: JsonObject, all: JsonObject): Promise<IncomingConversation> {
  const messages: Incoming[] = [];
  for (const [key, node] of Object.entries(all)) {
    await breathe();
    if (!isObject(node)) continue;
    const message = messageOf(node.role, textOf(node.content), secondsMs(node.timestamp), textOf(node.model));
    messages.push({ key, parent: keyOf(node.parentId), message });
  }
  const updated = secondsMs(value.updated_at ?? chat.timestamp);
  return {
    ...plainHead(value.title ?? chat.title, secondsMs(value.created_at ?? chat.timestamp), updated),
    pinned: value.pinned === true,
    archived: value.archived === true,
    current: keyOf(history.currentId),
    messages,
  };
}

function plainHead(title: unknown, createdMs: number, updatedMs: number): Omit<IncomingConversation, 'messages' | 'current'> {
  return { title: textOf(title), createdMs, updatedMs: Math.max(createdMs, updatedMs), pinned: false, archived: false, settings: {} };
}

/** A message of a role that people see; of others the text is left out, and what hangs below goes to what is above. */
function messageOf(role: unknown, content: string, atMs: number, model: string): Incoming['message'] {
  const isSeen = role === 'user' || role === 'assistant';
  return {
    role: role === 'assistant' ? 'assistant' : 'user',
    content: isSeen ? content : '',
    ...(role === 'assistant' && model !== '' ? { model: model.slice(0, 256) } : {}),
    status: 'done',
    created_at: new Date(atMs).toISOString(),
  };
}

/** The texts of a message of ChatGPT's, whose other parts are pictures and the like. */
function partsText({ parts, text }: JsonObject): string {
  if (!Array.isArray(parts)) return textOf(text);
  const texts = parts.map((part) => (isObject(part) ? textOf(part.text) : textOf(part)));
  return texts.filter((one) => one !== '').join('\n\n');
}

const textOf = (value: unknown): string => (typeof value === 'string' ? value : '');
const keyOf = (value: unknown): string | null => (typeof value === 'string' && value !== '' ? value : null);

/** Seconds since 1970, as both of them have it, in milliseconds; milliseconds and nanoseconds of newer files are known by their size. */
function secondsMs(value: unknown): number {
  if (typeof value !== 'number' || !Number.isFinite(value) || value <= 0) return Date.now();
  const ms = value > 1e17 ? value / 1e6 : value > 1e11 ? value : value * 1000;
  return ms < LATEST_MS ? Math.round(ms) : Date.now();
}

function dateMs(text: string): number {
  const ms = Date.parse(text);
  return Number.isFinite(ms) ? ms : Date.now();
}
