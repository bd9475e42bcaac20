/** Conversations of one owner in a project. */
export const CONVERSATIONS_LIMIT = 10_000;
/** Messages of a conversation, those of all branches. */
export const MESSAGES_LIMIT = 20_000;
/** Messages and attachments of one conversation. */
export const CONVERSATION_BYTES = 128 * 1024 * 1024;
/** A page of messages ends behind so many characters. */
export const PAGE_CHARACTERS = 4 * 1024 * 1024;
/** Of a title. */
export const TITLE_CHARACTERS = 200;
/** Of the last question, in a list. */
export const PREVIEW_CHARACTERS = 120;
/** Turns whose names a conversation remembers. */
export const NAMED_TURNS = 32;
