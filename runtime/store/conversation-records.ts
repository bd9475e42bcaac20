import type { Message as ChatMessage } from '../../schemas/generated/common.js';
import type { Message, Settings } from '../../schemas/generated/core/conversations.js';

/** Address of a conversation; `owner` is the id of the user whose it is, empty where there are no accounts. */
export type ConversationKey = readonly [namespace: string, project: string, owner: string, id: string];

/** Its place in the list: 0 or 1 for archived and for pinned, then when it changed, in milliseconds since 1970. */
export type ConversationOrderKey = readonly [
  namespace: string,
  project: string,
  owner: string,
  archived: number,
  pinned: number,
  updatedMs: number,
  id: string,
];

/** What is kept about a conversation beside its messages. */
export interface ConversationRecord {
  /** Empty until somebody or the first question gives one. */
  title: string;
  createdMs: number;
  updatedMs: number;
  pinned: boolean;
  archived: boolean;
  settings: Settings;
  preview: string;
  current: string | null;
  /** Messages that are there. */
  messages: number;
  /** The number of the next message, in the order in which they come. */
  nextSeq: number;
  /** Of messages and attachments, about. */
  bytes: number;
  /** What clients named their last turns, each with the id of the answer. */
  turns: (readonly [clientId: string, answer: string])[];
}

/** A message as it is stored. */
export interface ConversationMessage {
  message: Message;
  /** The calls of servers' tools and their results that came before the answer, as the model is given them again. */
  between?: ChatMessage[];
}

/** A file beside a message. */
export interface ConversationFile {
  name: string;
  mediaType: string;
  bytes: Uint8Array;
}
