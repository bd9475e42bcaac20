import type { Message } from '../../schemas/generated/common.js';

/** A session's address; an id means nothing outside its project. */
export type SessionKey = readonly [namespace: string, project: string, id: string];

/** What is kept about a session besides its turns. */
export interface SessionRecord {
  /** The session's own number: its turns lie under it, and a session that starts anew gets another. */
  run: number;
  /** Number of turns appended so far; the next one gets this as its place. */
  turns: number;
  /** Milliseconds since 1970. */
  createdMs: number;
  /** Milliseconds since 1970 of the last turn. */
  lastActiveMs: number;
}

/** One whole turn: what the client sent and what the model answered, in order. Never changed once written. */
export interface TurnRecord {
  messages: Message[];
  /** Milliseconds since 1970. */
  atMs: number;
}

/** Key and value of every table. All are of format version 1; a change of shape adds a migration. */
export interface Tables {
  /** `version` = format version of the whole store. */
  meta: { key: string; value: number };
  sessions: { key: SessionKey; value: SessionRecord };
  turns: { key: readonly [run: number, place: number]; value: TurnRecord };
  /** Session numbers whose turns wait to be removed; the value is when that was decided, in milliseconds since 1970. */
  trash: { key: number; value: number };
}

/** A table's name. */
export type TableName = keyof Tables;

/** Every table, for opening and walking them. */
export const TABLE_NAMES = ['meta', 'sessions', 'turns', 'trash'] as const satisfies readonly TableName[];
