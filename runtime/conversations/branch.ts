import type { Message } from '../../schemas/generated/core/conversations.js';
import type { ConversationMessage } from '../store/store.js';
import { attachmentId, messageId } from './ids.js';
import { PREVIEW_CHARACTERS } from './limits.js';
import { type ConversationRecords, type Head, newHead, type Place } from './records.js';

/** Puts a copy of a branch, up to a message, as a conversation of its own. */
export function branched(records: ConversationRecords, place: Place, id: string, message: string): Promise<Head> {
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
