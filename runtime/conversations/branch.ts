import type { Message as ChatMessage, ContentPart } from '../../schemas/generated/common.js';
import type { CompletionRequest } from '../../schemas/generated/core/chat.js';
import type { Attachment, Message, Settings } from '../../schemas/generated/core/conversations.js';
import { breathe } from '../base/loop.js';
import { fencePassage } from '../chat/passages.js';
import type { ConversationFile, ConversationMessage } from '../store/records.js';
import { attachmentId, messageId } from './ids.js';
import { type ConversationRecords, type Head, newHead, type Place, PREVIEW_CHARACTERS } from './records.js';

/** Puts a copy of a branch, up to a message, as a conversation of its own. */
export function copyBranch(records: ConversationRecords, place: Place, id: string, message: string): Promise<Head> {
  const before = records.head(place, id);
  records.message(id, message);
  const { title, settings } = before;
  const head = newHead(title, settings);
  return records.grow(place, head.id, async (put) => {
    let copied = head;
    for (const one of await records.path(id, message)) {
      await put((batch) => {
        const attachments = one.message.attachments?.map((attachment) => {
          const file = records.store.conversationFiles.get([id, attachment.id!]);
          const copy = attachmentId();
          if (file) batch.put('conversationFiles', [head.id, copy], file);
          const url = attachment.url.replace(id, head.id).replace(attachment.id!, copy);
          return { ...attachment, id: copy, url };
        });
        const next: Message = { ...one.message, ...(attachments ? { attachments } : {}) };
        copied = withMessage(copied, { ...one, message: { ...next, id: messageId(copied.nextSeq), parent: copied.current } }, (stored) =>
          records.putMessage(batch, head.id, stored),
        );
      });
    }
    return copied;
  });
}

/** A conversation with one message more at the end of what it shows; `put` stores it and returns its bytes. */
export function withMessage(head: Head, one: ConversationMessage, put: (one: ConversationMessage) => number): Head {
  const { id, role, content } = one.message;
  const question = role === 'user' ? content.trim() : '';
  return {
    ...head,
    bytes: head.bytes + put(one),
    messages: head.messages + 1,
    nextSeq: head.nextSeq + 1,
    current: id,
    preview: question === '' ? head.preview : question.slice(0, PREVIEW_CHARACTERS),
  };
}

/** Sounds that chat requests take, by their media types. */
const SOUNDS: Readonly<Record<string, string>> = {
  'audio/wav': 'wav',
  'audio/x-wav': 'wav',
  'audio/wave': 'wav',
  'audio/mpeg': 'mp3',
  'audio/mp3': 'mp3',
};

/** Gives an attachment's bytes; undefined for one that is gone. */
export type FileOf = (id: string) => ConversationFile | undefined;

/** The settings of a conversation as a chat request has them, without its messages. */
export function requestOf(settings: Settings): Omit<CompletionRequest, 'messages'> {
  const { system: _system, retrieval_strategy, top_k_passages, ...same } = settings;
  return {
    ...same,
    ...(retrieval_strategy == null ? {} : { rag_retrieval_strategy: retrieval_strategy }),
    ...(top_k_passages == null ? {} : { rag_top_k: top_k_passages }),
  };
}

/** A branch as a chat request has it; its question is among the messages. */
export async function chatMessages(
  path: readonly ConversationMessage[],
  settings: Settings,
  fileOf: FileOf,
): Promise<CompletionRequest['messages']> {
  const system: ChatMessage[] = settings.system ? [{ role: 'system', content: settings.system }] : [];
  const said: ChatMessage[] = [];
  for (const { between = [], message } of path) {
    said.push(...between, ...chatMessage(message, fileOf));
    await breathe();
  }
  return [...system, ...said] as CompletionRequest['messages'];
}

function chatMessage({ role, content, attachments = [], tool_calls: calls, tool_call_id: call }: Message, fileOf: FileOf): ChatMessage[] {
  if (role === 'tool') return [{ role, content, tool_call_id: call ?? '' }];
  if (role === 'assistant') {
    // An answer of which nothing was written would make templates fail.
    if (content === '' && !calls?.length) return [];
    return [{ role, content: content === '' ? null : content, ...(calls?.length ? { tool_calls: calls } : {}) }];
  }
  if (attachments.length === 0) return [{ role, content }];
  const parts = attachments.map((one) => attachedPart(one, fileOf));
  const texts = parts.flatMap((part) => (part.type === 'text' ? [part.text ?? ''] : []));
  const text = [...texts, content].filter((one) => one !== '').join('\n\n');
  const others = parts.filter((part) => part.type !== 'text');
  // Texts alone need no parts, which not every host takes.
  if (others.length === 0) return [{ role, content: text }];
  return [{ role, content: [...others, { type: 'text', text }] }];
}

function attachedPart(attachment: Attachment, fileOf: FileOf): ContentPart {
  const { id = '', name, media_type: type, text } = attachment;
  if (text !== undefined) return { type: 'text', text: fencePassage(`File "${name.replaceAll(/["\r\n]/g, ' ')}"`, text) };
  const file = fileOf(id);
  if (!file) return { type: 'text', text: `[The file ${JSON.stringify(name)} is no longer there.]` };
  const data = Buffer.from(file.bytes).toString('base64');
  const sound = SOUNDS[type];
  if (sound !== undefined) return { type: 'input_audio', input_audio: { data, format: sound as 'wav' } };
  if (type.startsWith('image/')) return { type: 'image_url', image_url: { url: `data:${type};base64,${data}` } };
  if (type.startsWith('text/') || type === 'application/json')
    return { type: 'text', text: fencePassage(`File "${name.replaceAll(/["\r\n]/g, ' ')}"`, new TextDecoder().decode(file.bytes)) };
  return { type: 'file', file: { file_data: `data:${type};base64,${data}`, filename: name } };
}
