import type { Message } from '../../schemas/generated/common.js';
import type { Message as KeptMessage } from '../../schemas/generated/core/conversations.js';
import type { SpokenTurn, TalkRecord } from '../voice/contract.js';
import { isFull, newMessage, titleOf } from './ask.js';
import { chatMessages, withMessage } from './branch.js';
import { type Conversations, touchedNow } from './conversations.js';
import { CONVERSATION_BYTES, MESSAGES_LIMIT, type Place } from './records.js';

/** A conversation as spoken turns go on with it. Throws `not_found` for one that is not there; its calls throw that too, and `add` throws `conflict` where it is full. */
export function spokenConversation(conversations: Conversations, place: Place, id: string): TalkRecord {
  const { records } = conversations.shared;
  records.head(place, id);
  return {
    id,
    async earlier(): Promise<Message[]> {
      const head = records.head(place, id);
      const path = await records.path(id, head.current);
      return chatMessages(path, head.settings, (file) => records.store.conversationFiles.get([id, file]));
    },
    async add({ asked, heard, model, isCut, error }: SpokenTurn): Promise<void> {
      await conversations.update(place, id, (head, batch) => {
        if (head.messages + 2 > MESSAGES_LIMIT || head.bytes > CONVERSATION_BYTES) throw isFull(head);
        const put = (message: KeptMessage) => (before: typeof head) =>
          withMessage(before, { message }, (one) => records.putMessage(batch, id, one));
        const asking = put(newMessage(head.nextSeq, head.current, 'user', asked))(head);
        const titled = { ...asking, title: head.title === '' ? titleOf(asked) : head.title };
        if (heard === '' && error === undefined) return touchedNow(titled);
        const answer: KeptMessage = {
          ...newMessage(titled.nextSeq, titled.current, 'assistant', heard),
          status: error !== undefined ? 'failed' : isCut ? 'stopped' : 'done',
          ...(model === undefined ? {} : { model }),
          ...(error === undefined ? {} : { error }),
        };
        return touchedNow(put(answer)(titled));
      });
    },
  };
}
