import { randomBytes } from 'node:crypto';
import { Failure } from '../../schemas/errors.js';
import { quote } from '../base/names.js';

const CONVERSATION = /^conv_[A-Za-z0-9_-]{22}$/;
const MESSAGE = /^msg_[A-Za-z0-9_-]{22}$/;
const ID_BYTES = 16;
const SEQ_BYTES = 4;

/** A fresh id of a conversation: `conv_` and 22 letters that nobody can guess. */
export function conversationId(): string {
  return `conv_${randomBytes(ID_BYTES).toString('base64url')}`;
}

/** A fresh id of a message, whose last four bytes are its number in the conversation, from 0. */
export function messageId(seq: number): string {
  const bytes = randomBytes(ID_BYTES);
  bytes.writeUInt32BE(seq, ID_BYTES - SEQ_BYTES);
  return `msg_${bytes.toString('base64url')}`;
}

/** A fresh id of an attachment. */
export function attachmentId(): string {
  return `att_${randomBytes(ID_BYTES).toString('base64url')}`;
}

/** The number of a message by its id; undefined for what is no id. */
export function seqOf(id: string): number | undefined {
  if (!MESSAGE.test(id)) return undefined;
  return Buffer.from(id.slice('msg_'.length), 'base64url').readUInt32BE(ID_BYTES - SEQ_BYTES);
}

/** Whether a text can be the id of a conversation. */
export function isConversationId(id: string): boolean {
  return CONVERSATION.test(id);
}

/** What is thrown where a conversation is not there. */
export function noConversation(id: string): Failure {
  return new Failure('not_found', `There is no conversation ${quote(id)} here: it was deleted, or never was.`, {
    code: 'ConversationNotFound',
  });
}

/** What is thrown where a message is not there. */
export function noMessage(id: string): Failure {
  return new Failure('not_found', `There is no message ${quote(id)} in this conversation: it was deleted, or never was.`, {
    code: 'MessageNotFound',
  });
}
